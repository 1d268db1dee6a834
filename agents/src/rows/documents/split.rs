//! Splits documents by provider, so that no provider is in both splits.

use std::collections::{BTreeMap, BTreeSet};

use diorama_output::row::Split;

/// One document in this many is for testing.
const TEST_EVERY: usize = 10;
/// The fewest test documents, where there are three times as many.
const MIN_TEST: usize = 3;

/// Returns the splits of documents by their providers: about a tenth of the documents is for testing.
/// A provider with more documents than that is for training, unless all others are. A single provider is for
/// training, too.
#[must_use]
pub fn split_by_provider(providers: &[&str]) -> Vec<Split> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for provider in providers {
        *counts.entry(provider).or_default() += 1;
    }
    let wanted = (providers.len() / TEST_EVERY).max(MIN_TEST).min((providers.len() / 3).max(1));
    // The hash gives a fixed order that is independent of the names' order.
    let mut ranked: Vec<(String, &str, usize)> = counts
        .into_iter()
        .map(|(name, count)| {
            (blake3::hash(format!("split/{name}").as_bytes()).to_hex().to_string(), name, count)
        })
        .collect();
    ranked.sort_unstable();
    let mut test = BTreeSet::new();
    let mut left = wanted;
    if ranked.len() > 1 {
        for (_, name, count) in &ranked {
            if *count <= left {
                left -= count;
                test.insert(*name);
            }
        }
        let smallest = ranked.iter().min_by_key(|(_, _, count)| *count);
        if let (true, Some((_, name, count))) = (test.is_empty(), smallest)
            && 2 * count <= providers.len()
        {
            test.insert(name);
        }
    }
    let split = |provider: &&str| if test.contains(provider) { Split::Test } else { Split::Train };
    providers.iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(providers: &[&str]) -> usize {
        split_by_provider(providers).iter().filter(|split| **split == Split::Test).count()
    }

    #[test]
    fn each_provider_has_one_split_and_a_tenth_of_the_documents_is_for_tests() {
        let names: Vec<String> = (0..400)
            .map(|at| if at % 4 == 0 { format!("provider{at}") } else { "large".to_owned() })
            .collect();
        let providers: Vec<&str> = names.iter().map(String::as_str).collect();
        let splits = split_by_provider(&providers);
        assert_eq!(tests(&providers), 40);
        for (provider, split) in providers.iter().zip(&splits) {
            assert!(*provider != "large" || *split == Split::Train);
        }
        assert_eq!(tests(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]), 3);
    }

    #[test]
    fn two_or_more_providers_are_split_and_one_is_not() {
        assert_eq!(tests(&[]), 0);
        assert_eq!(tests(&["one", "one", "one"]), 0);
        assert_eq!(tests(&["one", "other"]), 1);
        assert_eq!(tests(&["one", "one", "one", "one", "other", "other"]), 2);
        assert_eq!(tests(&["one", "one", "other", "other"]), 2);
    }
}

//! Plans the test split of a run: its domains, and its batches.

use std::collections::BTreeSet;

use diorama_output::row::Split;
use diorama_seeds::world::{Finding, Report};

/// The request for the test split. By default: a tenth of the catalog's domains, and no world from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestRequest {
    /// The names of its domains.
    pub domains: Vec<String>,
    /// Its share of the batches, from 0 to 1; also of the domains, unless these are named.
    pub share: Option<f64>,
}

/// The share of batches in the test split, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestShare(u64);

impl TestShare {
    /// No batch.
    pub const NONE: Self = Self(0);
    /// One batch in ten, so that both splits have rows early.
    pub const USUAL: Self = Self(100);

    /// Counts the batches of the test split before a batch.
    pub const fn count_before(self, batch: u64) -> u64 {
        batch * self.0 / 1000
    }

    /// Returns the split of a batch, from its number alone.
    pub const fn split_of(self, batch: u64) -> Split {
        if self.count_before(batch + 1) > self.count_before(batch) { Split::Test } else { Split::Train }
    }

    /// Counts the batches up to and including the first one of the test split; none if that has no batch.
    pub fn count_to_first(self) -> Option<u64> {
        (self.0 > 0).then(|| 1000_u64.div_ceil(self.0))
    }
}

impl TestRequest {
    /// Returns true for the default request.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the share of the batches: at least a thousandth, if any is requested.
    pub fn share(&self) -> TestShare {
        let in_thousandths = |share: f64| ((share * 1000.0).round() as u64).max(u64::from(share > 0.0));
        self.share.map_or(TestShare::USUAL, |share| TestShare(in_thousandths(share)))
    }

    /// Picks the domains of the test split. The domains of a group stay together, because a world has one
    /// split.
    ///
    /// # Errors
    /// Returns an error if a domain is unknown, a group would be in both splits, or a split would have no
    /// domain.
    pub fn pick(&self, groups: &[Vec<String>]) -> Result<BTreeSet<String>, Report> {
        let groups = join_groups(groups);
        let wrong = |option: &str, what: String, hint: &str| {
            Err(Report::one(option, Finding::error("", &what, hint)))
        };
        if self.domains.is_empty() {
            let Some(share) = self.share.filter(|share| *share > 0.0) else { return Ok(BTreeSet::new()) };
            if groups.len() < 2 {
                let what =
                    "the worlds cannot be split: they have one domain, or share their domains".to_owned();
                return wrong(
                    "--test-share",
                    what,
                    "no domain may be in both splits; name worlds of other domains",
                );
            }
            let count = ((share * groups.len() as f64).round() as usize).clamp(1, groups.len() - 1);
            // The hash gives a fixed order that is independent of the names' order.
            let rank = |group: &BTreeSet<String>| {
                let first = group.first().map(String::as_str).unwrap_or_default();
                blake3::hash(format!("split/{first}").as_bytes()).to_hex().to_string()
            };
            let mut ranked: Vec<&BTreeSet<String>> = groups.iter().collect();
            ranked.sort_by_key(|group| rank(group));
            return Ok(ranked.into_iter().take(count).flatten().cloned().collect());
        }
        let known: BTreeSet<&String> = groups.iter().flatten().collect();
        if let Some(unknown) = self.domains.iter().find(|name| !known.contains(name)) {
            let names: Vec<&str> = known.iter().map(|name| name.as_str()).collect();
            let what = format!("no world has the domain `{unknown}`");
            return wrong("--test-domains", what, &format!("expected some of {}", names.join(", ")));
        }
        let chosen: BTreeSet<String> = self.domains.iter().cloned().collect();
        if let Some(group) =
            groups.iter().find(|group| !group.is_subset(&chosen) && !group.is_disjoint(&chosen))
        {
            let names: Vec<&str> = group.iter().map(String::as_str).collect();
            let what = format!("the domains {} are joined in one world, or share a world", names.join(", "));
            return wrong("--test-domains", what, "name all of them or none");
        }
        if groups.iter().all(|group| group.is_subset(&chosen)) {
            let what = "all domains are of the split test".to_owned();
            return wrong("--test-domains", what, "leave some for the split train");
        }
        Ok(chosen)
    }
}

/// Joins the groups that have a common domain.
fn join_groups(groups: &[Vec<String>]) -> Vec<BTreeSet<String>> {
    let mut joined: Vec<BTreeSet<String>> = Vec::new();
    for group in groups {
        let mut group: BTreeSet<String> = group.iter().cloned().collect();
        joined.retain(|other| {
            let is_apart = other.is_disjoint(&group);
            if !is_apart {
                group.extend(other.iter().cloned());
            }
            is_apart
        });
        joined.push(group);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&[&str]]) -> Vec<Vec<String>> {
        names.iter().map(|group| group.iter().map(|name| (*name).to_owned()).collect()).collect()
    }

    fn pick(request: &TestRequest, names: &[&[&str]]) -> Result<Vec<String>, String> {
        let picked = request.pick(&groups(names));
        picked.map(|names| names.into_iter().collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tenth_of_the_batches_is_for_tests_unless_another_share_is_requested() {
        let test = |share: TestShare, batches: u64| {
            (0..batches).filter(|batch| share.split_of(*batch) == Split::Test).collect::<Vec<_>>()
        };
        assert_eq!(test(TestShare::USUAL, 30), [9, 19, 29]);
        assert_eq!(test(TestRequest { share: Some(0.5), ..TestRequest::default() }.share(), 6), [1, 3, 5]);
        let least = TestRequest { share: Some(0.0004), ..TestRequest::default() }.share();
        assert_eq!(test(least, 1500), [999]);
        assert_eq!(test(TestShare::NONE, 100), [0_u64; 0]);
        assert_eq!((TestShare::USUAL.count_to_first(), TestShare::NONE.count_to_first()), (Some(10), None));
    }

    #[test]
    fn domains_of_one_world_stay_together() {
        let of = |domains: &[&str], share| TestRequest {
            domains: domains.iter().map(|name| (*name).to_owned()).collect(),
            share,
        };
        let worlds: &[&[&str]] = &[&["a"], &["b", "c"], &["c", "d"], &["e"]];
        assert_eq!(pick(&TestRequest::default(), worlds).unwrap(), [""; 0]);
        assert_eq!(pick(&of(&["e"], None), worlds).unwrap(), ["e"]);
        assert_eq!(pick(&of(&["d", "c", "b"], Some(0.3)), worlds).unwrap(), ["b", "c", "d"]);
        assert_eq!(pick(&of(&[], Some(0.34)), worlds).unwrap(), ["b", "c", "d"], "one group of three");
        assert_eq!(pick(&of(&[], Some(0.0)), worlds).unwrap(), [""; 0]);
        for (request, worlds, expect) in [
            (of(&["x"], None), worlds, "no world has the domain `x`"),
            (of(&["b"], None), worlds, "the domains b, c, d are joined"),
            (of(&["a"], None), &worlds[..1], "all domains are of the split test"),
            (of(&[], Some(0.2)), &worlds[..1], "cannot be split"),
        ] {
            let error = pick(&request, worlds).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }
}

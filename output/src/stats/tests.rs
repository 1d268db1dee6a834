use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::duplicates::{Duplicates, Nearness};
use super::sample::draw;
use super::text::{openings_and_bigrams, tokens, words};
use super::{ApiFingerprint, measure};
use crate::folder::tests::dataset;
use crate::folder::{Folder, Selection};
use crate::storage::Storage;

#[test]
fn tokens_are_words_and_single_marks() {
    assert_eq!(
        tokens("It's 9:30, Señor_1 -- OK?"),
        ["it", "'", "s", "9", ":", "30", ",", "señor_1", "-", "-", "ok", "?"]
    );
    assert_eq!(words("It's 9:30 -- ÉTÉ?"), ["it", "s", "9", "30", "été"]);
    assert!(tokens(" \n").is_empty());
}

#[test]
fn diversity_is_over_bigrams_within_rows_and_openings() {
    // Bigrams: a b, b c | a b, b c, c d | x y. 4 of 6 are different. Openings: a b c twice, x y.
    let (distinct_2, distinct_first3) = openings_and_bigrams(["a b c", "A B C d", "x y"].into_iter());
    assert!((distinct_2 - 4.0 / 6.0).abs() < 1e-12);
    assert!((distinct_first3 - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(openings_and_bigrams(std::iter::empty()), (0.0, 0.0));
}

#[test]
fn draws_are_seeded_and_without_replacement() {
    for rows in [0, 1, 199, 200, 201, 100_000] {
        for number in 0..3 {
            let rows_drawn = draw(number, rows);
            let different: BTreeSet<u64> = rows_drawn.iter().copied().collect();
            assert_eq!(rows_drawn.len() as u64, rows.min(200));
            assert_eq!(different.len(), rows_drawn.len());
            assert!(different.iter().all(|row| *row < rows));
            assert_eq!(rows_drawn, draw(number, rows));
        }
    }
    assert_ne!(draw(0, 100_000), draw(1, 100_000));
    // The draws are part of the definition, so they must not change between releases.
    assert_eq!(draw(0, 100_000)[..5], [68_652, 90_679, 27_328, 42_522, 70_785]);
}

fn duplicates(texts: &[&str]) -> u64 {
    let mut duplicates = Duplicates::default();
    for text in texts {
        duplicates.add(&words(text));
    }
    duplicates.count(Nearness::FourFifths)
}

#[test]
fn repeats_are_counted_from_a_similarity_of_four_fifths() {
    assert_eq!(duplicates(&[]), 0);
    assert_eq!(duplicates(&["book it", "Book it!", "", ""]), 2, "short texts are one shingle");
    // 10 words have 8 shingles. A changed last word leaves 7 common ones of 9: 0.78.
    assert_eq!(duplicates(&["a b c d e f g h i j", "a b c d e f g h i x"]), 0);
    // One more word leaves 8 common ones of 9.
    assert_eq!(duplicates(&["a b c d e f g h i j", "a b c d e f g h i j k"]), 1);
    // 4 common ones of 5 are exactly 0.8.
    assert_eq!(duplicates(&["a b c d e f", "a b c d e f g"]), 1);
    assert_eq!(duplicates(&["a b c d e", "a b c d e f"]), 0);
    // A near-duplicate of a near-duplicate counts, even if the first text is not similar to the last.
    assert_eq!(duplicates(&["a b c d e f", "a b c d e f g", "a b c d e f g h"]), 2);
}

/// Implements the definition without an index.
fn duplicates_by_definition(texts: &[Vec<u8>], nearness: Nearness) -> u64 {
    let sets: Vec<BTreeSet<Vec<u8>>> = texts
        .iter()
        .map(|words| match words.len() {
            0 => BTreeSet::new(),
            1 | 2 => BTreeSet::from([words.clone()]),
            _ => words.windows(3).map(<[u8]>::to_vec).collect(),
        })
        .collect();
    let similar = |left: &BTreeSet<Vec<u8>>, right: &BTreeSet<Vec<u8>>| {
        let union = left.union(right).count();
        union == 0 || left.intersection(right).count() * 5 >= union * nearness as usize
    };
    (0..sets.len()).filter(|row| sets[..*row].iter().any(|earlier| similar(&sets[*row], earlier))).count()
        as u64
}

proptest! {
    #[test]
    fn the_index_finds_what_the_definition_finds(texts in vec(vec(0..4_u8, 0..14), 0..40)) {
        let mut duplicates = Duplicates::default();
        for text in &texts {
            duplicates.add(&text.iter().map(u8::to_string).collect::<Vec<_>>());
        }
        for nearness in [Nearness::ThreeFifths, Nearness::FourFifths] {
            prop_assert_eq!(duplicates.count(nearness), duplicates_by_definition(&texts, nearness));
        }
    }
}

#[test]
fn a_dataset_is_measured_from_its_rows() {
    let (_guard, path) = dataset();
    let folder = Folder::open(Storage::local(&path)).unwrap();
    let mut asked = Vec::new();
    let mut fingerprints = |world: &str, canonical: &[u8]| {
        asked.push(world.to_owned());
        let world: serde_json::Value = serde_json::from_slice(canonical).unwrap();
        let api = |api: &str, fingerprint: &str| ApiFingerprint {
            domain: world["name"].as_str().unwrap().into(),
            api: api.into(),
            fingerprint: fingerprint.into(),
        };
        Ok::<_, std::io::Error>(vec![api("FindDentist", "lookup"), api("GetDentist", "get")])
    };
    let stats = measure(&folder, &Selection::default(), &mut fingerprints).unwrap();
    assert_eq!(asked, ["test_clinic_0", "test_clinic_1", "train_clinic_0", "train_clinic_1"]);
    insta::assert_json_snapshot!(stats);
    let part = Selection { tags: vec!["tag_1".to_owned()], ..Selection::default() };
    let part = measure(&folder, &part, |_: &str, _: &[u8]| Ok::<_, std::io::Error>(Vec::new())).unwrap();
    assert_eq!((part.dialogues, part.tags["tag_1"], part.funnel), (26, 26, None));
    let broken = |_: &str, _: &[u8]| Err(std::io::Error::other("no such version"));
    let error = measure(&folder, &Selection::default(), broken).unwrap_err().to_string();
    assert_eq!(error, "world `test_clinic_0`: no such version");
}

//! Checks shares, batches and partners of documents, and the rows of a shared world.

use diorama_output::row::Split;
use diorama_seeds::doc::WorldDoc;
use diorama_seeds::task::Ability;

use super::batch::{BatchRequest, UNJOINED, make};
use super::layout::{DocumentSize, batches, partners, shares};
use super::prepared::PreparedWorld;
use crate::draws::Streams;

fn streams() -> Streams {
    Streams::new(3)
}

fn document(askable: u64) -> DocumentSize<'static> {
    DocumentSize { name: "", split: Split::Train, license: "MIT", askable, operations: askable.max(1) }
}

#[test]
fn documents_get_equal_shares_of_rows_up_to_their_supply() {
    let check = |askable: &[u64], rows: u64, expect: &[u64]| {
        let documents: Vec<DocumentSize> = askable.iter().copied().map(document).collect();
        assert_eq!(shares(&documents, rows, &streams()), expect, "{rows} rows of {askable:?}");
    };
    check(&[5, 0, 50], 20, &[5, 0, 15]);
    check(&[1, 50], 100, &[2, 98]);
    check(&[1, 2, 100], 110, &[2, 4, 104]);
    // Every document gets further rounds of rows.
    check(&[1, 10], 80, &[8, 72]);
    check(&[0, 0], 80, &[0, 0]);
    check(&[], 80, &[]);
    let few: Vec<DocumentSize> = (0..9).map(|_| document(4)).collect();
    let few = shares(&few, 5, &streams());
    assert_eq!((few.iter().sum::<u64>(), few.iter().max()), (5, Some(&1)));
}

#[test]
fn batches_cover_the_shares_in_rounds() {
    let found = batches(&[120, 0, 7], &streams());
    let rows = |document: usize| -> Vec<(u64, u32)> {
        found
            .iter()
            .filter(|batch| batch.document == document)
            .map(|batch| (batch.first, batch.rows))
            .collect()
    };
    assert_eq!(rows(0), [(0, 40), (40, 40), (80, 40)]);
    assert_eq!(rows(2), [(0, 7)]);
    assert!(found[..2].iter().any(|batch| batch.document == 2), "each document gets one before any gets two");
}

#[test]
fn partners_are_small_and_share_split_and_license() {
    let mut documents: Vec<DocumentSize> = (0..12).map(|_| document(5)).collect();
    let names: Vec<String> = (0..13).map(|number| format!("document_{number}")).collect();
    for (document, name) in documents.iter_mut().zip(&names) {
        document.name = name;
    }
    documents[3].operations = 150;
    documents[4].operations = 900;
    documents[7].license = "unstated";
    for test in &mut documents[8..] {
        test.split = Split::Test;
    }
    let found = partners(&documents, 2, &streams());
    for (at, partners) in found.iter().enumerate() {
        assert_eq!(partners.len(), if [4, 7].contains(&at) { 0 } else { 2 }, "{at}");
        for other in partners {
            assert!(*other != at && documents[*other].operations <= 80);
            assert_eq!(documents[*other].split, documents[at].split);
            assert_eq!(documents[*other].license, documents[at].license);
        }
    }
    // A new document comes in: partners follow from names, so only its own change.
    documents.insert(0, DocumentSize { name: &names[12], ..document(5) });
    let more = partners(&documents, 2, &streams());
    for (before, after) in found.iter().zip(&more[1..]) {
        let kept: Vec<usize> = after.iter().filter(|other| **other > 0).map(|other| other - 1).collect();
        assert!(kept.iter().all(|other| before.contains(other)) && after.len() == before.len());
    }
}

#[test]
fn a_partner_that_cannot_be_joined_is_counted() {
    let prepared = |name: &str, materialised: Option<u64>| {
        let text = format!(
            r#"{{"world": 1, "name": "{name}", "clock": "2026-03-02T09:00", "resources": {{"room": {{
                "key": "room_id", "fields": {{"room_id": {{"type": "integer"}}}}, "records": [{{"room_id": 1}}]}}}},
                "apis": [{{"name": "GetRoom", "method": "GET", "path": "/rooms/{{room_id}}", "description": "Gets a room.",
                "parameters": {{"room_id": {{"ref": "room"}}}}, "behaviour": {{"get": "room"}}}}]}}"#
        );
        let doc: WorldDoc = serde_json::from_str(&text).unwrap();
        PreparedWorld { doc: WorldDoc { materialised, ..doc }, scenarios: Vec::new() }
    };
    let request = BatchRequest {
        streams: streams(),
        abilities: Ability::ALL.to_vec(),
        shares: Default::default(),
        split: Split::Train,
        row_indexes: 0..2,
        first: 0,
    };
    let unjoined = |partner| {
        let made = make(&request, vec![prepared("inn", None), partner]).unwrap();
        made.funnel.dropped.get("document").map_or(0, |reasons| reasons[UNJOINED])
    };
    assert_eq!(unjoined(prepared("spa", None)), 0);
    assert_eq!(unjoined(prepared("spa", Some(1))), 1);
}

//! Owns the tests of RestBench's TMDB document: listed records are found by their keys, and all cast members
//! exist.

use diorama_benchmarks::entities::Entities;
use diorama_engine::Base;
use diorama_engine::session::{Session, SessionOptions};
use diorama_seeds::materialise::materialised;
use serde_json::{Map, Value, json};

use super::imports::{Imports, array, first_id};

#[test]
fn every_operation_of_tmdb_is_an_api_and_answers_in_its_schema() {
    let Some(mut tmdb) = Imports::tmdb() else { return };
    assert_eq!(tmdb.imported.doc.apis.len(), 54);
    let constants: Vec<_> =
        tmdb.imported.notes.iter().filter(|note| note.reason.starts_with("no resource fits")).collect();
    assert!(constants.is_empty(), "{constants:?}");
    let mut arguments = json!({
        "media_type": "movie", "time_window": "day", "season_number": 1, "episode_number": 1, "query": "the",
    });
    for (path, parameter) in
        [("/movie/popular", "movie_id"), ("/tv/popular", "tv_id"), ("/person/popular", "person_id")]
    {
        let body = tmdb.get(path, json!({}));
        arguments[parameter] = first_id(&body, "results", "id");
    }
    let movie = json!({"movie_id": arguments["movie_id"]});
    let details = tmdb.get("/movie/{movie_id}", movie.clone());
    arguments["company_id"] = first_id(&details, "production_companies", "id");
    let show = tmdb.get("/tv/{tv_id}", json!({"tv_id": arguments["tv_id"]}));
    arguments["network_id"] = first_id(&show, "networks", "id");
    let credits = tmdb.get("/movie/{movie_id}/credits", movie.clone());
    arguments["credit_id"] = first_id(&credits, "cast", "credit_id");
    let reviews = tmdb.get("/movie/{movie_id}/reviews", movie);
    arguments["review_id"] = first_id(&reviews, "results", "id");
    arguments["collection_id"] = tmdb.key("collection");

    let apis = tmdb.imported.doc.apis.clone();
    let mut wrong = Vec::new();
    for api in apis {
        let wanted = api
            .parameters
            .iter()
            .filter(|(name, doc)| (!doc.optional && doc.default.is_none()) || *name == "query");
        let given: Map<String, Value> =
            wanted.map(|(name, _)| (name.clone(), arguments[name].clone())).collect();
        let (status, body) = tmdb.call(&api.method, &api.path, Value::Object(given));
        if status != 200 {
            wrong.push(format!("GET {}: {status} {body}", api.path));
            continue;
        }
        let refused = tmdb.refused(&api.method, &api.path, &body);
        wrong.extend(refused.into_iter().map(|error| format!("GET {}: {error}", api.path)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_tmdb_lists_is_found_by_its_key_under_the_same_name() {
    let Some(mut tmdb) = Imports::tmdb() else { return };
    let movie = ("/movie/{movie_id}", "movie_id", "title");
    let tv = ("/tv/{tv_id}", "tv_id", "name");
    let rated = json!({"sort_by": "vote_average.desc", "vote_average.gte": 6});
    let lists = [
        ("/movie/popular", json!({}), movie),
        ("/movie/top_rated", json!({}), movie),
        ("/movie/upcoming", json!({}), movie),
        ("/movie/now_playing", json!({}), movie),
        ("/discover/movie", rated.clone(), movie),
        ("/search/movie", json!({"query": "the"}), movie),
        ("/tv/popular", json!({}), tv),
        ("/tv/on_the_air", json!({}), tv),
        ("/discover/tv", json!({}), tv),
        ("/person/popular", json!({}), ("/person/{person_id}", "person_id", "name")),
        ("/search/company", json!({"query": "a"}), ("/company/{company_id}", "company_id", "name")),
        (
            "/search/collection",
            json!({"query": "e"}),
            ("/collection/{collection_id}", "collection_id", "name"),
        ),
    ];
    let mut seen = 0;
    for (list, arguments, (details, key, name)) in lists {
        let body = tmdb.get(list, arguments);
        for hit in array(&body, "results").clone() {
            let record = tmdb.get(details, json!({key: hit["id"]}));
            assert_eq!((&record["id"], &record[name]), (&hit["id"], &hit[name]), "{list}");
            seen += 1;
        }
    }
    assert!(seen > 120, "only {seen} records were listed");
    let rated = tmdb.get("/discover/movie", rated);
    let ratings: Vec<f64> =
        array(&rated, "results").iter().filter_map(|hit| hit["vote_average"].as_f64()).collect();
    assert!(ratings.len() > 3 && ratings.is_sorted_by(|a, b| a >= b), "{ratings:?}");
    assert!(ratings.iter().all(|rating| *rating >= 6.0), "{ratings:?}");
}

#[test]
fn the_people_of_a_tmdb_cast_exist_and_know_their_films() {
    let Some(mut tmdb) = Imports::tmdb() else { return };
    let films = tmdb.get("/movie/popular", json!({}));
    let mut seen = 0;
    for film in array(&films, "results").iter().take(6) {
        let credits = tmdb.get("/movie/{movie_id}/credits", json!({"movie_id": film["id"]}));
        for (list, members) in [("cast", array(&credits, "cast")), ("crew", array(&credits, "crew"))] {
            for member in members {
                let person = tmdb.get("/person/{person_id}", json!({"person_id": member["id"]}));
                assert_eq!(person["name"], member["name"]);
                let own = tmdb.get("/person/{person_id}/movie_credits", json!({"person_id": member["id"]}));
                let back = array(&own, list).iter().find(|credit| credit["id"] == film["id"]);
                let back = back.map(|credit| (&credit["id"], &credit["title"]));
                assert_eq!(back, Some((&film["id"], &film["title"])));
                let credit = tmdb.get("/credit/{credit_id}", json!({"credit_id": member["credit_id"]}));
                assert_eq!(credit["id"], member["credit_id"]);
                seen += 1;
            }
        }
    }
    assert!(seen >= 18, "only {seen} credits were seen");
}

#[test]
fn seasons_and_episodes_of_tmdb_are_numbered_and_belong_together() {
    let Some(mut tmdb) = Imports::tmdb() else { return };
    let shows = tmdb.get("/tv/popular", json!({}));
    for show in array(&shows, "results").iter().take(5) {
        let details = tmdb.get("/tv/{tv_id}", json!({"tv_id": show["id"]}));
        let seasons = array(&details, "seasons");
        assert_eq!(details["number_of_seasons"], json!(seasons.len()));
        let numbers: Vec<i64> =
            seasons.iter().filter_map(|season| season["season_number"].as_i64()).collect();
        assert_eq!(numbers, (1..=seasons.len() as i64).collect::<Vec<_>>());
        for season in seasons {
            let keys = json!({"tv_id": show["id"], "season_number": season["season_number"]});
            let whole = tmdb.get("/tv/{tv_id}/season/{season_number}", keys.clone());
            assert_eq!((&whole["id"], &whole["air_date"]), (&season["id"], &season["air_date"]));
            for episode in array(&whole, "episodes") {
                let mut keys = keys.clone();
                keys["episode_number"] = episode["episode_number"].clone();
                let found = tmdb.get("/tv/{tv_id}/season/{season_number}/episode/{episode_number}", keys);
                assert_eq!((&found["id"], &found["name"]), (&episode["id"], &episode["name"]));
            }
        }
        let keys = json!({"tv_id": show["id"], "season_number": 99});
        assert_eq!(tmdb.call("GET", "/tv/{tv_id}/season/{season_number}", keys).0, 404);
    }
}

#[test]
fn names_put_into_a_world_are_found_by_search_and_stand_in_its_lists() {
    let Some(tmdb) = Imports::tmdb() else { return };
    let mut imported = tmdb.imported.clone();
    let names = "GET /search/movie: [The Dark Knight, Lost in Translation]\nperson: [Sofia Coppola]\n\
                 GET /search/company: [Walt Disney]\nGET /search/collection: [Star Wars]\n\
                 SearchTv: [Breaking Bad]\nvolcano: [Etna]\n";
    let unplaced = Entities::read("names.yaml", names.as_bytes()).unwrap().put_into(&mut imported.doc);
    let left: Vec<&str> = unplaced.iter().map(|left| left.entity.name.as_str()).collect();
    assert_eq!(left, ["Etna"], "{unplaced:?}");
    assert!(imported.doc.benchmark);
    for seed in [0, 7, 99] {
        let made = materialised(&imported.doc, seed).unwrap_or_else(|report| panic!("{report}"));
        let base = Base::new(made.world.clone()).expect("the world runs");
        let session = Session::new(base, SessionOptions::default());
        let mut tmdb = Imports { document: tmdb.document.clone(), imported: imported.clone(), session };
        let mut find = |path: &str, name: &str, field: &str| {
            let body = tmdb.get(path, json!({"query": name}));
            let hit = array(&body, "results").iter().find(|hit| hit[field] == name).cloned();
            hit.unwrap_or_else(|| panic!("{name} is not in {body}"))["id"].clone()
        };
        find("/search/movie", "The Dark Knight", "title");
        find("/search/person", "Sofia Coppola", "name");
        let company = find("/search/company", "Walt Disney", "name");
        find("/search/collection", "Star Wars", "name");
        find("/search/tv", "Breaking Bad", "name");
        let films = tmdb.get("/discover/movie", json!({"with_companies": company}));
        assert!(!array(&films, "results").is_empty(), "{films}");
    }
}

#[test]
fn what_trends_on_tmdb_is_of_the_kind_that_was_asked_for() {
    let Some(mut tmdb) = Imports::tmdb() else { return };
    let path = "/trending/{media_type}/{time_window}";
    for (kind, details, key, name) in [
        ("movie", "/movie/{movie_id}", "movie_id", "title"),
        ("tv", "/tv/{tv_id}", "tv_id", "name"),
        ("person", "/person/{person_id}", "person_id", "name"),
    ] {
        let body = tmdb.get(path, json!({"media_type": kind, "time_window": "day"}));
        let hits = array(&body, "results").clone();
        assert!(hits.len() >= 20, "{body}");
        for hit in hits {
            let record = tmdb.get(details, json!({key: hit["id"]}));
            assert_eq!((&record[name], &record["popularity"]), (&hit["title"], &hit["popularity"]));
        }
        assert_eq!(tmdb.refused("GET", path, &body), Vec::<String>::new());
    }
    let all = tmdb.get(path, json!({"media_type": "all", "time_window": "week"}));
    let one = tmdb.get(path, json!({"media_type": "tv", "time_window": "week"}));
    assert!(all["total_results"].as_i64() > one["total_results"].as_i64(), "{all}");
}

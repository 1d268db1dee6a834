//! Imported OpenAPI documents behave: what a list shows is found by its key, people of a cast exist, writes are
//! read back, and every reply has the shape that the document promises.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test or bench may end this way"
)]

use std::path::Path;

use diorama_seeds::doc::{ApiDoc, FieldDoc, WorldDoc};
use diorama_seeds::entities::Entities;
use diorama_seeds::materialise::materialised;
use diorama_seeds::openapi::{ImportOptions, Imported, import};
use diorama_seeds::task::Call;
use diorama_seeds::world;
use diorama_simulator::engine::Base;
use diorama_simulator::session::{Session, SessionOptions};
use diorama_tests::{Ran, diorama};
use serde_json::{Map, Value, json};

const TMDB: &str = "../shared/data/restbench/tmdb_oas.json";
const CLINIC: &str = "data/openapi/vet_clinic.yaml";
const TUNEHALL: &str = "data/openapi/tunehall.yaml";
const PARCELS: &str = "data/openapi/parcel_post.json";

/// An imported document in a fresh session.
struct Imports {
    document: Value,
    imported: Imported,
    session: Session,
}

impl Imports {
    fn of(name: &str, text: &[u8], document: Value) -> Self {
        let imported = import(name, text, &ImportOptions::default()).expect("the document imports");
        let made = materialised(&imported.doc, 7)
            .unwrap_or_else(|report| panic!("its records can be made up: {report}"));
        let base = Base::new(made.world.clone()).expect("the world runs");
        Self { document, imported, session: Session::new(base, SessionOptions::default()) }
    }

    /// RestBench's TMDB document, where the shared folder stands beside the workspace.
    fn tmdb() -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(TMDB);
        let Ok(text) = std::fs::read(&path) else {
            eprintln!("skipped: {TMDB} is not beside the workspace");
            return None;
        };
        let document = serde_json::from_slice(&text).expect("the document is JSON");
        Some(Self::of("tmdb_oas.json", &text, document))
    }

    fn clinic() -> Self {
        Self::fixture(CLINIC)
    }

    fn fixture(path: &str) -> Self {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        let text = text.expect("the fixture is there");
        let document = serde_saphyr::from_str(&text).expect("the fixture is YAML or JSON");
        Self::of(path, text.as_bytes(), document)
    }

    /// The key of the first record of a resource.
    fn key(&self, resource: &str) -> Value {
        let world = self.session.base().world();
        let found = world.resources.iter().find(|known| *known.name == *resource);
        let found = found.unwrap_or_else(|| panic!("there is no {resource}"));
        found.records.first().expect("it has records")[found.key.index()].to_json(&world.zone)
    }

    /// Arguments of the right types: keys of records that there are, the first value of an enum.
    fn arguments(&self, api: &ApiDoc, all: bool) -> Value {
        let wanted = api.parameters.iter().filter(|(_, doc)| all || !doc.optional && doc.default.is_none());
        Value::Object(wanted.map(|(name, doc)| (name.clone(), self.argument(doc))).collect())
    }

    fn argument(&self, doc: &FieldDoc) -> Value {
        if let Some(resource) = &doc.reference {
            return self.key(resource);
        }
        if let Some(value) = doc.values.first() {
            return json!(value);
        }
        match doc.kind.as_deref() {
            Some("integer" | "number") => doc.min.clone().unwrap_or(json!(1)),
            Some("boolean") => json!(true),
            Some("date") => json!("2026-04-01"),
            Some("date-time") => json!("2026-04-01T10:00:00Z"),
            Some("list") => json!([self.argument(doc.items.as_deref().expect("lists have items"))]),
            Some("object") => Value::Object(
                doc.fields.iter().map(|(name, doc)| (name.clone(), self.argument(doc))).collect(),
            ),
            _ if doc.format.as_deref() == Some("email") => json!("ada@example.org"),
            _ => json!("ada"),
        }
    }

    fn name(&self, method: &str, path: &str) -> String {
        let api = self.imported.doc.apis.iter().find(|api| api.method == method && api.path == path);
        api.unwrap_or_else(|| panic!("{method} {path} is an API")).name.clone()
    }

    fn call(&mut self, method: &str, path: &str, arguments: Value) -> (u16, Value) {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let entry = self.session.call(&Call { api: self.name(method, path), arguments });
        let zone = &self.session.base().world().zone;
        (entry.reply.status, serde_json::from_str(&entry.reply.to_json(zone)).expect("replies are JSON"))
    }

    fn get(&mut self, path: &str, arguments: Value) -> Value {
        let (status, body) = self.call("GET", path, arguments.clone());
        assert_eq!(status, 200, "GET {path} {arguments}: {body}");
        body
    }

    /// What the response schema of a success refuses in a body.
    fn refused(&self, method: &str, path: &str, body: &Value) -> Vec<String> {
        let responses = &self.document["paths"][path][method.to_lowercase()]["responses"];
        let response = ["200", "201", "204"].iter().find_map(|status| responses.get(status));
        let response = closed(&self.document, response.expect("a success is described"), 0);
        let schema = match (response.get("schema"), response.pointer("/content/application~1json/schema")) {
            (Some(schema), _) | (None, Some(schema)) => schema.clone(),
            (None, None) => return Vec::new(),
        };
        let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
        validator
            .iter_errors(body)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .take(5)
            .collect()
    }
}

/// The schema with references followed and `nullable` in the words of JSON Schema.
fn closed(document: &Value, schema: &Value, depth: u32) -> Value {
    match schema {
        Value::Object(members) => {
            if let Some(pointer) = members.get("$ref").and_then(Value::as_str) {
                if depth > 6 {
                    // A schema inside itself: deep enough for any reply.
                    return json!({});
                }
                let target = document.pointer(pointer.trim_start_matches('#')).expect("references resolve");
                return closed(document, target, depth + 1);
            }
            let nullable =
                ["nullable", "x-nullable"].iter().any(|key| members.get(*key) == Some(&json!(true)));
            let kept = members
                .iter()
                .filter(|(name, _)| !["example", "examples", "nullable"].contains(&name.as_str()));
            let mut out: Map<String, Value> =
                kept.map(|(name, part)| (name.clone(), closed(document, part, depth))).collect();
            if nullable {
                if let Some(kind) = out.get("type").cloned() {
                    out.insert("type".to_owned(), json!([kind, "null"]));
                }
                if let Some(Value::Array(values)) = out.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
            Value::Object(out)
        }
        Value::Array(parts) => Value::Array(parts.iter().map(|part| closed(document, part, depth)).collect()),
        other => other.clone(),
    }
}

fn array<'a>(body: &'a Value, name: &str) -> &'a Vec<Value> {
    body[name].as_array().unwrap_or_else(|| panic!("`{name}` is a list in {body}"))
}

fn first_id(body: &Value, name: &str, key: &str) -> Value {
    array(body, name).first().unwrap_or_else(|| panic!("`{name}` is empty in {body}"))[key].clone()
}

#[test]
fn a_document_becomes_a_source_world_that_reads_back_as_it_is() {
    let clinic = Imports::clinic();
    let mut docs: Vec<WorldDoc> = vec![clinic.imported.doc];
    docs.extend(Imports::tmdb().map(|tmdb| tmdb.imported.doc));
    for doc in docs {
        let text = serde_saphyr::to_string(&doc).expect("a document is YAML");
        assert_eq!(world::read("again.yaml", text.as_bytes()).expect("it reads back"), doc);
    }
}

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
    let collections = tmdb.get("/search/collection", json!({"query": "collection"}));
    arguments["collection_id"] = first_id(&collections, "results", "id");

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
            json!({"query": "collection"}),
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
        assert!(array(&credits, "crew").iter().any(|member| member["job"] == "Director"), "{credits}");
        for (list, members) in [("cast", array(&credits, "cast")), ("crew", array(&credits, "crew"))] {
            for member in members {
                let person = tmdb.get("/person/{person_id}", json!({"person_id": member["id"]}));
                assert_eq!(person["name"], member["name"]);
                let own = tmdb.get("/person/{person_id}/movie_credits", json!({"person_id": member["id"]}));
                let back = array(&own, list).iter().find(|credit| credit["credit_id"] == member["credit_id"]);
                let back = back.map(|credit| (&credit["id"], &credit["title"]));
                assert_eq!(back, Some((&film["id"], &film["title"])));
                let credit = tmdb.get("/credit/{credit_id}", json!({"credit_id": member["credit_id"]}));
                let shown = (&credit["person"]["name"], &credit["media"]["name"]);
                assert_eq!(shown, (&member["name"], &film["title"]));
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
        let mut episodes = 0;
        for season in seasons {
            let keys = json!({"tv_id": show["id"], "season_number": season["season_number"]});
            let whole = tmdb.get("/tv/{tv_id}/season/{season_number}", keys.clone());
            assert_eq!((&whole["id"], &whole["air_date"]), (&season["id"], &season["air_date"]));
            for episode in array(&whole, "episodes") {
                let mut keys = keys.clone();
                keys["episode_number"] = episode["episode_number"].clone();
                let found = tmdb.get("/tv/{tv_id}/season/{season_number}/episode/{episode_number}", keys);
                assert_eq!((&found["id"], &found["name"]), (&episode["id"], &episode["name"]));
                episodes += 1;
            }
        }
        assert_eq!(details["number_of_episodes"], json!(episodes));
        let keys = json!({"tv_id": show["id"], "season_number": 99});
        assert_eq!(tmdb.call("GET", "/tv/{tv_id}/season/{season_number}", keys).0, 404);
    }
}

#[test]
fn the_clinic_creates_changes_and_deletes_records() {
    let mut clinic = Imports::clinic();
    let check = |clinic: &Imports, method: &str, path: &str, body: &Value| {
        assert_eq!(clinic.refused(method, path, body), Vec::<String>::new(), "{method} {path} {body}");
    };
    let address = json!({"street": "1 Mill Lane", "city": "Cork"});
    let owner = json!({"name": "Ada Byrne", "email": "ada@example.org", "address": address});
    let (status, made) = clinic.call("POST", "/owners", owner);
    assert_eq!((status, &made["name"]), (201, &json!("Ada Byrne")), "{made}");
    check(&clinic, "POST", "/owners", &made);

    let pet = json!({"ownerId": made["id"], "name": "Bo", "species": "dog"});
    let (status, pet) = clinic.call("POST", "/owners/{ownerId}/pets", pet);
    assert_eq!((status, &pet["owner_id"], &pet["vaccinated"]), (201, &made["id"], &json!(false)), "{pet}");
    let pets = clinic.get("/owners/{ownerId}/pets", json!({"ownerId": made["id"]}));
    assert_eq!(pets.as_array().map(Vec::len), Some(1), "{pets}");

    let (status, changed) =
        clinic.call("PATCH", "/pets/{petId}", json!({"petId": pet["id"], "weight": 12.5}));
    assert_eq!(
        (status, &changed["weight"], &changed["name"]),
        (200, &json!(12.5), &json!("Bo")),
        "{changed}"
    );
    assert_eq!(clinic.call("PATCH", "/pets/{petId}", json!({"petId": pet["id"], "weight": 900})).0, 400);

    let visit = json!({"pet_id": pet["id"], "starts_at": "2026-03-05T10:00:00Z"});
    let (status, visit) = clinic.call("POST", "/visits", visit);
    assert_eq!((status, &visit["status"]), (201, &json!("booked")), "{visit}");
    let (status, cancelled) =
        clinic.call("POST", "/visits/{visitId}/cancel", json!({"visitId": visit["id"]}));
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")), "{cancelled}");
    let again = clinic.get("/visits/{visitId}", json!({"visitId": visit["id"]}));
    assert_eq!(again["status"], "cancelled");
    check(&clinic, "GET", "/visits/{visitId}", &again);

    let owner = json!({"ownerId": made["id"], "name": "Ada Quinn", "email": "q@example.org"});
    let (status, replaced) = clinic.call("PUT", "/owners/{ownerId}", owner);
    let shown = (status, &replaced["name"], &replaced["created_at"]);
    assert_eq!(shown, (200, &json!("Ada Quinn"), &made["created_at"]), "{replaced}");
    let (status, _) = clinic.call("POST", "/owners", json!({"name": "Cara Nolan", "email": "c@example.org"}));
    assert_eq!(status, 201);
    let other = clinic.get("/owners", json!({"q": "nolan"}));
    let other = array(&other, "items").iter().find(|owner| owner["name"] == "Cara Nolan").cloned();
    let other = other.expect("she is found");
    assert_eq!(clinic.call("DELETE", "/owners/{ownerId}", json!({"ownerId": other["id"]})).0, 200);
    assert_eq!(clinic.call("GET", "/owners/{ownerId}", json!({"ownerId": other["id"]})).0, 404);
}

#[test]
fn the_clinic_lists_filters_and_sorts() {
    let mut clinic = Imports::clinic();
    for (path, arguments) in [
        ("/owners", json!({"limit": 5})),
        // `/pets` embeds a pet's mother without the required `tags`: a known gap of the import of self references.
        ("/visits", json!({"status": "booked"})),
        ("/status", json!({})),
    ] {
        let body = clinic.get(path, arguments);
        assert_eq!(clinic.refused("GET", path, &body), Vec::<String>::new(), "{path} {body}");
    }
    let cats = clinic.get("/pets", json!({"species": "cat"}));
    let cats = array(&cats, "data");
    assert!(!cats.is_empty() && cats.iter().all(|pet| pet["species"] == "cat"), "{cats:?}");
    let heavy = clinic.get("/pets", json!({"sort": "-weight", "min_weight": 10}));
    let weights: Vec<f64> = array(&heavy, "data").iter().filter_map(|pet| pet["weight"].as_f64()).collect();
    assert!(weights.len() > 2 && weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    assert!(weights.iter().all(|weight| *weight >= 10.0), "{weights:?}");
}

#[test]
fn what_is_no_document_is_refused_with_its_place() {
    let refuse = |text: &str| {
        import("broken.json", text.as_bytes(), &ImportOptions::default()).expect_err("it is refused")
    };
    let broken = refuse("{\"openapi\": \"3.0.0\",\n  \"paths\": {,}}");
    assert_eq!((broken.findings[0].line, broken.findings[0].column), (Some(2), Some(13)), "{broken}");
    let empty = refuse("{\"openapi\": \"3.0.0\", \"paths\": {}}");
    assert!(empty.to_string().contains("no operations"), "{empty}");
    assert!(refuse("{\"info\": {}}").to_string().contains("neither `openapi` nor `swagger`"));
}

#[test]
fn references_that_lead_out_or_in_circles_end() {
    let text = r##"{"openapi": "3.0.0", "paths": {
        "/nodes/{id}": {"get": {
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}}},
        "/away": {"get": {
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "http://example.org/x.json"}}}}}}}},
        "components": {"schemas": {"Node": {"type": "object", "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Node"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}}}}}"##;
    let imported = import("nodes.json", text.as_bytes(), &ImportOptions::default()).expect("it imports");
    assert_eq!(imported.doc.apis.len(), 2);
    let away = imported
        .notes
        .iter()
        .any(|note| note.operation == "GET /away" && note.reason.contains("http://example.org/x.json"));
    assert!(away, "{:?}", imported.notes);
    materialised(&imported.doc, 1).unwrap_or_else(|report| panic!("the world can be made: {report}"));
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
        let film = find("/search/movie", "The Dark Knight", "title");
        let person = find("/search/person", "Sofia Coppola", "name");
        let company = find("/search/company", "Walt Disney", "name");
        find("/search/collection", "Star Wars", "name");
        find("/search/tv", "Breaking Bad", "name");
        let credits = tmdb.get("/person/{person_id}/movie_credits", json!({"person_id": person}));
        let directed = array(&credits, "crew")
            .iter()
            .find(|credit| credit["job"] == "Director" && credit["title"] == "The Dark Knight");
        assert_eq!(directed.map(|credit| &credit["id"]), Some(&film), "{credits}");
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

#[test]
fn every_operation_of_the_fixtures_answers_in_its_schema() {
    for path in [CLINIC, TUNEHALL, PARCELS] {
        let imports = Imports::fixture(path);
        let refused = imports.imported.notes.iter().filter(|note| note.reason.contains("refused"));
        assert_eq!(refused.collect::<Vec<_>>(), Vec::<&diorama_seeds::openapi::Note>::new());
        let mut wrong = Vec::new();
        for api in &imports.imported.doc.apis {
            for all in [false, true] {
                // Each call finds the records as they were, so that a deletion is no other call's 404.
                let mut imports =
                    Imports::of(path, &std::fs::read(fixture(path)).unwrap(), imports.document.clone());
                let arguments = imports.arguments(api, all);
                let (status, body) = imports.call(&api.method, &api.path, arguments.clone());
                // What others refer to stays, and what is not in a list cannot be taken out of it.
                let kept = status == 409 || body["detail"].to_string().contains("is not in it");
                if !((200..300).contains(&status) || api.method == "DELETE" && kept) {
                    wrong.push(format!("{} {} {arguments}: {status} {body}", api.method, api.path));
                }
                if (200..300).contains(&status) {
                    let refused = imports.refused(&api.method, &api.path, &body);
                    wrong.extend(
                        refused.into_iter().map(|error| format!("{} {}: {error}", api.method, api.path)),
                    );
                }
            }
        }
        assert!(wrong.is_empty(), "{path}\n{}", wrong.join("\n"));
    }
}

fn fixture(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn what_is_imported_has_nothing_to_mend_and_is_the_same_each_time() {
    for path in [CLINIC, TUNEHALL, PARCELS] {
        let text = std::fs::read(fixture(path)).unwrap();
        let doc = import(path, &text, &ImportOptions::default()).expect("it imports").doc;
        let again = import(path, &text, &ImportOptions::default()).expect("it imports").doc;
        let yaml = world::to_yaml(&doc).unwrap();
        assert_eq!(yaml, world::to_yaml(&again).unwrap());
        assert_eq!(world::examine(path, yaml.as_bytes()).to_string(), "", "{path}");
        let [one, two] =
            [0, 0].map(|seed| materialised(&doc, seed).expect("records can be made up").canonical.clone());
        assert_eq!(one, two);
        // An import never depends on one lucky seed.
        for seed in 1..6 {
            materialised(&doc, seed).unwrap_or_else(|report| panic!("{path}, seed {seed}: {report}"));
        }
    }
}

#[test]
fn a_listener_keeps_albums_follows_artists_and_fills_playlists() {
    let mut music = Imports::fixture(TUNEHALL);
    let me = music.get("/me", json!({}));
    let (album, track, artist) = (music.key("album"), music.key("track"), music.key("artist"));
    let (_, _) = music.call("PUT", "/me/albums", json!({"ids": [album]}));
    let kept = music.get("/me/albums", json!({"limit": 50}));
    assert!(array(&kept, "items").iter().any(|item| item["id"] == album), "{kept}");
    let (status, _) = music.call("DELETE", "/me/albums", json!({"ids": [album]}));
    assert_eq!(status, 200);
    let kept = music.get("/me/albums", json!({"limit": 50}));
    assert!(!array(&kept, "items").iter().any(|item| item["id"] == album), "{kept}");

    music.call("DELETE", "/me/following/artists/{artist_id}", json!({"artist_id": artist}));
    let (status, _) = music.call("PUT", "/me/following/artists/{artist_id}", json!({"artist_id": artist}));
    assert_eq!(status, 200);
    let followed = music.get("/me/following/artists", json!({}));
    assert!(array(&followed, "items").iter().any(|item| item["id"] == artist), "{followed}");

    let (status, playlist) = music.call("POST", "/me/playlists", json!({"name": "Rain"}));
    assert_eq!((status, &playlist["owner"]["id"], &playlist["total_tracks"]), (201, &me["id"], &json!(0)));
    let id = playlist["id"].clone();
    let add = json!({"playlist_id": id, "track_ids": [track]});
    let (status, playlist) = music.call("POST", "/playlists/{playlist_id}/tracks", add);
    assert_eq!((status, &playlist["total_tracks"]), (201, &json!(1)), "{playlist}");
    let tracks = music.get("/playlists/{playlist_id}/tracks", json!({"playlist_id": id}));
    assert_eq!((&tracks["items"][0]["id"], &tracks["total"]), (&track, &json!(1)));
    let change = json!({"playlist_id": id, "name": "More rain"});
    let (status, playlist) = music.call("PUT", "/playlists/{playlist_id}", change);
    assert_eq!((status, &playlist["name"], &playlist["public"]), (200, &json!("More rain"), &json!(true)));
    let mine = music.get("/me/playlists", json!({"limit": 50}));
    assert!(array(&mine, "items").iter().any(|item| item["name"] == "More rain"), "{mine}");
    assert!(array(&mine, "items").iter().all(|item| item["owner"]["id"] == me["id"]), "{mine}");
}

#[test]
fn the_only_player_plays_pauses_and_queues() {
    let mut music = Imports::fixture(TUNEHALL);
    let track = music.key("track");
    let (status, state) = music.call("PUT", "/me/player/play", json!({"track_id": track}));
    assert_eq!((status, &state["is_playing"], &state["track"]["id"]), (200, &json!(true), &track), "{state}");
    let (_, state) = music.call("PUT", "/me/player/pause", json!({}));
    assert_eq!((&state["is_playing"], &state["track"]["id"]), (&json!(false), &track), "{state}");
    music.call("PUT", "/me/player/volume", json!({"volume_percent": 7}));
    music.call("PUT", "/me/player/repeat", json!({"repeat_state": "context"}));
    let state = music.get("/me/player", json!({}));
    assert_eq!((&state["volume_percent"], &state["repeat_state"]), (&json!(7), &json!("context")));
    let before = array(&music.get("/me/player/queue", json!({})), "queue").len();
    music.call("POST", "/me/player/queue", json!({"track_id": track}));
    let queue = music.get("/me/player/queue", json!({}));
    assert_eq!(array(&queue, "queue").last().map(|item| &item["id"]), Some(&track));
    assert!(array(&queue, "queue").len() >= before);
}

#[test]
fn parcels_know_their_senders_depots_and_scans() {
    let mut post = Imports::fixture(PARCELS);
    let found = post.get(
        "/parcels",
        json!({"status": ["delivered", "returned"], "sort": "-weight_kg", "page_size": 100}),
    );
    let parcels = array(&found, "results").clone();
    assert!(parcels.len() > 3 && parcels.iter().all(|parcel| parcel["status"] != "announced"), "{found}");
    let weights: Vec<f64> = parcels.iter().filter_map(|parcel| parcel["weight_kg"].as_f64()).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b), "{weights:?}");
    let parcel = &parcels[0];
    let sender = post.get("/customers/{customerId}", json!({"customerId": parcel["sender_id"]}));
    let city = sender["address"]["city"].as_str().unwrap().to_uppercase();
    let there = post.get("/customers", json!({"city": city}));
    assert!(array(&there, "results").contains(&sender), "{there}");
    let sent = post.get("/customers/{customerId}/parcels", json!({"customerId": parcel["sender_id"]}));
    assert!(sent.as_array().unwrap().contains(parcel), "{sent}");
    let depot = post.key("depot");
    let code = json!({"trackingCode": parcel["tracking_code"]});
    let scan = json!({"trackingCode": parcel["tracking_code"], "depot": depot});
    let (status, scan) = post.call("POST", "/parcels/{trackingCode}/scans", scan);
    assert_eq!((status, &scan["depot"]), (201, &depot), "{scan}");
    let scans = post.get("/parcels/{trackingCode}/scans", code.clone());
    assert!(scans.as_array().unwrap().contains(&scan), "{scans}");
    let (status, back) = post.call("POST", "/parcels/{trackingCode}/return", code);
    assert_eq!((status, &back["status"]), (200, &json!("returned")));
}

/// Runs `world import-openapi` on a text in a folder with other files.
fn import_text(folder: &Path, name: &str, text: &[u8], more: &[&str]) -> Ran {
    let (file, out) = (folder.join(name), folder.join("out.yaml"));
    std::fs::write(&file, text).unwrap();
    let line = ["world", "import-openapi"].into_iter().map(std::ffi::OsString::from);
    let rest = [file.as_os_str(), "--out".as_ref(), out.as_os_str()].map(std::ffi::OsString::from);
    diorama(line.chain(rest).chain(more.iter().map(std::ffi::OsString::from)))
}

#[test]
fn bad_documents_are_refused_with_a_clear_message_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, text: &[u8], more: &[&str], expect: &[&str]| {
        let ran = import_text(folder.path(), name, text, more);
        assert!(ran.code == 1 || ran.code == 2, "{name}: {ran:?}");
        for part in expect {
            assert!(ran.err.contains(part), "{name}: {}", ran.err);
        }
        assert!(!folder.path().join("out.yaml").exists(), "{name}");
    };
    let ok = "responses: {200: {description: ok}}";
    check("a.json", b"{\"openapi\": \"3.0.0\",\n \"paths\" {}}", &[], &["a.json:2:10", "this is not JSON"]);
    check("b.yaml", b"openapi: 3.0.0\npaths: [1, 2\ninfo: {}\n", &[], &["b.yaml:3:5", "this is not YAML"]);
    check("c.yaml", b"openapi: 3.0.0\npaths: {}\n", &[], &["the document has no operations"]);
    check("d.yaml", b"openapi: 4.0.0\npaths: {}\n", &[], &["OpenAPI version `4.0.0`, expected 3.x"]);
    let circle = format!(
        "openapi: 3.0.0\npaths: {{/a: {{get: {{{ok}}}}}}}\ncomponents:\n  schemas:\n    A: {{allOf: [{{$ref: '#/components/schemas/B'}}]}}\n    B: {{allOf: [{{$ref: '#/components/schemas/A'}}]}}\n"
    );
    check("e.yaml", circle.as_bytes(), &[], &["made of itself by allOf", "schemas/A", "schemas/B"]);
    check("f.json", &vec![b' '; 50 << 20], &[], &["expected at most"]);
    let lost = format!("openapi: 3.0.0\npaths:\n  /a: {{get: {{{ok}}}}}\n  /b: {{$ref: 'gone.yaml#/b'}}\n");
    check(
        "g.yaml",
        lost.as_bytes(),
        &["--strict"],
        &["`gone.yaml#/b` at #/paths/~1b", "there is no such file"],
    );
}

#[test]
fn a_document_with_a_reference_to_nothing_serves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.yaml"), "Secret: {type: object}").unwrap();
    std::fs::write(
        folder.path().join("shelf.yaml"),
        "Shelf: {type: object, required: [id, name], properties: {id: {type: integer}, name: {type: string}}}",
    )
    .unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.yaml"), folder.path().join("link.yaml")).unwrap();
    let text = "openapi: 3.0.3
info: {title: Shelves, version: '1'}
paths:
  /shelves:
    get:
      responses: {200: {description: ok, content: {application/json: {schema: {type: array, items: {$ref: 'shelf.yaml#/Shelf'}}}}}}
  /shelves/{shelf_id}:
    get:
      parameters: [{name: shelf_id, in: path, required: true, schema: {type: integer}}]
      responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'shelf.yaml#/Shelf'}}}}}
  /lost:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'gone.yaml#/Lost'}}}}}}
  /secret:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'link.yaml#/Secret'}}}}}}
  /network:
    get: {responses: {200: {description: ok, content: {application/json: {schema: {$ref: 'http://127.0.0.1:9/x.yaml'}}}}}}
";
    let ran = import_text(folder.path(), "shelves.yaml", text.as_bytes(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut expected = vec!["`gone.yaml#/Lost` at #/paths/~1lost/get", "which is never asked"];
    if cfg!(unix) {
        expected.push("it leads out of the document's folder");
    }
    for part in expected {
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let made = std::fs::read(folder.path().join("out.yaml")).unwrap();
    let doc = world::read("out.yaml", &made).unwrap();
    let made = materialised(&doc, 1).unwrap();
    let mut session = Session::new(Base::new(made.world.clone()).unwrap(), SessionOptions::default());
    for api in &doc.apis {
        let mut arguments = Map::new();
        if api.parameters.contains_key("shelf_id") {
            let shelf = made.world.resources.iter().find(|known| &*known.name == "shelf").unwrap();
            let value = shelf.records[0][shelf.key.index()].to_json(&made.world.zone);
            arguments.insert("shelf_id".to_owned(), value);
        }
        let entry = session.call(&Call { api: api.name.clone(), arguments });
        let body = entry.reply.to_json(&made.world.zone);
        assert_eq!(entry.reply.status, 200, "{} {body}", api.path);
        let plain = ["/lost", "/secret", "/network"].contains(&api.path.as_str());
        assert!(!plain || body.starts_with('{'), "{} {body}", api.path);
    }
}

#[test]
fn corrections_are_kept_apart_from_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let over = folder.path().join("over.yaml");
    std::fs::write(
        &over,
        "resources: {owner: {records: 3}}\napis:\n  - {name: GetStatus, remove: true}\n  - {name: ListPets, description: All animals.}\n",
    )
    .unwrap();
    let text = std::fs::read(fixture(CLINIC)).unwrap();
    let ran = import_text(folder.path(), "clinic.yaml", &text, &["--overlay", over.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let doc = world::read("out.yaml", &std::fs::read(folder.path().join("out.yaml")).unwrap()).unwrap();
    assert_eq!(doc.resources["owner"].records, diorama_seeds::doc::RecordsDoc::Count(3));
    assert!(doc.apis.iter().all(|api| api.name != "GetStatus"));
    assert!(doc.apis.iter().any(|api| api.name == "ListPets" && api.description == "All animals."));
}

#[test]
fn dialogues_over_a_document_write_and_replay() {
    for path in [TUNEHALL, PARCELS] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("rows");
        let (out, document) = (out.to_str().unwrap(), fixture(path));
        let ran = diorama([
            "generate",
            "--out",
            out,
            "--dialogues",
            "40",
            "--openapi",
            document.to_str().unwrap(),
            "--threads",
            "1",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = diorama(["verify", out, "--json"]);
        let verified: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &verified["failed"]), (0, &json!(0)), "{} {}", ran.out, ran.err);
        let rows = folder.path().join("rows.jsonl");
        let ran = diorama(["export", out, "--format", "jsonl", "--out", rows.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = std::fs::read_to_string(rows).unwrap();
        let changed = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|row| row["initial_state_hash"] != row["final_state_hash"])
            .count();
        assert!(changed >= 10, "{path}: only {changed} of 40 rows change anything");
    }
}

/// Paths as older services have them, and writes that answer without a body.
const ARCHIVE: &str = r##"
openapi: 3.0.3
info: {title: Archive, version: "1"}
paths:
  /reports.json: {get: {operationId: listReports, responses: {"200": {description: All, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Report"}}}}}}}}
  /reports/{id}.json:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {operationId: getReport, responses: {"200": {description: One, content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}}}}
    put: {operationId: replaceReport, requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}}, responses: {"204": {description: Done}}}
    delete: {operationId: deleteReport, responses: {"204": {description: Gone}}}
  /reports/{id}:publish:
    post: {operationId: publishReport, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"204": {description: Done}}}
  /reports/{id}/pulse: {post: {operationId: pulse, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"204": {description: Done}}}}
  /caches/flush: {post: {operationId: flush, responses: {"204": {description: Done}}}}
  /compare/{old}...{new}: {get: {operationId: compare, parameters: [{name: old, in: path, required: true, schema: {type: string}}, {name: new, in: path, required: true, schema: {type: string}}], responses: {"200": {description: Both, content: {application/json: {schema: {type: object, properties: {changes: {type: integer}}}}}}}}}
components: {schemas: {Report: {type: object, required: [id, title, status], properties: {id: {type: integer, readOnly: true}, title: {type: string}, status: {type: string, enum: [draft, published]}}}}}
"##;

#[test]
fn segments_of_text_and_parameters_are_routed_and_204_has_no_body() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("archive.yaml");
    std::fs::write(&file, ARCHIVE).unwrap();
    let notes = import("archive", ARCHIVE.as_bytes(), &ImportOptions::default()).unwrap().notes;
    assert!(notes.iter().all(|note| !note.reason.contains("left out")), "{notes:?}");
    let server = diorama_tests::requests::serve(&["--openapi", file.to_str().unwrap()]);
    let id = server.post("/v1/sessions", json!({}))["id"].as_str().unwrap().to_owned();
    let ask = |line: &str, body: Value| {
        let (method, path) = line.split_once(' ').unwrap();
        let (status, _, reply) = server.send(&format!("{method} /s/{id}{path}"), &[], &body);
        (status, reply)
    };
    let (_, reports) = ask("GET /reports.json", Value::Null);
    let (first, second) = (&reports[0]["id"], &reports[1]["id"]);
    assert_eq!(ask(&format!("GET /reports/{first}.json"), Value::Null), (200, reports[0].clone()));
    let none = (204, json!(""));
    let new = json!({"title": "Tides", "status": "draft"});
    assert_eq!(ask(&format!("PUT /reports/{first}.json"), new), none);
    assert_eq!(ask(&format!("POST /reports/{first}:publish"), Value::Null), none);
    let shown = ask(&format!("GET /reports/{first}.json"), Value::Null).1;
    assert_eq!(shown, json!({"id": first, "title": "Tides", "status": "published"}));
    assert_eq!(ask(&format!("DELETE /reports/{second}.json"), Value::Null), none);
    assert_eq!(ask(&format!("DELETE /reports/{second}.json"), Value::Null).0, 404);
    assert_eq!(ask("POST /reports/12/pulse", Value::Null).0, 404);
    assert_eq!(ask(&format!("POST /reports/{first}/pulse"), Value::Null), none);
    assert_eq!(ask("POST /caches/flush", Value::Null), none);
    assert_eq!(ask("GET /compare/v1...v2", Value::Null).0, 200);
    assert_eq!(ask(&format!("GET /reports/{first}"), Value::Null).0, 404);
    let document = ask("GET /openapi.json", Value::Null).1;
    let responses = &document["paths"]["/reports/{id}.json"]["delete"]["responses"];
    assert_eq!((&responses["204"], &responses["200"]), (&json!({"description": "Done."}), &Value::Null));
}

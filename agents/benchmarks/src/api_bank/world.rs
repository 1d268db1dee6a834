//! Owns the world: our APIs, with the benchmark's databases as records.

use std::path::Path;
use std::sync::Arc;

use diorama_engine::Base;
use diorama_engine::session::{LogEntry, Session, SessionOptions};
use diorama_engine::tools::TOOL_SEARCHER;
use diorama_seeds::doc::{RecordsDoc, WorldDoc};
use diorama_seeds::task::Call;
use diorama_seeds::world::{compile, read};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::calculator::calculate;
use super::dialogue::{Dialogue, Gold};
use super::scenario::Scenario;
use super::search::NearestSearch;
use crate::material::{BenchmarkError, parse_json};

/// External services, whose recorded answers are used as in the benchmark's own system.
const SERVICES: [(&str, &[&str]); 5] = [
    ("Dictionary", &["keyword"]),
    ("Wiki", &["keyword"]),
    ("ImageCaption", &["url"]),
    ("Translate", &["src", "tgt_lang"]),
    ("Calculator", &["formula"]),
];

type Row = IndexMap<String, Json>;

/// The benchmark's world, ready to run.
#[derive(Clone)]
pub struct BankWorld {
    /// Its document.
    pub doc: Arc<WorldDoc>,
    /// The engine's base.
    pub base: Arc<Base>,
    search: Arc<NearestSearch>,
}

/// The rule for the right result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchRule {
    /// The nearest API is the recorded one, or the nearest one to the recorded keywords (the paper).
    Nearest,
    /// The recorded API is among those that `ToolSearcher` shows.
    AnyHit,
}

/// The reply to a call, and the databases after it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effect {
    pub(super) status: u16,
    pub(super) body: Json,
    digest: String,
}

impl BankWorld {
    /// Reads the databases of a folder into the world. `dialogues` supply the answers of external services.
    /// The results of the formulas in `scenarios` are calculated.
    ///
    /// # Errors
    /// Returns an error if a database cannot be read or does not fit.
    pub fn read(
        folder: &Path,
        dialogues: &[Dialogue],
        scenarios: &[Scenario],
    ) -> Result<Self, BenchmarkError> {
        let wrong = |error: diorama_seeds::world::Report| BenchmarkError::World(error.to_string());
        let mut doc = read("api_bank/world.yaml", include_bytes!("world.yaml")).map_err(wrong)?;
        let databases = Databases { folder };
        let golds = || dialogues.iter().flat_map(Dialogue::calls).map(|(_, gold)| gold);
        if let Some(today) = golds().find(|gold| gold.api == "GetToday").and_then(|gold| gold.output.as_str())
        {
            doc.clock = format!("{today}T09:00");
        }
        doc.materialised = Some(0);
        for (resource, described) in &mut doc.resources {
            let mut rows = databases.rows(resource)?;
            match resource.as_str() {
                "known_answer" => {
                    rows = known(golds());
                    rows.extend(calculated(scenarios));
                }
                "question" => rows.extend(asked(golds(), &rows)),
                _ => {}
            }
            for (number, row) in rows.iter_mut().enumerate() {
                if !row.contains_key(&described.key) {
                    row.insert(described.key.clone(), json!(number + 1));
                }
            }
            described.records = RecordsDoc::Given(rows);
        }
        let world = compile(&doc).map_err(wrong)?;
        let base = Base::new(world).map_err(|error| BenchmarkError::World(error.to_string()))?;
        let search = NearestSearch::new(&base).map_err(|error| BenchmarkError::World(error.to_string()))?;
        Ok(Self { doc: Arc::new(doc), base, search: Arc::new(search) })
    }

    /// Returns a session on freshly initialised databases.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::new(Arc::clone(&self.base), SessionOptions::default())
    }

    /// Returns true if an API's answers are recordings of an external service.
    pub(super) fn is_recorded(&self, api: &str) -> bool {
        let api = self.doc.apis.iter().find(|known| known.name == api);
        api.is_some_and(|api| api.behaviour.bindings.values().any(|text| text.contains("known_answer")))
    }

    /// Returns the body of a reply.
    pub(super) fn body(&self, entry: &LogEntry) -> Json {
        entry.reply.json_tree(&self.base.world().zone)
    }

    /// Returns the effect of a call on freshly initialised databases.
    pub(super) fn effect(&self, call: &Call) -> Effect {
        self.effect_after(&[], call)
    }

    /// Returns the effect of a call after other calls. Generated keys follow from the seed, so equal changes
    /// have equal digests.
    pub(super) fn effect_after(&self, before: &[Call], call: &Call) -> Effect {
        let mut session = self.session();
        for call in before {
            session.call(call);
        }
        let entry = session.call(call);
        Effect { status: entry.reply.status, body: self.body(&entry), digest: session.digest().to_string() }
    }

    /// Returns true if a call is equivalent to a gold call: on freshly initialised databases, it makes the
    /// same change and gives the same reply.
    pub(super) fn is_equivalent(&self, call: &Call, gold: &Gold, rule: SearchRule) -> bool {
        if call.api != gold.api {
            return false;
        }
        let own = self.effect(call);
        if own.status >= 400 {
            return false;
        }
        let is_same = || own == self.effect(&gold.call());
        match rule {
            _ if gold.api != TOOL_SEARCHER => is_same(),
            SearchRule::AnyHit => is_same() || shows(&own.body, gold),
            SearchRule::Nearest => {
                let found = self.nearest(call);
                found.is_some() && (found == gold.found() || found == self.nearest(&gold.call()))
            }
        }
    }

    /// Returns the API that is nearest to a search's keywords.
    pub(super) fn nearest(&self, search: &Call) -> Option<&str> {
        let api = self.search.nearest(search.arguments.get("keywords")?.as_str()?)?;
        Some(&self.base.world().api(api).name)
    }

    /// Returns the reply of the benchmark's search.
    pub(super) fn search_reply(&self, search: &Call) -> Json {
        let keywords = search.arguments.get("keywords").and_then(Json::as_str).unwrap_or_default();
        self.search.reply(&self.base, keywords)
    }
}

impl Effect {
    /// Returns the reason for a refusal.
    pub(super) fn refusal(&self) -> Option<String> {
        let detail = || self.body.get("detail").and_then(Json::as_str).unwrap_or_default();
        (self.status >= 400).then(|| format!("{}: {}", self.status, detail()))
    }
}

/// Returns true if a search shows the API that the recorded one found.
pub(super) fn shows(body: &Json, gold: &Gold) -> bool {
    let tools = body.get("tools").and_then(Json::as_array);
    let mut names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    gold.found().is_some_and(|found| names.any(|name| name == found))
}

/// Returns the recorded answers of external services.
fn known<'a>(golds: impl Iterator<Item = &'a Gold>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for gold in golds {
        let Some((_, parameters)) = SERVICES.iter().find(|(service, _)| *service == gold.api) else {
            continue;
        };
        let text =
            |name: &&str| gold.arguments.get(*name).and_then(Json::as_str).unwrap_or("en").to_lowercase();
        let asked = parameters.iter().map(text).collect::<Vec<_>>().join("|");
        let is_known = |row: &Row| {
            row.get("service") == Some(&json!(gold.api)) && row.get("asked") == Some(&json!(asked))
        };
        if !rows.iter().any(is_known) {
            rows.push(row([
                ("service", json!(gold.api)),
                ("asked", json!(asked)),
                ("answer", gold.output.clone()),
            ]));
        }
    }
    rows
}

/// Returns the results of the formulas in scenarios.
fn calculated(scenarios: &[Scenario]) -> impl Iterator<Item = Row> {
    let calls = scenarios.iter().flat_map(|scenario| &scenario.calls);
    let formulas = calls.filter_map(|call| call.arguments.get("formula")?.as_str());
    formulas.filter_map(|formula| {
        let answer = calculate(formula)?;
        Some(row([
            ("service", json!("Calculator")),
            ("asked", json!(formula.to_lowercase())),
            ("answer", json!(answer)),
        ]))
    })
}

/// Returns questions about documents that the database does not answer.
fn asked<'a>(golds: impl Iterator<Item = &'a Gold>, rows: &[Row]) -> Vec<Row> {
    let mut found: Vec<Row> = Vec::new();
    for gold in golds.filter(|gold| gold.api == "DocumentQA") {
        let mut own: Row = gold.arguments.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        own.insert("answer".to_owned(), gold.output.clone());
        let same = |row: &Row| ["url", "question"].iter().all(|name| row.get(*name) == own.get(*name));
        if !rows.iter().chain(&found).any(same) {
            found.push(own);
        }
    }
    found
}

fn row<const N: usize>(members: [(&str, Json); N]) -> Row {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Databases<'a> {
    folder: &'a Path,
}

impl Databases<'_> {
    /// Returns the records of a resource.
    fn rows(&self, resource: &str) -> Result<Vec<Row>, BenchmarkError> {
        let each = |file: &str, make: &dyn Fn(&str, &Json) -> Row| -> Result<Vec<Row>, BenchmarkError> {
            Ok(self.members(file)?.iter().map(|(name, value)| make(name, value)).collect())
        };
        let keyed = |file: &str, key: &str| each(file, &|name, value| with(value, key, name));
        let plain = |file: &str| each(file, &|_, value| members_of(value));
        match resource {
            "account" => keyed("Account", "username"),
            "agenda" => plain("Agenda"),
            "reminder" => plain("Reminder"),
            "alarm" => plain("Alarm"),
            "meeting" => plain("Meeting"),
            "appointment" => keyed("Appointments", "appointment_id"),
            "balance" => keyed("Bank", "username"),
            "hotel_order" => plain("Hotel"),
            "price" => self.listed("Stock", |code, date, price| {
                row([("stock_code", json!(code)), ("date", json!(date)), ("price", price.clone())])
            }),
            "recording" => each("SpeechRecognition", &|url, transcript| {
                row([("url", json!(url)), ("transcript", transcript.clone())])
            }),
            "web_page" => {
                let pages = self.members("SearchEngine")?.remove("raw_documents").unwrap_or_default();
                let pages = pages.as_array().cloned().unwrap_or_default();
                let text = |page: &Json, name: &str| page.get(name).cloned().unwrap_or_else(|| json!(""));
                Ok(pages
                    .iter()
                    .map(|page| {
                        row([
                            ("title", text(page, "title")),
                            ("url", text(page, "url")),
                            ("abstract", text(page, "abstract")),
                        ])
                    })
                    .collect())
            }
            "health_record" => self.listed("HealthData", |user, _, measured| {
                let mut measured = measured.as_object().cloned().unwrap_or_default();
                let time = measured.remove("time").unwrap_or_default();
                row([("user_id", json!(user)), ("time", time), ("measured", Json::Object(measured))])
            }),
            "historic_event" => self.listed("History", |day, _, event| {
                let text = |name: &str| event.get(name).and_then(Json::as_str).unwrap_or_default();
                let text = format!(
                    "Title: {}, Date: {}, Description: {}",
                    text("Title"),
                    text("Date"),
                    text("Description")
                );
                row([("day", json!(day)), ("text", json!(text))])
            }),
            "disease" => self.listed("Symptom", |symptom, _, disease| with(disease, "symptom", symptom)),
            "question" => self.listed("QuestionAnswering", |url, _, question| with(question, "url", url)),
            "timed_switch" => self.listed("TimeSwitch", |name, _, set| with(set, "name", name)),
            "scene" => {
                each("Scenes", &|name, devices| row([("name", json!(name)), ("devices", devices.clone())]))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the members of a database, or none if its file does not exist.
    fn members(&self, file: &str) -> Result<Map<String, Json>, BenchmarkError> {
        let path = self.folder.join("databases").join(format!("{file}.json"));
        if !path.is_file() {
            return Ok(Map::new());
        }
        parse_json(&path, "a JSON object")
    }

    /// Returns a record for each item, or member, of each member of a database.
    fn listed(
        &self,
        file: &str,
        make: impl Fn(&str, &str, &Json) -> Row,
    ) -> Result<Vec<Row>, BenchmarkError> {
        let mut rows = Vec::new();
        for (name, inner) in self.members(file)? {
            match &inner {
                Json::Array(items) => rows.extend(items.iter().map(|item| make(&name, "", item))),
                Json::Object(members) => {
                    rows.extend(members.iter().map(|(own, value)| make(&name, own, value)))
                }
                _ => {}
            }
        }
        Ok(rows)
    }
}

fn members_of(record: &Json) -> Row {
    record.as_object().cloned().unwrap_or_default().into_iter().collect()
}

fn with(record: &Json, name: &str, value: &str) -> Row {
    let mut row = members_of(record);
    row.insert(name.to_owned(), json!(value));
    row
}

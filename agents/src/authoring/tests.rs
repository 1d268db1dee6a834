//! Owns the tests of the authors with a scripted model: their requests, and their results for good and
//! bad replies.

use std::sync::Arc;

use diorama_llm::{
    BudgetExhausted, ChatError, ChatReply, ChatRequest, FinishReason, Message, Sampling, ScriptedModel,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::asking::{Complaints, Step, Stop};
use super::domain::{Domain, DomainIndex, ProposeDomain};
use super::funnel::Loss;
use super::whole::{Part, WriteWorld};
use super::*;

mod plots;

const WORLD: &str = include_str!("tests/harbour.yaml");

fn settings(count: u64) -> Settings {
    Settings {
        count,
        topic: Some("harbour pilots".to_owned()),
        in_parts: false,
        scenarios: 0,
        seed: 7,
        license: "CC0-1.0".to_owned(),
        sampling: Sampling::up_to(600),
        existing: vec![domain(
            "dental_clinic",
            "Dentists, patients and appointments of a town dental clinic.",
        )],
    }
}

fn domain(name: &str, description: &str) -> Domain {
    let title = diorama_seeds::english::capitalised(&name.replace('_', " "));
    Domain { name: name.to_owned(), title, description: description.to_owned(), sector: "other".to_owned() }
}

/// Returns the document without its fault.
fn mended() -> String {
    WORLD.replace("record.state", "record.status")
}

/// Returns the reply of a flawless model to a step.
fn sound(request: &ChatRequest) -> ChatReply {
    let fenced = |text: &str| ChatReply::text(format!("Here it is:\n```yaml\n{text}```"));
    let world = mended();
    let at = world.find("apis:").unwrap();
    let (resources, apis) = world.split_at(at);
    match (request.origin.step.as_str(), request.origin.attempt) {
        ("domain", _) => {
            let known = [
                ("Harbour pilots", "Pilots who guide ships to their berths."),
                ("Kite school", "Lessons in flying kites on the beach."),
                ("Seed exchange", "Gardeners swap seeds of old vegetables."),
                ("Tower crane hire", "Cranes that builders rent by the week."),
            ];
            let (name, description) = known[request.origin.row as usize % known.len()];
            said(&json!({ "name": name, "description": description }))
        }
        ("api", 0) if asks_for_resources(request) => fenced(resources),
        ("api", 0) => fenced(&world),
        // The second reply with APIs repeats the first.
        ("api", _) => fenced(apis),
        (step, _) => panic!("nothing is said to {step}"),
    }
}

fn asks_for_resources(request: &ChatRequest) -> bool {
    text(request.messages.last().unwrap()).contains("without `apis`")
}

fn said(reply: &Json) -> ChatReply {
    ChatReply::text(reply.to_string())
}

fn text(message: &Message) -> &str {
    match message {
        Message::System { content } | Message::User { content } | Message::Assistant { content, .. } => {
            content
        }
        Message::Tool { content, .. } => content,
    }
}

/// Returns the last message of each request of a step.
fn heard(model: &ScriptedModel, step: &str) -> Vec<String> {
    let sent = model.sent().into_iter().filter(|request| request.origin.step == step);
    sent.map(|request| text(request.messages.last().unwrap()).to_owned()).collect()
}

#[tokio::test]
async fn a_world_is_written_whole_or_in_parts_and_the_same_replies_give_the_same_bytes() {
    let write = async |in_parts: bool| {
        let model = Arc::new(ScriptedModel::new(|request, _| Ok(sound(request))));
        let authored = author(model.clone(), Settings { in_parts, ..settings(1) }).await;
        assert!(authored.stopped.is_none(), "{:?}", authored.stopped);
        assert_eq!(authored.worlds.len(), 1, "{:#?}", authored.steps);
        (model, authored)
    };
    let (model, whole) = write(false).await;
    let doc = diorama_seeds::world::read("w", whole.worlds[0].text.as_bytes()).unwrap();
    let names: Vec<&str> = doc.apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(names, ["FindPilot", "ListTransits", "PlanTransit", "CancelTransit"]);
    assert_eq!((&*doc.name, whole.funnel.findings, whole.funnel.apis_kept), ("harbour_pilots", 0, 4));
    let asked = heard(&model, "api");
    assert!(asked[0].contains("Harbour pilots.") && asked[0].contains("GET /"), "{}", asked[0]);
    let (model, parts) = write(true).await;
    assert_eq!(parts.worlds[0].text, whole.worlds[0].text);
    let asked = heard(&model, "api");
    assert_eq!(asked.len(), 4);
    assert!(asked[1].contains("transit_id") && !asked[1].contains("CancelTransit"), "{}", asked[1]);
    assert!(asked[2].contains("already: FindPilot, ListTransits"), "{}", asked[2]);
    let (_, again) = write(true).await;
    assert_eq!((again.worlds[0].text.as_str(), again.funnel), (parts.worlds[0].text.as_str(), parts.funnel));
    assert_eq!(again.steps, parts.steps);
}

#[tokio::test]
async fn a_domain_is_told_what_exists_and_refused_when_it_is_too_near() {
    let model = Arc::new(ScriptedModel::new(|request, _| Ok(sound(request))));
    let authored = author(model.clone(), Settings { topic: None, ..settings(5) }).await;
    // This model knows only four names.
    let names: Vec<&str> = authored.worlds.iter().map(|world| world.name.as_str()).collect();
    assert_eq!(names, ["harbour_pilots", "kite_school", "seed_exchange", "tower_crane_hire"]);
    let funnel = &authored.funnel;
    assert_eq!((funnel.domains_proposed, funnel.domains_too_near, funnel.worlds_begun), (23, 19, 4));
    let asked = heard(&model, "domain");
    let first: Vec<bool> = asked[..5].iter().map(|prompt| prompt.contains("- Kite school")).collect();
    assert_eq!(first, [false; 5], "a wave knows nothing of itself");
    assert!(asked.iter().all(|prompt| prompt.contains("- Dental clinic")));
    assert!(asked[5..].iter().all(|prompt| prompt.contains("- Kite school")));
}

#[tokio::test]
async fn a_malformed_reply_goes_back_once_with_what_is_wrong() {
    let model = Arc::new(ScriptedModel::new(|request, _| {
        let first = !text(request.messages.last().unwrap()).starts_with("That reply cannot be used");
        Ok(match request.origin.attempt {
            0 if first => ChatReply::text("```yaml\nworld: 1\nname: [harbour]\n```"),
            1 if first => ChatReply::text("apis: {FindPilot: {}}"),
            _ if first => ChatReply::text("I would begin with look-ups."),
            _ => sound(request),
        })
    }));
    let authored = author(model.clone(), Settings { in_parts: true, ..settings(1) }).await;
    let asked = heard(&model, "api");
    assert!(asked[1].contains("- line 2: "), "{}", asked[1]);
    assert!(asked[3].contains("expected YAML with the one key `apis`"), "{}", asked[3]);
    let count = &authored.funnel.steps["api"];
    assert_eq!((count.asked, count.sent_back), (4, 4));
}

#[tokio::test]
async fn what_cannot_be_used_is_lost_and_counted_by_reason() {
    let check = async |reply: ChatReply, loss: Loss| {
        let model = ScriptedModel::new(move |_, _| Ok(reply.clone()));
        let authored = author(Arc::new(model), settings(2)).await;
        assert!(authored.worlds.is_empty() && authored.stopped.is_none());
        let step = &authored.funnel.steps["api"];
        assert_eq!((step.asked, step.lost.get(&loss)), (14, Some(&14)), "{loss:?} {step:?}");
        assert_eq!(authored.funnel.worlds_dropped["nothing that can be used"], 14);
    };
    check(ChatReply::text("I cannot help with that."), Loss::NoJson).await;
    check(ChatReply { refusal: Some("No.".to_owned()), ..ChatReply::text("") }, Loss::Refusal).await;
    check(
        ChatReply { finish_reason: FinishReason::Length, ..ChatReply::text("```yaml\nworld: 1\nname: {a") },
        Loss::Cut,
    )
    .await;
    check(ChatReply::text("{\"world\": 7}"), Loss::Form).await;
    check(ChatReply::text("[".repeat(100_000)), Loss::NoJson).await;
}

#[tokio::test]
async fn a_budget_that_is_used_up_keeps_what_is_written() {
    let model = ScriptedModel::new(|request, _| match request.origin.row {
        0 => Ok(sound(request)),
        _ => Err(ChatError::Exhausted(BudgetExhausted::Tokens { max: 10_000, left: 3, needed: 900 })),
    });
    let authored = author(Arc::new(model), settings(3)).await;
    assert_eq!(authored.worlds.len(), 1);
    assert!(matches!(authored.stopped, Some(Stop::Spent(_))), "{:?}", authored.stopped);
}

#[tokio::test]
async fn findings_of_a_whole_document_go_back_once_and_then_their_apis_go() {
    let run = async |mends: bool| {
        let model = Arc::new(ScriptedModel::new(move |request, _| {
            let mended = WORLD.replace("record.state", "record.status");
            let doc = diorama_seeds::world::read("w", mended.as_bytes()).unwrap();
            let api = doc.apis.iter().find(|api| api.name == "CancelTransit").unwrap();
            Ok(match request.origin.step.as_str() {
                "api" => ChatReply::text(format!("```yaml\n{WORLD}```")),
                "api_mend" if mends => said(&json!({ "apis": [api] })),
                _ => ChatReply::text("I see nothing wrong with it."),
            })
        }));
        let authored = author(model.clone(), settings(1)).await;
        (model, authored)
    };
    let (model, mended) = run(true).await;
    let prompt = heard(&model, "api_mend").remove(0);
    assert!(prompt.contains("- line ") && prompt.contains("`state`"), "{prompt}");
    assert_eq!((mended.funnel.findings, mended.funnel.findings_mended, mended.funnel.apis_kept), (1, 1, 4));
    let (_, reduced) = run(false).await;
    assert_eq!((reduced.funnel.apis_written, reduced.funnel.apis_kept), (4, 3));
    assert_eq!(reduced.funnel.apis_dropped.values().sum::<u64>(), 1);
    assert!(!reduced.worlds[0].text.contains("CancelTransit"));
}

#[tokio::test]
async fn wordings_are_kept_that_are_new_and_become_rows() {
    let scenarios = "scenarios:
  - name: plan
    who: an agent at the quay
    bind: {who: {a: pilot}}
    later: ['And plan a transit with {who.name}.']
    goals:
      - user: ['Please plan a transit with {who.name}.']
        does:
          - {call: FindPilot, as: found, with: {name: who.name}}
          - {call: PlanTransit, as: made, with: {pilot_id: who}}
        end: ['It is planned; the number is {made.transit_id}.']
";
    let of_world = || {
        let mut doc = diorama_seeds::world::read("w", mended().as_bytes()).unwrap();
        diorama_seeds::world::add_scenarios(&mut doc, "w.scenarios.yaml", scenarios.as_bytes()).unwrap();
        doc
    };
    let reply = json!({
        "user": [
            "get {who.name} for a transit pls, put it in the plan",
            "get {who.name} for a transit pls, put it in the plan!",
            "Could somebody plan a transit?",
            "Plan one with {whom.name}",
        ],
        "later": ["there's a ship too that {who.name} could take through, plan that"],
        "end": ["It's planned, and costs {made.price} euros."],
        "end 2": ["No such line."],
    });
    let model = Arc::new(ScriptedModel::new(move |_, _| Ok(said(&reply))));
    let (found, made) =
        paraphrase::paraphrase(model.clone(), Sampling::up_to(600), Arc::new(of_world()), 4).await;
    let lines = &found.words["plan"];
    let kept: Vec<(&str, &str)> = lines
        .iter()
        .flat_map(|(line, kept)| kept.0.iter().map(move |one| (line.as_str(), one.as_str())))
        .collect();
    assert_eq!(
        kept,
        [
            ("user", "get {who.name} for a transit pls, put it in the plan"),
            ("later", "there's a ship too that {who.name} could take through, plan that"),
        ],
        "{:#?}",
        made.steps
    );
    let dropped = BTreeMap::from([("does not pass".to_owned(), 3), ("repeats another".to_owned(), 1)]);
    assert_eq!(
        (made.funnel.wordings_written, made.funnel.wordings_kept, made.funnel.wordings_dropped),
        (6, 2, dropped)
    );
    assert!(
        heard(&model, "query_paraphrase")[1].contains("found `end 2`, expected the name of a line: `later`")
    );
    // The prompt explains lines by the names that they have in it.
    let system = text(&model.sent()[0].messages[0]).to_owned();
    for name in ["later", "user 2", "say NAME", "tell NAME"] {
        assert!(system.contains(&format!("`{name}`")), "{name}: {system}");
    }

    // The file is read together with the world.
    let text = diorama_seeds::world::beside_to_yaml("w", &found).unwrap();
    let mut doc = of_world();
    diorama_seeds::world::add_words(&mut doc, "w.words.yaml", text.as_bytes()).unwrap();
    assert_eq!((doc.scenarios[0].goals[0].user.len(), doc.scenarios[0].later.len()), (2, 2));
    let wrong = text.replace("later", "earlier");
    let report = diorama_seeds::world::add_words(&mut doc, "w.words.yaml", wrong.as_bytes()).unwrap_err();
    assert!(
        report.to_string().contains("words.plan[\"earlier\"]") && report.to_string().contains("later, "),
        "{report}"
    );
}

#[test]
fn a_world_that_would_grow_without_limit_is_refused_before_it_is_made() {
    let harbour = domain("harbour", "A harbour.");
    let check = |change: &str, expect: Result<u32, &str>| {
        let text = WORLD.replace("records: 30", change);
        let doc = diorama_seeds::world::read("w", text.as_bytes()).unwrap();
        let count =
            mend::bounded(doc, &harbour, "CC0-1.0").map(|doc| match doc.resources["transit"].records {
                diorama_seeds::doc::RecordsDoc::Count(count) => count,
                diorama_seeds::doc::RecordsDoc::Given(_) => 0,
            });
        assert_eq!(count, expect, "{change}");
    };
    check("records: 30", Ok(30));
    check("records: 900000", Ok(200));
    let each = "each: [{of: transit, by: pilot_id, min: 5, max: 4000000}, {of: pilot, by: pilot_id, min: 900, max: 4000000}]";
    check(&format!("{each}\n    records: 100"), Err("too many records"));
}

/// Makes names, values and whole replies that no person would write.
fn odd() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("name".to_owned()),
        prop::sample::select(vec![
            "in",
            "now",
            "item",
            "record",
            "args",
            "me",
            "id",
            "pilot_id",
            "class",
            "true",
            "null",
            "size",
            "1st",
            "_",
            "status",
            "Ünïcode wörds",
            "today",
            "page",
            "sort",
            "limit",
            "token",
            "starts at",
            "'; drop",
            "{{ x }}",
            "a.b",
            "count",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "[a-z]{1,12}( [a-z]{1,12}){0,3}",
    ]
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        odd().prop_map(Json::from),
    ];
    let member = prop::sample::select(vec![
        "name",
        "description",
        "resources",
        "fields",
        "type",
        "values",
        "belongs_to",
        "titles",
        "list_by",
        "create",
        "delete",
        "update",
        "changes",
        "count_by",
        "rules",
        "verb",
        "field",
        "from",
        "to",
        "records",
        "apis",
    ]);
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::btree_map(member.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn read<S: Step>(step: &S, reply: &Json) -> Option<S::Output> {
    step.prompt().unwrap();
    step.parse(&reply.to_string(), &mut Complaints::default())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_reply_makes_a_step_panic(reply in any_json(), prose in "\\PC{0,200}") {
        let harbour = domain("harbour", "A harbour.");
        let known = DomainIndex::new([]).unwrap();
        read(&ProposeDomain { seed: 0, slot: 0, known: &known }, &reply);
        let mut wrong = Complaints::default();
        let text = format!("world: 1\n{prose}\n{reply}");
        for part in [Part::Whole, Part::Resources] {
            let step = WriteWorld { domain: &harbour, examples: &[], part };
            prop_assert!(step.parse(&text, &mut wrong).is_none());
            prop_assert!(!wrong.is_empty());
        }
        let doc = WorldDoc::default();
        let apis = WriteWorld { domain: &harbour, examples: &[], part: Part::Apis(&doc) };
        apis.parse(&format!("apis: {reply}\n{prose}"), &mut wrong);
        read(&apis, &reply);
    }
}

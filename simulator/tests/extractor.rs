//! Measures the answer extractor on answers labelled by hand, and keeps docs/answer-extractor.md true.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use diorama_seeds::task::{AnswerCheck, Evidence, Fact};
use diorama_seeds::value::Zone;
use diorama_simulator::grade::answer::{AnswerKey, FactState, Rivals};
use diorama_simulator::grade::extract::Clock;
use serde::Deserialize;

/// A situation: what is asked, what is right, what could be confused with it.
#[derive(Deserialize)]
struct Scene {
    scene: String,
    clock: String,
    zone: String,
    user: Vec<String>,
    facts: Vec<Asked>,
    context: Vec<Fact>,
    rivals: Vec<Rivals>,
}

#[derive(Deserialize)]
struct Asked {
    about: String,
    fact: Fact,
}

/// An answer with its labels: for each fact `s` stated, `n` not stated, `c` contradicted; and whether it passes.
#[derive(Deserialize)]
struct Labelled {
    of: String,
    style: String,
    text: String,
    facts: String,
    pass: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Scene(Scene),
    Answer(Labelled),
}

/// Counts of one set.
#[derive(Default)]
struct Figures {
    answers: usize,
    wrong: usize,
    facts: usize,
    /// Facts read as stated: rightly, wrongly; and facts stated that were not read.
    stated: [usize; 3],
    /// Facts whose state (of three) is as labelled.
    states: usize,
    /// Answers passed rightly, passed wrongly, failed wrongly.
    verdicts: [usize; 3],
    misses: Vec<String>,
}

fn data(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn measure(name: &str) -> Figures {
    let mut scenes: BTreeMap<String, (AnswerKey, Vec<String>, Clock)> = BTreeMap::new();
    let mut figures = Figures::default();
    for (number, line) in data(name).lines().enumerate() {
        let line: Line =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}:{}: {error}", number + 1));
        match line {
            Line::Scene(scene) => {
                let zone = Zone::named(&scene.zone).unwrap();
                let checks: Vec<AnswerCheck> = scene
                    .facts
                    .into_iter()
                    .map(|asked| AnswerCheck {
                        about: asked.about,
                        fact: asked.fact,
                        evidence: vec![Evidence::Empty { api: "Any".to_owned() }],
                    })
                    .collect();
                let key = AnswerKey::new(&checks, &scene.context, &scene.rivals, &zone).unwrap();
                let clock = Clock::at(zone.parse_instant(&scene.clock).unwrap(), &zone);
                scenes.insert(scene.scene, (key, scene.user, clock));
            }
            Line::Answer(answer) => {
                let (key, user, clock) = &scenes[&answer.of];
                let reading = key.read(&answer.text, user, clock);
                let states: String = reading
                    .facts
                    .iter()
                    .map(|state| match state {
                        FactState::Stated => 's',
                        FactState::NotStated => 'n',
                        FactState::Contradicted => 'c',
                    })
                    .collect();
                figures.answers += 1;
                figures.wrong += usize::from(!answer.pass);
                assert_eq!(
                    states.len(),
                    answer.facts.len(),
                    "{name}:{}: one label for each fact",
                    number + 1
                );
                for (read, label) in states.chars().zip(answer.facts.chars()) {
                    figures.facts += 1;
                    figures.states += usize::from(read == label);
                    match (read == 's', label == 's') {
                        (true, true) => figures.stated[0] += 1,
                        (true, false) => figures.stated[1] += 1,
                        (false, true) => figures.stated[2] += 1,
                        (false, false) => {}
                    }
                }
                match (reading.passes(), answer.pass) {
                    (true, true) => figures.verdicts[0] += 1,
                    (true, false) => figures.verdicts[1] += 1,
                    (false, true) => figures.verdicts[2] += 1,
                    (false, false) => {}
                }
                if reading.passes() != answer.pass || states != answer.facts {
                    let kind = if reading.passes() == answer.pass { "state" } else { "verdict" };
                    figures.misses.push(format!(
                        "{kind} {}/{}: read {states} {}, labelled {} {}: {:?} {:?}",
                        answer.of,
                        answer.style,
                        reading.passes(),
                        answer.facts,
                        answer.pass,
                        answer.text,
                        reading.contradictions
                    ));
                }
            }
        }
    }
    figures
}

impl Figures {
    fn share(part: usize, other: usize) -> f64 {
        part as f64 / (part + other).max(1) as f64
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            self.answers,
            self.wrong,
            self.facts,
            Self::share(self.stated[0], self.stated[1]),
            Self::share(self.stated[0], self.stated[2]),
            self.states as f64 / self.facts.max(1) as f64,
            Self::share(self.verdicts[0], self.verdicts[1]),
            Self::share(self.verdicts[0], self.verdicts[2]),
        )
    }
}

const HEAD: &str = "| set | answers | of these wrong | facts | stated: precision | stated: recall | state of three right | pass: precision | pass: recall |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

#[test]
fn labelled_answers_are_read_as_people_read_them() {
    let mut table = HEAD.to_owned();
    for (name, file) in [("tuned", "answers.jsonl"), ("held out", "held_out.jsonl")] {
        let figures = measure(file);
        for miss in &figures.misses {
            eprintln!("{name}: {miss}");
        }
        let _ = writeln!(table, "{}", figures.row(name));
    }
    eprintln!("{table}");
}

//! Measures the answers to right offers, altered offers and questions, over scripts of generated rows.

use diorama_seeds::script::{Goal, Script, WithheldDetail};

use super::hear;
use crate::consent::is_consent;
use crate::progress::Progress;

/// A script at its last goal, with messages of an assistant.
#[derive(serde::Deserialize)]
struct Case {
    /// The openings of its goals.
    user: Vec<String>,
    withheld: Vec<WithheldDetail>,
    lines: Vec<String>,
    /// Offers that contradict the script, with the words that the answer must have.
    altered: Vec<Message>,
    /// Offers that the script agrees with or leaves open.
    #[serde(rename = "true")]
    right: Vec<String>,
    asked: Vec<Message>,
    #[serde(default)]
    held_out: bool,
}

#[derive(serde::Deserialize)]
struct Message {
    message: String,
    has: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
}

/// Counts of messages by their answers.
#[derive(Debug, Default)]
struct Tally {
    altered: usize,
    /// Altered offers that got a yes.
    agreed: usize,
    right: usize,
    /// Right offers that got no yes.
    denied: usize,
    /// Altered offers and questions.
    contents: usize,
    /// Answers that lack required words or have forbidden ones.
    wrong: usize,
}

impl Case {
    fn add_to(&self, tally: &mut Tally) {
        let mut goals: Vec<Goal> =
            self.user.iter().map(|user| Goal { user: user.clone(), ..Goal::default() }).collect();
        let last = goals.len() - 1;
        goals[last].withheld.clone_from(&self.withheld);
        goals[last].lines.clone_from(&self.lines);
        let script = Script { goals, ..Script::default() };
        let progress = Progress { goal: last as u32, ..Progress::default() };
        let says = |message: &str| hear(&script, &progress, message, &[]).content.unwrap_or_default();
        let is_yes = |answer: &str| {
            let is_line = self.lines.iter().any(|line| line == answer && is_consent(line));
            is_line || answer.starts_with("Yes") || answer == "Please go ahead."
        };
        for offer in &self.altered {
            let answer = says(&offer.message);
            tally.altered += 1;
            tally.contents += 1;
            if is_yes(&answer) {
                tally.agreed += 1;
                println!("AGREED  {} -> {answer} | {:?}", offer.message, offer.has);
            }
            if !offer.is_answered_by(&answer) {
                tally.wrong += 1;
                println!("CONTENT {} -> {answer} | {:?}", offer.message, offer.has);
            }
        }
        for offer in &self.right {
            let answer = says(offer);
            tally.right += 1;
            if !is_yes(&answer) {
                tally.denied += 1;
                println!("DENIED  {offer} -> {answer}");
            }
        }
        for question in &self.asked {
            let answer = says(&question.message);
            tally.contents += 1;
            if !question.is_answered_by(&answer) {
                tally.wrong += 1;
                println!(
                    "ASKED   {} -> {answer} | {:?} not {:?}",
                    question.message, question.has, question.lacks
                );
            }
        }
    }
}

impl Message {
    fn is_answered_by(&self, answer: &str) -> bool {
        self.has.iter().all(|part| answer.contains(&**part))
            && !self.lacks.iter().any(|part| answer.contains(&**part))
    }
}

fn tally<'a>(cases: impl Iterator<Item = &'a Case>) -> Tally {
    let mut tally = Tally::default();
    cases.for_each(|case| case.add_to(&mut tally));
    println!("{tally:?}");
    tally
}

fn cases(text: &str) -> Vec<Case> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_altered_offer_is_denied_and_a_right_one_accepted() {
    let cases = cases(include_str!("../../offers.jsonl"));
    // The shares that may fail: altered offers with a yes, right ones without, and wrong contents.
    // The held-out half was not read while the code was written.
    for (held_out, most) in [(false, (0.0, 0.0, 0.07)), (true, (0.12, 0.04, 0.25))] {
        let tally = tally(cases.iter().filter(|case| case.held_out == held_out));
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let (agreed, denied) = (share(tally.agreed, tally.altered), share(tally.denied, tally.right));
        let wrong = share(tally.wrong, tally.contents);
        let is_kept = agreed <= most.0 && denied <= most.1 && wrong <= most.2;
        assert!(is_kept, "held out {held_out}: {tally:?}");
    }
}

/// Measures cases from standard input.
#[test]
#[ignore = "reads standard input"]
fn measures_offers_of_the_caller() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    tally(cases(&text).iter());
}

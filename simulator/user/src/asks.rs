//! Decides which withheld details a message asks for, by name or by meaning.
//!
//! This module scores each clause that asks against each detail. `recipes/user_questions` fitted the weights
//! by logistic regression on the questions beside this file that are not `held_out`. The last two weights
//! are chosen by hand, on the same questions. The tests measure both halves.

use std::sync::LazyLock;

use diorama_seeds::script::WithheldDetail;

use super::detail::Detail;
use super::form::Form;
use super::message::Sentence;
use super::phrases::SMALL_TALK;
use super::topic::{AskedKinds, Kinds, Topic};
use super::turn::Turn;
use super::vocabulary::{PROVING, SECRETS, SIGNING_IN};
use super::words::{Word, words};

static SMALL_TALK_TOPICS: LazyLock<Vec<Topic>> =
    LazyLock::new(|| SMALL_TALK.iter().map(|text| Topic::from_words(&words(text))).collect());

/// Evidence for and against a clause asking for a detail.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Signs {
    /// All words of a name are in the clause.
    pub(super) named: bool,
    /// The cosine with the nearest text about the detail.
    pub(super) near: f32,
    /// The cosine of the thing asked for with the nearest name of the detail.
    pub(super) near_head: f32,
    /// The lead over the next detail, in cosine.
    pub(super) margin: f32,
    /// Another detail is named, and this one is not.
    pub(super) other_named: bool,
    /// The clause asks for a thing that the user's messages name.
    pub(super) head_said: bool,
    /// The clause asks for a thing that no name or example question of the detail has.
    pub(super) head_strange: bool,
    /// Texts about the detail ask for the same kind of answer.
    pub(super) same_kind: bool,
    /// Only this detail's answer is of the kind asked for.
    pub(super) only_kind: bool,
    /// The detail's answer is not of the kind asked for.
    pub(super) other_kind: bool,
    /// The cosine with the detail's answer.
    pub(super) near_answer: f32,
    /// No other detail is withheld.
    pub(super) only_detail: bool,
    /// The sentence is a statement that may imply a missing value.
    pub(super) is_hint: bool,
}

/// The weights of the signs, in the order of [`Signs::values`], and the constant.
const WEIGHTS: [f32; 14] =
    [1.73, 1.23, 2.17, 2.5, -0.64, -0.96, -0.56, 1.09, 1.21, -1.6, 1.22, -1.09, -0.8, -1.95];

impl Signs {
    /// Returns the signs as numbers: flags as 0 or 1, and 1 for the constant.
    pub(super) fn values(&self) -> [f32; 14] {
        let flag = |is: bool| if is { 1.0 } else { 0.0 };
        [
            flag(self.named),
            self.near,
            self.near_head,
            self.margin,
            flag(self.other_named),
            flag(self.head_said),
            flag(self.head_strange),
            flag(self.same_kind),
            flag(self.only_kind),
            flag(self.other_kind),
            self.near_answer,
            flag(self.only_detail),
            flag(self.is_hint),
            1.0,
        ]
    }

    /// Returns the score. The clause asks for the detail if it is above 0.
    fn score(&self) -> f32 {
        self.values().iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum()
    }
}

/// From this cosine on, a clause is small talk, unless a detail is nearer.
const SMALL_TALK_NEARNESS: f32 = 0.8;

/// A clause with its signs for each detail.
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) signs: Vec<Signs>,
    /// True if it asks without a noun: `What should it be?`
    is_bare: bool,
    /// True if it may ask for several things.
    joins: bool,
    /// The details that it cannot be about: a secret that it does not ask for, or the other end of the thing
    /// asked for.
    barred: Vec<bool>,
}

/// Returns the details that a message asks for, by position. A question that could mean any detail asks for
/// the first new one.
pub(super) fn find_asked_details(
    turn: &Turn,
    withheld: &[WithheldDetail],
    revealed: &[u32],
    said: &[&str],
) -> Vec<usize> {
    let sentences = &turn.sentences;
    let may_ask = |form: Form| form.may_ask() || matches!(form, Form::Offer | Form::Check);
    if withheld.is_empty() || !sentences.iter().any(|one| may_ask(one.form)) {
        return Vec::new();
    }
    let details: Vec<Detail> = withheld.iter().map(Detail::read).collect();
    let is_new = |at: &usize| !revealed.contains(&(*at as u32));
    let mut asked: Vec<usize> = Vec::new();
    let clauses = read(sentences, &details, said);
    for clause in &clauses {
        let scores: Vec<f32> = clause.signs.iter().map(Signs::score).collect();
        // The assistant may mention a detail in any statement, once the user has told it.
        let fits = |at: &usize| {
            let is_hint = clause.signs.iter().any(|signs| signs.is_hint);
            scores[*at] > 0.0 && !clause.barred[*at] && (is_new(at) || !is_hint)
        };
        let best = (0..scores.len()).filter(fits).max_by(|one, other| {
            // Of equal scores, a new detail wins, and then the first.
            scores[*one].total_cmp(&scores[*other]).then(is_new(one).cmp(&is_new(other))).then(other.cmp(one))
        });
        let taken = |at: &usize| clause.joins || clause.signs[*at].named || Some(*at) == best;
        asked.extend((0..scores.len()).filter(fits).filter(taken));
    }
    // The assistant asks for credentials by such a statement: `I need to verify your identity first.`
    let proves = |one: &Sentence| {
        (one.form.may_ask() || one.form == Form::Check)
            && one.words.iter().any(|word| word.is_one_of(&PROVING))
    };
    if asked.is_empty() && sentences.iter().any(proves) {
        asked.extend((0..details.len()).filter(|at| details[*at].is_secret && is_new(at)));
    }
    if asked.is_empty() && clauses.iter().any(|clause| clause.is_bare) {
        asked.extend(next_choice(sentences, &details, is_new));
    }
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// Returns the detail for a question without a noun: the one that the message mentions, else the first new
/// one.
/// The user chooses no secret and no address.
fn next_choice(sentences: &[Sentence], details: &[Detail], is_new: impl Fn(&usize) -> bool) -> Option<usize> {
    let is_open = |at: &usize| is_new(at) && !details[*at].is_secret && !details[*at].is_address;
    let open: Vec<usize> = (0..details.len()).filter(is_open).collect();
    let spoken: Vec<String> = sentences.iter().flat_map(|one| Topic::stems_of(&one.words)).collect();
    let is_spoken_of = |at: &&usize| details[**at].answer.meets(&spoken);
    open.iter().find(is_spoken_of).or(open.first()).copied()
}

/// Returns the clauses of a message that ask, scored against each detail.
pub(super) fn read(sentences: &[Sentence], details: &[Detail], said: &[&str]) -> Vec<Clause> {
    let mut known = UserWords::default();
    for text in said {
        let words = words(text);
        known.stems.extend(Topic::stems_of(&words));
        known.kinds = known.kinds.union(Kinds::from_answer(&words));
    }
    let asking = sentences.iter().filter(|one| one.form.may_ask());
    let clauses = asking.flat_map(|sentence| {
        sentence.clauses.iter().map(|range| (sentence.form, sentence.words.get(range.clone())))
    });
    clauses
        .filter_map(|(form, words)| score_clause(form, words.unwrap_or_default(), details, &known))
        .collect()
}

/// The words of the user's messages.
#[derive(Debug, Default)]
struct UserWords {
    stems: Vec<String>,
    /// The kinds of answer that they contain.
    kinds: Kinds,
}

/// Scores a clause; returns none for small talk.
fn score_clause(form: Form, words: &[Word], details: &[Detail], known: &UserWords) -> Option<Clause> {
    let topic = Topic::from_words(words);
    let head = match form {
        Form::Fragment => (!topic.is_empty()).then(|| topic.clone()),
        _ => Topic::from_head(words),
    };
    let asked = AskedKinds::from_clause(words);
    let near: Vec<f32> = details.iter().map(|detail| detail.nearness(&topic)).collect();
    let small_talk = SMALL_TALK_TOPICS.iter().map(|known| known.nearness(&topic)).fold(0.0, f32::max);
    if small_talk >= SMALL_TALK_NEARNESS && near.iter().all(|near| *near < small_talk) {
        return None;
    }
    let named: Vec<bool> = details.iter().map(|detail| detail.is_named(&topic)).collect();
    let fits = |detail: &Detail| asked.kinds.intersection(detail.answer_kinds).has_any();
    let is_unfit =
        |detail: &Detail| asked.strict.has_any() && !asked.strict.intersection(detail.answer_kinds).has_any();
    let asks_for_secret = words.iter().any(|word| word.is_one_of(&SECRETS) || word.is_one_of(&SIGNING_IN));
    let signs = details.iter().enumerate().map(|(at, detail)| {
        let others = || (0..details.len()).filter(|other| *other != at);
        // The detail `the desk lamp` answers `Which lamp?`
        let in_answer = head.as_ref().is_some_and(|head| head.meets(&detail.answer.stems));
        let near_head = if in_answer { 1.0 } else { detail.target_nearness(head.as_ref().unwrap_or(&topic)) };
        let strange = head.as_ref().filter(|head| !detail.shares_target(head) && !in_answer);
        let other_kind = is_unfit(detail) || asked.reason;
        Signs {
            named: named[at] && strange.is_none(),
            near: near[at],
            near_head,
            margin: near[at] - others().map(|other| near[other]).fold(0.0, f32::max),
            other_named: !named[at] && others().any(|other| named[other]),
            head_said: strange.is_some_and(|head| head.is_within(&known.stems)),
            head_strange: strange.is_some(),
            same_kind: !other_kind && asked.kinds.intersection(detail.asked).has_any(),
            only_kind: fits(detail)
                && !others()
                    .any(|other| fits(&details[other]) && (asks_for_secret || !details[other].is_secret)),
            other_kind,
            near_answer: topic.nearness(&detail.answer),
            only_detail: details.len() == 1,
            is_hint: form == Form::Hint,
        }
    });
    let signs = signs.collect();
    let person = asked_person(words);
    let barred = details
        .iter()
        .zip(&named)
        .map(|(detail, named)| {
            // `Which day was that for?` asks for no detail if the user said the day and the detail is none.
            let was_said = is_unfit(detail) && !named && asked.strict.intersection(known.kinds).has_any();
            let is_kept = detail.is_secret && !asks_for_secret && !detail.shares_target(&topic);
            is_kept
                || was_said
                || head.as_ref().is_some_and(|head| detail.is_converse(head))
                || person.as_ref().is_some_and(|noun| !detail.texts.iter().any(|text| text.meets(noun)))
        })
        .collect();
    let joins = words.iter().any(|word| word.text == "and");
    // `Which one is near you?` has its noun in an earlier sentence.
    let has_no_noun = head.is_none()
        || words.windows(2).any(|pair| pair[0].text == "which" && pair[1].is_one_of(&["one", "ones"]));
    let is_bare = form != Form::Hint && has_no_noun && asks_barely(words, &topic);
    Some(Clause { signs, is_bare, joins, barred })
}

/// Returns the stems of the person that a question asks for: `who is the [sender]`. Only a detail of that
/// name answers it.
fn asked_person(words: &[Word]) -> Option<Vec<String>> {
    let asked = words.windows(4).find(|four| {
        four[0].is_one_of(&["who", "whos"]) && four[1].is_one_of(&["is", "s"]) && four[2].text == "the"
    })?;
    let stems = Topic::stems_of(&asked[3..]);
    (!stems.is_empty()).then_some(stems)
}

/// Returns true if a clause asks without a noun: `What should it be?`, `Which one shall I take?`
fn asks_barely(words: &[Word], topic: &Topic) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| word.is_one_of(wanted));
    has(&["which", "wich"]) || (has(&["what", "whats"]) && topic.is_empty() && !has(&["do", "did", "you"]))
}

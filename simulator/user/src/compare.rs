//! Compares the offers of an assistant with the wants of the user: by values, choices, number, action and
//! topic.
//!
//! This module must not know how the user words an answer.

use diorama_engine::Base;
use diorama_seeds::script::{Goal, WithheldDetail};

use super::calls::WantedCalls;
use super::choices::find_other_choice;
use super::conflict::{Conflict, conflict, is_backed};
use super::detail::Detail;
use super::fit::{Correction, Fit};
use super::form::{Form, plans};
use super::mentions::{Mention, Value};
use super::message::Sentence;
use super::phrases::{AUXILIARIES, OPENERS, QUESTION_WORDS};
use super::roles::{is_asserted, is_wanted, subject};
use super::scope::{asks_for_all, asks_for_part, asks_for_several};
use super::source::Source;
use super::ties::MIN_BARE_AMOUNT;
use super::tokens::Token;
use super::topic::Topic;
use super::turn::{Act, Kind, Turn};
use super::verbs::{actions, asks_removal, content, find_new_kind, makes_wanted, object, predicate, verb};
use super::vocabulary::{
    Action, COSTS, GENERIC, LOOKS, Link, PURCHASES, SETTINGS, action, is_common, is_one_of,
};
use super::wants::Wants;
use super::words::words;

/// From this cosine on, an offer concerns the user's request.
const MIN_NEARNESS: f32 = 0.35;

/// The user's reason not to agree to an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// The offer has other values than the user wants.
    Values(Vec<Correction>),
    /// The offer does something else, or more than the user wants.
    OtherAction,
    /// The statements before the offer may contradict the user.
    Doubt,
}

/// The user's view of the offers of a message.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The weightiest objection.
    pub(super) objection: Option<Objection>,
    /// True if the message offers or confirms something that the user wants.
    pub(super) agrees: bool,
}

/// Compares the offers of a message with the user's wants.
pub(super) fn compare(
    turn: &Turn,
    goal: &Goal,
    wants: &Wants,
    calls: &WantedCalls,
    base: &Base,
) -> Comparison {
    let withheld = &*goal.withheld;
    let mut found = Comparison::default();
    let mut objections: Vec<Objection> = Vec::new();
    match conflict(turn, goal, calls, wants, wants.today()) {
        Some(Conflict::Value(Correction::Detail(at))) if withheld.get(at).is_some_and(is_secret) => {}
        Some(Conflict::Value(correction)) => objections.push(Objection::Values(vec![correction])),
        Some(Conflict::OtherAction) => objections.push(Objection::OtherAction),
        None => {}
    }
    let agrees_with_calls = objections.is_empty();
    let is_backed = |act: &Act| agrees_with_calls && is_backed(act, calls, wants, wants.today());
    let is_plan_backed = turn.acts.iter().any(|act| act.kind == Kind::Announces && is_backed(act));
    for (at, (sentence, act)) in turn.parts().enumerate() {
        if !matches!(act.kind, Kind::Offers | Kind::Confirms | Kind::Announces) {
            continue;
        }
        // The assistant offers a wanted call, or asks leave for one.
        let is_bare =
            act.kind == Kind::Offers && act.reading.mentions.is_empty() && sentence.may_ask_leave(|_| false);
        let is_question = act.kind == Kind::Confirms && sentence.asks_fact();
        let is_call =
            sentence.form != Form::Extra && ((is_backed(act) && !is_question) || (is_plan_backed && is_bare));
        let mut corrections: Vec<Correction> = Vec::new();
        let mut is_same = false;
        // The wanted calls judge what a statement tells of a record: `The amount is 650.`
        let is_statement = act.kind == Kind::Announces && !calls.is_empty() && !plans(&sentence.words);
        let is_compared = |mention: &&Mention| {
            let tells = is_statement && subject(&act.reading, mention).is_some();
            is_asserted(mention) && !tells
        };
        for mention in act.reading.mentions.iter().filter(is_compared) {
            match wants.fit(mention, &act.reading) {
                _ if is_wanted(mention, calls, wants.today()) => is_same = true,
                Fit::Same => is_same = true,
                Fit::New => {}
                Fit::Other(correction) if corrections.contains(&correction) => {}
                Fit::Other(correction) => corrections.push(correction),
            }
        }
        if is_call {
            corrections.clear();
        }
        let details = if act.kind == Kind::Offers { withheld } else { &[] };
        corrections.extend(find_other_choice(&act.reading, wants, (details, calls), base));
        corrections.extend(wants.find_partner(&act.reading));
        // The user tells a secret only when asked for it.
        corrections.retain(|correction| match correction {
            Correction::Detail(at) => !withheld.get(*at).is_some_and(is_secret),
            Correction::Words(_) => true,
        });
        corrections.dedup();
        if corrections.is_empty() && !is_call {
            corrections.extend(wants.find_other_shown(&act.reading));
        }
        // The statements before a bare question for leave decide what the assistant asks leave for.
        if is_bare && !calls.is_empty() {
            if is_call || !is_doubtful(&turn.acts[..at], wants) {
                found.agrees = true;
            } else {
                objections.push(Objection::Doubt);
            }
            continue;
        }
        let announces = act.kind == Kind::Announces;
        let does_wanted =
            verb(act).is_some_and(|verb| calls.is_verb(&verb.stem) || makes_wanted(act, verb, calls));
        let is_judged = does_wanted || is_call || is_statement;
        let does_otherwise = !is_judged && does_otherwise(act, wants, calls);
        if !corrections.is_empty() && !does_otherwise {
            objections.push(Objection::Values(corrections));
            continue;
        }
        let verbs = actions(&act.reading);
        let is_led = !calls.is_empty() && turn.has(Kind::Offers);
        let reads =
            verbs.iter().all(|verb| *verb == Action::Read) && !(verbs.is_empty() && (is_led || !announces));
        let has_other_scope = || {
            asks_for_all(&act.reading, wants)
                || asks_for_several(&act.reading, wants)
                || asks_for_part(&act.reading, wants)
        };
        if does_otherwise || (!reads && has_other_scope()) {
            objections.push(Objection::OtherAction);
            continue;
        }
        if announces {
            found.agrees |= is_same;
            continue;
        }
        if act.kind == Kind::Confirms {
            let is_about = is_same && !is_question;
            found.agrees |= is_call || is_about || is_known(act, wants);
            continue;
        }
        if is_call {
            found.agrees = true;
            continue;
        }
        if !does_wanted && does_unasked(act, wants) {
            // The user wants another call than this one.
            objections.push(if calls.is_empty() { Objection::Doubt } else { Objection::OtherAction });
            continue;
        }
        if is_elsewhere(sentence, act, wants, calls, is_same) {
            objections.push(Objection::OtherAction);
            continue;
        }
        // The assistant offers the values before the question: `Friday at eight, for twelve. Shall I?`
        if act.reading.mentions.is_empty() && is_doubtful(&turn.acts[..at], wants) {
            objections.push(Objection::Doubt);
            continue;
        }
        found.agrees = true;
    }
    objections.sort_by_key(|objection| match objection {
        Objection::Values(_) => 0,
        Objection::OtherAction => 1,
        Objection::Doubt => 2,
    });
    found.objection = objections.into_iter().next();
    found
}

fn is_secret(detail: &WithheldDetail) -> bool {
    Detail::read(detail).is_secret
}

/// Returns true if the user said each content word of an offer: `Did you want to see a dentist?`
fn is_known(act: &Act, wants: &Wants) -> bool {
    let content = content(act);
    !content.is_empty() && content.iter().all(|stem| wants.knows(stem))
}

/// Returns true if a statement before an offer has another value than the user wants.
fn is_doubtful(before: &[Act], wants: &Wants) -> bool {
    let statements = before.iter().filter(|act| matches!(act.kind, Kind::Reports | Kind::Remarks));
    statements.into_iter().any(|act| {
        let costs = act.reading.tokens.iter().any(|token| COSTS.contains(&&*token.text));
        let weighs = |mention: &&Mention| match &mention.value {
            Value::Day(_) | Value::Time(_) => true,
            Value::Number { unit, .. } => unit.is_some() || !mention.nouns.is_empty(),
            Value::Money(_) => !costs,
            Value::Name(_) => mention.link == Link::Place,
            Value::Code(_) | Value::Phrase(_) => false,
        };
        let mut mentions = act.reading.mentions.iter().filter(|mention| !mention.is_denied).filter(weighs);
        mentions.any(|mention| matches!(wants.fit_goal(mention, &act.reading), Fit::Other(_)))
    })
}

/// Returns true if an offer changes something in another way than the user wants.
fn does_otherwise(act: &Act, wants: &Wants, calls: &WantedCalls) -> bool {
    let mut offered: Vec<Action> =
        actions(&act.reading).into_iter().filter(|one| *one != Action::Read).collect();
    if asks_removal(&act.reading) {
        offered.push(Action::Remove);
    }
    if offered.is_empty() || offered.iter().any(|one| calls.has_effect(*one)) {
        return false;
    }
    let mut wanted: Vec<Action> = Vec::new();
    for source in wants.goal_sources() {
        wanted.extend(actions(&source.reading));
        if asks_removal(&source.reading) {
            wanted.push(Action::Remove);
        }
        if source.reading.tokens.iter().any(|token| SETTINGS.contains(&&*token.text)) && !wanted.is_empty() {
            wanted.push(Action::Change);
        }
    }
    wanted.retain(|one| *one != Action::Read);
    let has = |one: Action| wanted.contains(&one);
    if wanted.is_empty() {
        let own = || wants.current_sources().filter(|source| source.detail.is_none());
        let mut mentions = own().flat_map(|source| &source.reading.mentions);
        let has_sum = mentions.any(|mention| match mention.value {
            Value::Money(_) => true,
            Value::Number { value, unit: None, .. } => value >= MIN_BARE_AMOUNT,
            _ => false,
        });
        let harms = |one: &Action| *one == Action::Remove || (*one == Action::Pay && !has_sum);
        return has_only_questions(wants) || offered.iter().any(harms);
    }
    let buys = || {
        let mut tokens = wants.current_sources().flat_map(|source| &source.reading.tokens);
        tokens.any(|token| is_one_of(&token.stem, &PURCHASES))
    };
    !offered.iter().any(|one| match one {
        Action::Remove => has(Action::Remove),
        Action::Add => has(Action::Add) || has(Action::Change),
        Action::Change => has(Action::Change) || has(Action::Add),
        Action::Pay => has(Action::Pay) || has(Action::Change) || (has(Action::Add) && buys()),
        Action::Read => true,
    })
}

/// Returns true if an offer acts where the user only wants information.
fn does_unasked(act: &Act, wants: &Wants) -> bool {
    let Some(predicate) = predicate(&act.reading) else { return false };
    let verb = predicate.iter().find(|token| !is_common(&token.text) && !GENERIC.contains(&&*token.text));
    let harmless =
        |token: &Token| action(&token.stem) == Some(Action::Read) || is_one_of(&token.stem, &LOOKS);
    verb.is_some_and(|verb| !harmless(verb)) && has_only_questions(wants)
}

/// Returns true if the open goal only asks for information.
fn has_only_questions(wants: &Wants) -> bool {
    let own = || wants.goal_sources().filter(|source| source.detail.is_none());
    own().all(inquires) && own().next().is_some()
}

/// Returns true if a text only asks for information and requests no action.
fn inquires(source: &Source) -> bool {
    let tokens = &source.reading.tokens;
    let Some(lead) = tokens.iter().find(|token| !OPENERS.contains(&&*token.text)) else { return false };
    let asks = tokens.iter().any(|token| QUESTION_WORDS.contains(&&*token.text));
    let is_modal = |word: &str| {
        matches!(word, "can" | "could" | "would" | "will" | "may" | "might" | "should" | "shall")
    };
    let orders = tokens.windows(2).any(|pair| is_modal(&pair[0].text) && pair[1].text == "you")
        || is_modal(&lead.text);
    let begs = tokens
        .iter()
        .any(|token| matches!(&*token.text, "please" | "pls" | "plz" | "want" | "like" | "need"));
    let inverts = AUXILIARIES.contains(&&*lead.text) || lead.text == "any";
    !orders && !begs && (asks || (inverts && source.reading.source.contains('?')))
}

/// Returns true if an offer concerns something that neither the user nor a reply mentioned.
fn is_elsewhere(sentence: &Sentence, act: &Act, wants: &Wants, calls: &WantedCalls, is_same: bool) -> bool {
    if is_same {
        return false;
    }
    let is_extra = sentence.form == Form::Extra;
    let is_known = |word: &str| wants.knows(word) || wants.has_form_of(word) || calls.knows(word);
    let content = content(act);
    if is_extra {
        let knows = content.iter().any(|word| is_known(word));
        return !knows || (!act.reading.mentions.is_empty() && actions(&act.reading).is_empty());
    }
    if find_new_kind(act).is_some_and(|word| !is_known(&word)) {
        return true;
    }
    let object = object(act);
    if object.is_empty() || asks_removal(&act.reading) || object.iter().any(|word| is_known(word)) {
        return false;
    }
    // The assistant does no harm by a search.
    let verbs = actions(&act.reading);
    if !verbs.is_empty() && verbs.iter().all(|verb| *verb == Action::Read) {
        return false;
    }
    let topic = Topic::from_words(&sentence.words);
    let nearness = |source: &Source| Topic::from_words(&words(&source.reading.source)).nearness(&topic);
    !wants.goal_sources().any(|source| nearness(source) >= MIN_NEARNESS)
}

//! Compares the offers of a message with the calls that the user wants: by effect, typed values and names.
//!
//! This module must not know how the user words an answer.

use diorama_seeds::english::{fold, stem};
use diorama_seeds::script::Goal;
use diorama_seeds::value::Date;

use super::calls::{WantedCalls, WantedValue, has_name};
use super::fit::Correction;
use super::lead::Lead;
use super::mentions::{Mention, Reading, Value};
use super::roles::{
    is_asserted, is_label, is_labelled_otherwise, is_wanted, label, shares_noun, shares_role, subject,
};
use super::ties::is_equal;
use super::tokens::{Token, tokens};
use super::turn::{Act, Kind, Turn};
use super::verbs::{is_specific, makes_wanted, verb, verbs};
use super::vocabulary::{Action, DETERMINERS, GENERIC, LINKS, Link, ONLY, action, is_common, is_one_of};
use super::wants::Wants;
use super::wording::find_correction;

/// The greatest number of words between a negation and its noun.
const MAX_WORDS_TO_DENIED: usize = 4;
/// The fewest words of a clause that states the content of a text.
const MIN_PROSE_WORDS: usize = 2;

/// A difference between an offer and the wanted calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The user wants another value, and has words for it.
    Value(Correction),
    /// The user wants something else, and has no word for it.
    OtherAction,
}

/// Returns the difference between the offer of a message and the wanted calls, if there is one.
pub(super) fn conflict(
    turn: &Turn,
    goal: &Goal,
    calls: &WantedCalls,
    wants: &Wants,
    today: Date,
) -> Option<Conflict> {
    if calls.is_empty() {
        return None;
    }
    let lead = Lead::find(turn)?;
    let values = || {
        let by_mention = lead.acts.iter().find_map(|act| {
            let mentions = act.reading.mentions.iter().filter(|own| is_asserted(own));
            mentions.into_iter().find_map(|own| other_value((act, own), &lead, calls, wants, today))
        });
        let by_name = |is_choice: bool| {
            let values = calls.values.iter().filter(move |value| value.is_choice == is_choice);
            let others = values.filter(|value| names_other(value, &lead, calls, wants));
            // The longest name identifies the value best.
            others.max_by_key(|value| value.name.as_ref().map_or(0, String::len))
        };
        let (by_record, by_choice) = (|| by_name(false), || by_name(true));
        let by_part = || calls.values.iter().find(|value| changes_name(value, &lead, calls, wants));
        let by_thing =
            || calls.values.iter().find(|value| names_strange_thing(value, turn, &lead, (calls, wants)));
        let by_prose = || calls.values.iter().find(|value| says_otherwise(value, &lead, calls, wants));
        by_mention.or_else(by_record).or_else(by_part).or_else(by_thing).or_else(by_choice).or_else(by_prose)
    };
    if does_other(turn, calls, wants)
        || adds_denied(&lead, calls, wants)
        || adds_other(&lead, calls, wants, today)
        || sets_other(&lead, calls, wants, today)
        || offers_part(&lead, calls, wants, today)
        || leaves_out(&lead, calls)
    {
        return Some(Conflict::OtherAction);
    }
    values().map(|value| find_correction(value, goal, wants).map_or(Conflict::OtherAction, Conflict::Value))
}

/// Returns true if all mentions of an act are wanted or known, and it has one that is wanted, a wanted name or
/// a wanted verb.
pub(super) fn is_backed(act: &Act, calls: &WantedCalls, wants: &Wants, today: Date) -> bool {
    if calls.is_empty() {
        return false;
    }
    let folded = fold(&act.reading.source);
    let mentions = || act.reading.mentions.iter().filter(|own| is_asserted(own));
    // The assistant may say what follows from the wanted number: `Taking 120 g off leaves 180 g`.
    let has_wanted = |own: &Mention| {
        mentions().any(|other| {
            let is_alike = other.span != own.span && other.value.is_alike(&own.value);
            is_alike && own.link != Link::To && is_wanted(other, calls, today)
        })
    };
    let is_known = |own: &Mention| match &own.value {
        Value::Name(words) => {
            words.iter().all(|word| is_common(word) || calls.knows(&stem(word)) || wants.says_now(word))
        }
        Value::Phrase(_) => true,
        _ => is_wanted(own, calls, today) || calls.tells(own, today) || has_wanted(own),
    };
    let is_wanted_name =
        |value: &WantedValue| value.name.as_ref().is_some_and(|name| has_name(&folded, name));
    let is_strange = |token: &Token| {
        is_strange(token, calls, wants) && verb(act).is_none_or(|verb| verb.span != token.span)
    };
    (act.kind != Kind::Offers || !act.reading.tokens.iter().any(is_strange))
        && mentions().all(is_known)
        && (mentions().any(|own| is_wanted(own, calls, today))
            || calls.values.iter().any(is_wanted_name)
            || verb(act).is_some_and(|verb| calls.is_verb(&verb.stem)))
}

/// Returns true if an offer joins another record to a wanted one: `SO-1042 and SO-1043`.
fn adds_other(lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants, today: Date) -> bool {
    let is_joint = |act: &Act, one: &Mention, two: &Mention| {
        let between = act
            .reading
            .tokens
            .iter()
            .filter(|token| token.span.start >= one.span.end && token.span.end <= two.span.start);
        let mut joins = two.span.start <= one.span.end + 2;
        for token in between {
            if token.text == "and" || token.text == "plus" {
                joins = true;
            } else if !DETERMINERS.contains(&&*token.text) {
                return false;
            }
        }
        joins
    };
    lead.plans().any(|act| {
        let codes = act.reading.mentions.iter().filter(|own| matches!(own.value, Value::Code(_)));
        let codes: Vec<&Mention> = codes.filter(|own| is_asserted(own)).collect();
        codes.windows(2).any(|pair| {
            let is_own = |own: &Mention| is_wanted(own, calls, today);
            let is_known = |own: &Mention| is_own(own) || calls.tells(own, today) || wants.says_value(own);
            is_joint(act, pair[0], pair[1])
                && (is_own(pair[0]) || is_own(pair[1]))
                && !(is_known(pair[0]) && is_known(pair[1]))
        })
    })
}

/// Returns true if an offer sets a number that neither the user nor a wanted record has: `bring it down to 2`.
fn sets_other(lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants, today: Date) -> bool {
    let has_number = calls
        .values
        .iter()
        .filter(|value| !value.is_record)
        .flat_map(WantedValue::mentions)
        .any(|own| matches!(own.value, Value::Number { .. } | Value::Money(_)));
    !has_number
        && lead.plans().flat_map(|act| &act.reading.mentions).any(|own| {
            let is_target = own.link == Link::To && !own.is_denied;
            is_target
                && matches!(own.value, Value::Number { .. } | Value::Money(_))
                && !(calls.tells(own, today) || wants.says_value(own))
        })
}

/// Returns true if an offer names some of several wanted records, and leaves out the others.
fn leaves_out(lead: &Lead<'_>, calls: &WantedCalls) -> bool {
    let limits = lead.plans().any(|act| act.reading.tokens.iter().any(|token| ONLY.contains(&&*token.text)));
    calls.lists.iter().filter(|list| list.records.len() > 1).any(|list| {
        let named = list.count_named(&lead.folded);
        named > 0 && named < list.records.len() && (named > 1 || limits)
    })
}

/// Returns true if an offer has the effect of another API than the wanted ones.
fn does_other(turn: &Turn, calls: &WantedCalls, wants: &Wants) -> bool {
    let has_offer = turn.has(Kind::Offers);
    let offers = turn.acts.iter().filter(|act| match act.kind {
        Kind::Offers | Kind::Confirms => true,
        // The assistant offers what it announces if it asks leave, too.
        Kind::Announces => has_offer,
        _ => false,
    });
    offers.flat_map(|act| verbs(act).map(move |verb| (act, verb))).any(|(act, verb)| {
        let is_same_kind = || {
            let effect = action(&verb.stem).filter(|effect| *effect != Action::Read);
            effect.is_some() && calls.verbs().any(|wanted| action(wanted) == effect)
        };
        let objects: Vec<&str> = act
            .reading
            .tokens
            .iter()
            .filter(|token| token.span.start > verb.span.start)
            .map(|token| &*token.stem)
            .collect();
        !is_one_of(&verb.stem, &GENERIC)
            && calls.is_other(&verb.stem, &objects)
            && !is_same_kind()
            && !makes_wanted(act, verb, calls)
            && !wants.asks_to(&verb.stem)
    })
}

/// Returns true if an offer includes an optional part that the user declined: `with a letter`.
fn adds_denied(lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let is_denied = |tokens: &[Token], stem: &str| {
        tokens.iter().position(|token| token.stem == stem).map(|at| {
            let before = &tokens[at.saturating_sub(MAX_WORDS_TO_DENIED)..at];
            before.iter().any(|token| is_negation(&token.text))
        })
    };
    calls.left_out.iter().any(|stem| {
        let denies = |reading: &Reading| is_denied(&reading.tokens, stem) == Some(true);
        wants.current_sources().any(|source| denies(&source.reading))
            && lead.acts.iter().any(|act| is_denied(&act.reading.tokens, stem) == Some(false))
    })
}

/// Returns true if a word negates what follows it.
fn is_negation(word: &str) -> bool {
    matches!(word, "no" | "not" | "t" | "without" | "never" | "dont" | "doesnt")
}

/// Returns true if an offer pays a part that the user did not mention: `50 euros of the bill`.
fn offers_part(lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants, today: Date) -> bool {
    let Some(offer) = lead.acts.last() else { return false };
    offer.reading.mentions.iter().any(|mention| {
        let next = offer.reading.tokens.iter().find(|token| token.span.start >= mention.span.end);
        matches!(mention.value, Value::Money(_))
            && mention.link == Link::Object
            && next.is_some_and(|next| next.text == "of")
            && !is_wanted(mention, calls, today)
            && !wants.says_value(mention)
    })
}

/// Returns the wanted value that a mention replaces, if the message lacks that value.
fn other_value<'a>(
    (act, mention): (&Act, &Mention),
    lead: &Lead<'_>,
    calls: &'a WantedCalls,
    wants: &Wants,
    today: Date,
) -> Option<&'a WantedValue> {
    let reading = &act.reading;
    // The user wants no plan that sets a value which the record has already.
    let sets = matches!(act.kind, Kind::Announces | Kind::Offers)
        && match &mention.value {
            Value::Day(_) | Value::Time(_) => matches!(mention.link, Link::To | Link::Until),
            Value::Number { unit, .. } => {
                matches!(mention.link, Link::Object | Link::To)
                    && (unit.is_some() || !mention.nouns.is_empty())
            }
            _ => false,
        };
    let is_known = (!sets && calls.tells(mention, today)) || wants.says_value(mention);
    let has_other_label = |other: &Mention, own: &Mention| {
        !other.nouns.is_empty() && !own.nouns.is_empty() && !shares_noun(other, own)
    };
    let is_own = |value: &WantedValue| {
        value.mentions().any(|own| {
            own.value.is_alike(&mention.value)
                && is_equal(mention, own, today)
                && !has_other_label(mention, own)
                && !is_labelled_otherwise(reading, mention, value, calls)
        })
    };
    if is_known || calls.values.iter().any(is_own) {
        return None;
    }
    let numbers = calls.values.iter().flat_map(WantedValue::mentions);
    let numbers = numbers.filter(|own| matches!(own.value, Value::Number { .. } | Value::Money(_))).count();
    calls.values.iter().find(|value| {
        let is_said = |own: &Mention, value: &WantedValue| {
            lead.acts.iter().any(|act| {
                act.reading.mentions.iter().filter(|other| is_asserted(other)).any(|other| {
                    other.value.is_alike(&own.value)
                        && is_equal(other, own, today)
                        && !has_other_label(other, own)
                        && !is_labelled_otherwise(&act.reading, other, value, calls)
                })
            })
        };
        let is_labelled = label(reading, mention).is_some_and(|label| is_label(label, value));
        // `The sum owed is 132.60` says nothing of the number of months.
        let is_of_other = subject(reading, mention).is_some_and(|subject| !is_label(subject, value));
        value.mentions().any(|own| {
            let is_number = matches!(
                (&mention.value, &own.value),
                (Value::Number { unit: None, .. }, Value::Number { .. })
            );
            let has_role =
                shares_role(mention, own, value, numbers == 1 && !is_of_other) || (is_labelled && is_number);
            has_role && !is_said(own, value)
        })
    })
}

/// Returns true if a message has another name in the place of the wanted one. A name that the user said
/// earlier, and that no wanted call has, is another.
fn names_other(value: &WantedValue, lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let Some(name) = value.name.as_ref().filter(|_| !value.is_prose) else { return false };
    if lead.names(name) || (value.is_choice && !wants.says(name)) {
        return false;
    }
    let others = value.other_names.iter().filter(|other| {
        // A call may set the record to that status: `cancelled` is then no other name.
        !has_name(name, other) && !calls.has_text(other, value.is_record) && !calls.is_verb(&stem(other))
    });
    others.into_iter().any(|other| lead.names(other) && !wants.says_now(other))
}

/// Returns true if a message has the first or last word of a longer name, beside an unknown word: `Branch
/// meeting` for `Branch visit`.
fn changes_name(value: &WantedValue, lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let Some(name) = value.name.as_ref().filter(|_| !value.is_prose) else { return false };
    let wanted: Vec<Token> = tokens(name);
    let [first, .., last] = wanted.as_slice() else { return false };
    if has_name(&lead.folded, name) || !wants.says(name) {
        return false;
    }
    let is_strange =
        |token: &Token| is_strange(token, calls, wants) && !wanted.iter().any(|own| own.stem == token.stem);
    lead.acts.iter().flat_map(|act| act.reading.tokens.windows(2)).any(|pair| {
        let adjoins = !pair[1].after_mark && !pair[1].opens;
        adjoins
            && ((pair[0].text == first.text && is_strange(&pair[1]))
                || (pair[1].text == last.text && is_strange(&pair[0])))
    })
}

/// Returns true if an offer concerns an unknown thing in the place of one that the user named: `on your
/// tablet`.
fn names_strange_thing(
    value: &WantedValue,
    turn: &Turn,
    lead: &Lead<'_>,
    (calls, wants): (&WantedCalls, &Wants),
) -> bool {
    let Some(name) = value.name.as_ref().filter(|_| value.is_record) else { return false };
    if has_name(&lead.folded, name) || !wants.says(name) {
        return false;
    }
    let offers = turn.acts.iter().filter(|act| act.kind == Kind::Offers);
    offers.flat_map(|act| act.reading.tokens.windows(3)).any(|three| {
        let [before, owner, thing] = three else { return false };
        matches!(&*owner.text, "your" | "the")
            && !thing.after_mark
            && (LINKS.iter().any(|(word, _)| before.text == *word) || action(&before.stem).is_some())
            && is_strange(thing, calls, wants)
    })
}

/// Returns true if a content word is unknown to the user and to the wanted APIs.
fn is_strange(token: &Token, calls: &WantedCalls, wants: &Wants) -> bool {
    is_specific(token) && !wants.knows(&token.stem) && !calls.knows(&token.stem)
}

/// Returns true if a message states a text that shares no word with the wanted one: `saying that the hotel is
/// too dear`.
fn says_otherwise(value: &WantedValue, lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let Some(text) = value.name.as_ref().filter(|_| value.is_prose) else { return false };
    let own: Vec<Token> = tokens(text);
    lead.acts.iter().any(|act| {
        let tokens = &act.reading.tokens;
        let begins = tokens.iter().position(|token| matches!(&*token.text, "that" | "saying" | "because"));
        let Some(behind) = begins.and_then(|at| tokens.get(at + 1..)) else { return false };
        let content: Vec<&Token> = behind.iter().filter(|token| token.has_content()).collect();
        let strange = content.iter().filter(|token| !wants.knows(&token.stem) && !calls.knows(&token.stem));
        strange.count() >= MIN_PROSE_WORDS
            && !content.iter().any(|token| own.iter().any(|word| word.stem == token.stem))
    })
}

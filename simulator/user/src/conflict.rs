//! Compares the offers of a message with the calls that the user wants: by effect, typed values and names.
//!
//! It must not know how the user words an answer.

use diorama_seeds::english::{fold, stem};
use diorama_seeds::script::Goal;
use diorama_seeds::value::Date;

use super::calls::{WantedCalls, WantedValue, has_name};
use super::mentions::{Mention, Reading, Value};
use super::message::Sentence;
use super::phrases::OPENERS;
use super::ties::{self, MIN_BARE_AMOUNT, is_equal};
use super::tokens::Token;
use super::topic::{AskedKinds, Topic};
use super::turn::{Act, Kind, Turn};
use super::vocabulary::{Action, GENERIC, LINKS, Link, action, is_common};
use super::wants::{Right, Wants};

/// The greatest number of words between a negation and its noun.
const MAX_WORDS_TO_DENIED: usize = 4;
/// The fewest words of a clause that states the content of a text.
const MIN_PROSE_WORDS: usize = 2;

/// A difference between an offer and the wanted calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The user wants another value, and has words for it.
    Value(Right),
    /// The user wants something else, and has no word for it.
    Else,
}

/// The last offer of a message, with the sentences before it.
struct Lead<'a> {
    acts: Vec<&'a Act>,
    folded: String,
}

impl<'a> Lead<'a> {
    fn of(turn: &'a Turn) -> Option<Self> {
        let last = turn.acts.iter().rposition(|act| matches!(act.kind, Kind::Offers | Kind::Confirms))?;
        let counts = |act: &&Act| !matches!(act.kind, Kind::Asks | Kind::Declines | Kind::Closes);
        let acts: Vec<&Act> = turn.acts[..=last].iter().filter(counts).collect();
        let texts: Vec<&str> = acts.iter().map(|act| &*act.reading.source).collect();
        Some(Self { folded: fold(&texts.join("\n")), acts })
    }

    fn mentions(&self) -> impl Iterator<Item = &Mention> {
        let mentions = self.acts.iter().flat_map(|act| &act.reading.mentions);
        mentions.filter(|mention| !mention.is_denied && mention.link != Link::Aside)
    }
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
    let lead = Lead::of(turn)?;
    let values = || {
        let by_mention = lead.mentions().find_map(|mention| other_value(mention, &lead, calls, wants, today));
        let by_name = |is_choice: bool| {
            let mut values = calls.values.iter().filter(move |value| value.is_choice == is_choice);
            values.find(|value| names_other(value, &lead, wants))
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
        || offers_part(&lead, calls, wants, today)
    {
        return Some(Conflict::Else);
    }
    values().map(|value| right(value, goal, wants).map_or(Conflict::Else, Conflict::Value))
}

/// Returns true if a mention is a value of a wanted call.
pub(super) fn is_wanted(mention: &Mention, calls: &WantedCalls, today: Date) -> bool {
    calls
        .values
        .iter()
        .flat_map(WantedValue::mentions)
        .any(|own| own.value.is_alike(&mention.value) && is_equal(mention, own, today))
}

/// Returns the verb of an offer: `shall I [block] it`.
pub(super) fn verb(act: &Act) -> Option<&Token> {
    let tokens = &act.reading.tokens;
    let begins = tokens.windows(2).position(|pair| {
        matches!(&*pair[0].text, "i" | "we") || (pair[0].text == "me" && pair[1].text == "to")
    });
    let is_adverb =
        |token: &&Token| is_common(&token.text) || matches!(&*token.text, "ready" | "now" | "then");
    match begins {
        Some(at) => tokens.get(at + 1..)?.iter().find(|token| !is_adverb(token)),
        // The offer may lack a subject: `Start it now?`
        None => tokens
            .iter()
            .find(|token| !OPENERS.contains(&&*token.text) && !matches!(&*token.text, "ready" | "to"))
            .filter(|token| !is_adverb(token)),
    }
}

/// Returns true if an offer has the effect of another API than the wanted ones.
fn does_other(turn: &Turn, calls: &WantedCalls, wants: &Wants) -> bool {
    let offers = turn.acts.iter().filter(|act| act.kind == Kind::Offers);
    offers.filter_map(|act| Some((act, verb(act)?))).any(|(act, verb)| {
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
        calls.is_other(&verb.stem, &objects) && !is_same_kind() && !wants.asks_to(&verb.stem)
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
    mention: &Mention,
    lead: &Lead<'_>,
    calls: &'a WantedCalls,
    wants: &Wants,
    today: Date,
) -> Option<&'a WantedValue> {
    if is_wanted(mention, calls, today) || calls.tells(mention, today) || wants.says_value(mention) {
        return None;
    }
    let numbers = calls.values.iter().flat_map(WantedValue::mentions);
    let numbers = numbers.filter(|own| matches!(own.value, Value::Number { .. } | Value::Money(_))).count();
    calls.values.iter().find(|value| {
        let is_said = |own: &Mention| {
            lead.mentions().any(|other| other.value.is_alike(&own.value) && is_equal(other, own, today))
        };
        value.mentions().any(|own| plays(mention, own, value, numbers == 1) && !is_said(own))
    })
}

/// Returns true if a mention has the role of a wanted value. A bare number has it if only one is wanted.
fn plays(mention: &Mention, own: &Mention, value: &WantedValue, is_only_number: bool) -> bool {
    let is_bare = |mention: &Mention| {
        matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= MIN_BARE_AMOUNT)
            && mention.nouns.is_empty()
            && is_only_number
            && mention.link != Link::Aside
    };
    let is_named = || mention.nouns.iter().any(|noun| value.nouns.contains(noun));
    match (&mention.value, &own.value) {
        (Value::Code(one), Value::Code(two)) => ties::is_same_shape(one, two),
        (Value::Day(_), Value::Day(_)) | (Value::Time(_), Value::Time(_)) => true,
        (Value::Money(_), Value::Money(_)) => !matches!(mention.link, Link::For | Link::Place | Link::From),
        (Value::Number { unit: Some(one), .. }, Value::Number { unit: Some(two), .. }) => {
            one.dimension == two.dimension && mention.link != Link::From
        }
        (Value::Number { unit: None, .. }, Value::Number { .. }) => is_named() || is_bare(mention),
        // The API may lack a unit that the assistant states.
        (Value::Number { unit: Some(_), value, .. }, Value::Number { unit: None, value: wanted, .. }) => {
            is_only_number && mention.link == Link::Object && value.min(*wanted) >= MIN_BARE_AMOUNT
        }
        (Value::Number { unit: None, .. }, Value::Money(_)) => is_bare(mention),
        _ => false,
    }
}

/// Returns true if a message has another name in the place of the wanted one.
fn names_other(value: &WantedValue, lead: &Lead<'_>, wants: &Wants) -> bool {
    let Some(name) = value.name.as_ref().filter(|_| !value.is_prose) else { return false };
    if has_name(&lead.folded, name) || (value.is_choice && !wants.says(name)) {
        return false;
    }
    let others = value.other_names.iter().filter(|other| !has_name(name, other));
    others.into_iter().any(|other| has_name(&lead.folded, other) && !wants.says(other))
}

/// Returns true if a message has the first or last word of a longer name, beside an unknown word: `Branch
/// meeting` for `Branch visit`.
fn changes_name(value: &WantedValue, lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let Some(name) = value.name.as_ref().filter(|_| !value.is_prose) else { return false };
    let wanted: Vec<Token> = super::tokens::tokens(name);
    let [first, .., last] = wanted.as_slice() else { return false };
    if has_name(&lead.folded, name) || !wants.says(name) {
        return false;
    }
    let is_strange =
        |token: &Token| is_strange(token, calls, wants) && !wanted.iter().any(|own| own.stem == token.stem);
    lead.acts.iter().flat_map(|act| act.reading.tokens.windows(2)).any(|pair| {
        let adjoins = !pair[1].after_mark && !pair[1].opens;
        adjoins
            && ((pair[0].stem == first.stem && is_strange(&pair[1]))
                || (pair[1].stem == last.stem && is_strange(&pair[0])))
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
    token.has_content()
        && !GENERIC.contains(&&*token.text)
        && action(&token.stem).is_none()
        && !wants.knows(&token.stem)
        && !calls.knows(&token.stem)
}

/// Returns true if a message states a text that shares no word with the wanted one: `saying that the hotel is
/// too dear`.
fn says_otherwise(value: &WantedValue, lead: &Lead<'_>, calls: &WantedCalls, wants: &Wants) -> bool {
    let Some(text) = value.name.as_ref().filter(|_| value.is_prose) else { return false };
    let own: Vec<Token> = super::tokens::tokens(text);
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

/// Returns the user's words for the wanted value that a question asks for: by its name, or as the only
/// number.
pub(super) fn wanted_value(
    question: &Sentence,
    goal: &Goal,
    wants: &Wants,
    calls: &WantedCalls,
) -> Option<String> {
    let head = Topic::of_head(&question.words)?;
    let is_number = |value: &WantedValue| {
        value.mentions().any(|own| matches!(own.value, Value::Number { .. } | Value::Money(_)))
    };
    let mut numbers = calls.values.iter().filter(|value| is_number(value));
    let only_number = numbers.next().filter(|_| numbers.next().is_none());
    let asks_number = AskedKinds::of(&question.words).kinds.number;
    let named =
        calls.values.iter().find(|value| head.stems.iter().any(|word| value.nouns.contains(&stem(word))));
    let value = named.or(only_number.filter(|_| asks_number))?;
    match right(value, goal, wants)? {
        Right::Words(words) => Some(words),
        Right::Detail(_) => None,
    }
}

/// Returns the user's words for a wanted value; none where they do not know it, or keep it secret.
fn right(value: &WantedValue, goal: &Goal, wants: &Wants) -> Option<Right> {
    let said = value.said.clone().or_else(|| value.name.clone().filter(|name| wants.says(name)))?;
    let folded = fold(&said);
    let detail = goal.withheld.iter().position(|detail| has_name(&fold(&detail.say), &folded));
    let of_user = || wants.current_sources().find_map(|source| source.quote(&folded)).map(Right::Words);
    match detail {
        Some(at) => Some(Right::Detail(at)),
        None => Some(of_user().unwrap_or(Right::Words(said))),
    }
}

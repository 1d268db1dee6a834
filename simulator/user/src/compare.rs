//! Compares the offers of an assistant with the wants of the user: by values, choices, number, action and
//! topic.
//!
//! It must not know how the user words an answer.

use diorama_engine::Base;
use diorama_seeds::english::{self, stem};
use diorama_seeds::script::{Goal, WithheldDetail};

use super::calls::WantedCalls;
use super::choices::other_choice;
use super::conflict::{Conflict, conflict, is_backed, is_wanted, makes_wanted, subject, verb};
use super::consent::is_consent;
use super::detail::Detail;
use super::mentions::{Mention, Reading, Value};
use super::message::{Form, Sentence, plans, words};
use super::phrases::{AUXILIARIES, OPENERS, QUESTION_WORDS};
use super::ties::MIN_BARE_AMOUNT;
use super::tokens::Token;
use super::topic::Topic;
use super::turn::{Act, Kind, Turn};
use super::vocabulary::{
    ALL, Action, COSTS, DETERMINERS, GENERIC, LOOKS, Link, ONLY, PURCHASES, SETTINGS, TAKES_AWAY, action,
    is_common, is_one_of,
};
use super::wants::{Fit, Right, Source, Wants};

/// The greatest number of words in a phrase such as `sign you up`.
const MAX_WORDS_TO_UP: usize = 4;
/// The greatest number of words between a verb and its object.
const MAX_WORDS_TO_OBJECT: usize = 8;
/// The greatest number of words between a verb and its particle: `take [the lamp] off`.
const MAX_WORDS_TO_PARTICLE: usize = 6;
/// From this cosine on, an offer concerns the user's request.
const MIN_NEARNESS: f32 = 0.35;

/// The user's reason not to agree to an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// It has other values than the user wants.
    Values(Vec<Right>),
    /// It does something else, or more than the user wants.
    Else,
    /// The statements before it may contradict the user.
    Doubt,
}

/// The user's view of the offers of a message.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The weightiest objection.
    pub(super) objection: Option<Objection>,
    /// It offers or confirms something that the user wants.
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
        Some(Conflict::Value(Right::Detail(at))) if withheld.get(at).is_some_and(is_secret) => {}
        Some(Conflict::Value(right)) => objections.push(Objection::Values(vec![right])),
        Some(Conflict::Else) => objections.push(Objection::Else),
        None => {}
    }
    let agrees_with_calls = objections.is_empty();
    let is_backed = |act: &Act| agrees_with_calls && is_backed(act, calls, wants, wants.today());
    let is_plan_backed = turn.acts.iter().any(|act| act.kind == Kind::Announces && is_backed(act));
    for (at, (sentence, act)) in turn.parts().enumerate() {
        if !matches!(act.kind, Kind::Offers | Kind::Confirms | Kind::Announces) {
            continue;
        }
        // The offer is a wanted call, or asks leave for one.
        let is_bare =
            act.kind == Kind::Offers && act.reading.mentions.is_empty() && sentence.may_ask_leave(|_| false);
        let is_question = act.kind == Kind::Confirms && sentence.asks_fact();
        let is_call =
            sentence.form != Form::Extra && ((is_backed(act) && !is_question) || (is_plan_backed && is_bare));
        let mut rights: Vec<Right> = Vec::new();
        let mut is_same = false;
        // What a statement tells of the record, the wanted calls judge: `The amount is 650.`
        let is_statement = act.kind == Kind::Announces && !calls.is_empty() && !plans(&sentence.words);
        let counts = |mention: &&Mention| {
            let tells = is_statement && subject(&act.reading, mention).is_some();
            !mention.is_denied && mention.link != Link::Aside && !tells
        };
        for mention in act.reading.mentions.iter().filter(counts) {
            match wants.fit(mention, &act.reading) {
                _ if is_wanted(mention, calls, wants.today()) => is_same = true,
                Fit::Same => is_same = true,
                Fit::New => {}
                Fit::Other(right) if rights.contains(&right) => {}
                Fit::Other(right) => rights.push(right),
            }
        }
        if is_call {
            rights.clear();
        }
        let details = if act.kind == Kind::Offers { withheld } else { &[] };
        rights.extend(other_choice(&act.reading, wants, (details, calls), base));
        rights.extend(wants.find_partner(&act.reading));
        // The user tells a secret only when asked for it.
        rights
            .retain(|right| !matches!(right, Right::Detail(at) if withheld.get(*at).is_some_and(is_secret)));
        rights.dedup();
        if rights.is_empty() && !is_call {
            rights.extend(wants.find_other_shown(&act.reading));
        }
        // A bare question for leave is judged by what stands before it.
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
        if !rights.is_empty() && !does_otherwise {
            objections.push(Objection::Values(rights));
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
            objections.push(Objection::Else);
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
            objections.push(if calls.is_empty() { Objection::Doubt } else { Objection::Else });
            continue;
        }
        if is_elsewhere(sentence, act, wants, calls, is_same) {
            objections.push(Objection::Else);
            continue;
        }
        // `Friday at eight, for twelve. Shall I?` offers the values before it.
        if act.reading.mentions.is_empty() && is_doubtful(&turn.acts[..at], wants) {
            objections.push(Objection::Doubt);
            continue;
        }
        found.agrees = true;
    }
    objections.sort_by_key(|objection| match objection {
        Objection::Values(_) => 0,
        Objection::Else => 1,
        Objection::Doubt => 2,
    });
    found.objection = objections.into_iter().next();
    found
}

fn is_secret(detail: &WithheldDetail) -> bool {
    Detail::of(detail).is_secret
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

/// Returns true if an offer covers all of something of which the user wants one.
fn asks_for_all(offer: &Reading, wants: &Wants) -> bool {
    let Some(noun) = quantified_noun(offer) else { return false };
    let is_many = |source: &Source| {
        let tokens = &source.reading.tokens;
        let counts = source.reading.mentions.iter().any(|mention| {
            matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= 2.0)
                && !mention.nouns.is_empty()
                && !mention.nouns.contains(&stem("people"))
        });
        let any = tokens.iter().any(|token| {
            ALL.contains(&&*token.text)
                || matches!(&*token.text, "those" | "these" | "them" | "two" | "three" | "any" | "lot")
        });
        let verbs: Vec<usize> = (0..tokens.len())
            .filter(|at| action(&tokens[*at].stem).is_some_and(|what| what != Action::Read))
            .collect();
        let plural = tokens.iter().enumerate().any(|(at, token)| {
            let is_plural =
                token.text.len() > 3 && english::is_plural(&token.text) && !is_common(&token.text);
            let sentence = |at: usize| source.reading.sentence(tokens[at].span);
            let is_object = verbs.is_empty()
                || verbs.iter().any(|verb| {
                    *verb < at && at - verb <= MAX_WORDS_TO_OBJECT && sentence(*verb) == sentence(at)
                });
            let is_led = (1..=2).any(|back| {
                at.checked_sub(back).is_some_and(|before| {
                    matches!(&*tokens[before].text, "my" | "our" | "the" | "his" | "her" | "their")
                })
            });
            let is_object = is_object && is_led;
            is_plural && noun.as_ref().map_or(is_object, |noun| token.stem == *noun)
        });
        // `one of my viewings`, `two of my lines`
        let is_one = tokens.windows(3).any(|three| {
            let is_part = matches!(&*three[2].text, "my" | "our" | "the" | "them" | "these" | "those");
            three[1].text == "of"
                && (three[0].text == "one" || (is_part && is_number(&source.reading, &three[0])))
        });
        // `Both` refers to two things that the user named.
        let is_two = offer.tokens.iter().any(|token| token.text == "both");
        (!is_one || is_two) && (counts || any || plural)
    };
    // A consent such as `yes, both` answers an offer, and requests nothing.
    !wants.goal_sources().filter(|source| !is_consent(&source.reading.source)).any(is_many)
}

/// Returns true if a word is a number.
fn is_number(reading: &Reading, token: &Token) -> bool {
    reading.mentions.iter().any(|mention| {
        matches!(mention.value, Value::Number { .. }) && mention.span.start == token.span.start
    })
}

/// Returns true if an offer has several of something that the user wants one of: `two vouchers` for `a
/// voucher`.
fn asks_for_several(offer: &Reading, wants: &Wants) -> bool {
    let several = offer
        .mentions
        .iter()
        .filter(|mention| matches!(&mention.value, Value::Number { value, unit: None, .. } if *value >= 2.0));
    let nouns: Vec<&String> = several.flat_map(|mention| &mention.nouns).collect();
    let has_one = |source: &Source| {
        source.reading.tokens.windows(2).any(|pair| {
            matches!(&*pair[0].text, "a" | "an" | "one")
                && nouns.contains(&&pair[1].stem)
                && !english::is_plural(&pair[1].text)
        })
    };
    !nouns.is_empty() && wants.current_sources().filter(|source| source.detail.is_none()).any(has_one)
}

/// Returns the noun after a word for all of something, if one follows: `all of them`, `both [orders]`, `every
/// policy`.
/// Returns `None` without such a word.
fn quantified_noun(offer: &Reading) -> Option<Option<String>> {
    let tokens = &offer.tokens;
    let word = |at: usize| tokens.get(at).map_or("", |token| &*token.text);
    let at = (0..tokens.len()).find(|at| {
        let before = at.checked_sub(1).map_or("", word);
        let next = word(at + 1);
        match word(*at) {
            "all" => {
                // `All of it` is one thing.
                let is_whole = next == "of" && word(at + 2) == "it";
                let is_phrase = matches!(before, "at" | "in" | "after" | "above" | "for" | "that" | "s")
                    || matches!(
                        next,
                        "right" | "set" | "good" | "details" | "the" | "correct" | "ok" | "okay" | "day"
                    );
                !(is_whole || is_phrase) || (next == "the" && english::is_plural(word(at + 2)))
            }
            "both" | "everyone" | "everybody" | "entire" => true,
            "everything" => matches!(next, "in" | "on" | "at" | "of" | "there" | "else"),
            "every" => !matches!(next, "day" | "week" | "month" | "year" | "time"),
            "each" => next == "of",
            _ => false,
        }
    })?;
    let noun = tokens[at + 1..].iter().take(4).find(|token| {
        !is_common(&token.text) && !DETERMINERS.contains(&&*token.text) && english::is_plural(&token.text)
    });
    Some(noun.map(|noun| noun.stem.clone()))
}

/// Returns true if an offer covers one of something of which the user wants all.
fn asks_for_part(offer: &Reading, wants: &Wants) -> bool {
    let limits = offer.tokens.windows(2).any(|pair| {
        ONLY.contains(&&*pair[0].text)
            && (matches!(&*pair[1].text, "the" | "one" | "that" | "this" | "your" | "from" | "for" | "on")
                || offer.mentions.iter().any(|mention| mention.span.start == pair[1].span.start))
    });
    let has_all = |source: &Source| source.reading.tokens.iter().any(|token| ALL.contains(&&*token.text));
    limits && wants.current_sources().any(has_all)
}

/// Returns true if an offer changes something in another way than the user wants.
fn does_otherwise(act: &Act, wants: &Wants, calls: &WantedCalls) -> bool {
    let mut offered: Vec<Action> =
        actions(&act.reading).into_iter().filter(|one| *one != Action::Read).collect();
    if takes_away(&act.reading) {
        offered.push(Action::Remove);
    }
    if offered.is_empty() || offered.iter().any(|one| calls.has_effect(*one)) {
        return false;
    }
    let mut wanted: Vec<Action> = Vec::new();
    for source in wants.goal_sources() {
        wanted.extend(actions(&source.reading));
        if takes_away(&source.reading) {
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

/// Returns the words after the subject of an offer: `shall I [book it]`, `do you want me [to book it]`.
fn predicate(offer: &Reading) -> Option<&[Token]> {
    let begins = offer.tokens.windows(2).position(|pair| {
        matches!(&*pair[0].text, "i" | "we") || (pair[0].text == "me" && pair[1].text == "to")
    })?;
    offer.tokens.get(begins + 1..)
}

/// Returns true if the open goal only asks for information.
fn has_only_questions(wants: &Wants) -> bool {
    let own = || wants.goal_sources().filter(|source| source.detail.is_none());
    own().all(inquires) && own().next().is_some()
}

/// Words after which a verb's form is a noun: `the order`, `a standing order`.
const BEFORE_NOUNS: [&str; 17] = [
    "the", "a", "an", "my", "your", "this", "that", "one", "standing", "in", "no", "of", "at", "her", "his",
    "new", "direct",
];

/// Returns the effects of the verbs of a text. A word after an article is a noun: `your order`.
fn actions(reading: &Reading) -> Vec<Action> {
    let tokens = reading.tokens.iter().enumerate();
    let is_verb = |(at, token): &(usize, &Token)| {
        let before = at.checked_sub(1).map_or("", |before| &*reading.tokens[before].text);
        let next = reading.tokens.get(at + 1).map_or("", |next| &*next.text);
        let is_noun = BEFORE_NOUNS.contains(&before) || token.text.ends_with("ings");
        let is_past = token.text.ends_with("ed") && matches!(before, "have" | "has" | "had" | "ve" | "been");
        let is_gerund = token.text.ends_with("ing") && before != "m" && before != "re";
        let is_thing = matches!(&*token.text, "order" | "book") && matches!(next, "for" | "of") && *at > 2;
        !(is_noun || is_past || is_gerund || is_thing)
    };
    let signs_up =
        reading.tokens.iter().position(|token| token.text == "sign").is_some_and(|at| {
            reading.tokens[at..].iter().take(MAX_WORDS_TO_UP).any(|token| token.text == "up")
        });
    let found = tokens.filter(is_verb).filter_map(|(_, token)| action(&token.stem));
    found.chain(signs_up.then_some(Action::Add)).collect()
}

/// Returns true for phrases of removal: `take it off the list`, `I no longer need it`.
fn takes_away(reading: &Reading) -> bool {
    TAKES_AWAY.iter().any(|(first, second)| {
        let first = stem(first);
        let behind = reading.tokens.iter().skip_while(|token| token.stem != first).skip(1);
        behind.take(MAX_WORDS_TO_PARTICLE).any(|token| token.text == *second)
    })
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
    if becomes(act).is_some_and(|word| !is_known(&word)) {
        return true;
    }
    let object = object(act);
    if object.is_empty() || takes_away(&act.reading) || object.iter().any(|word| is_known(word)) {
        return false;
    }
    // A search does no harm.
    let verbs = actions(&act.reading);
    if !verbs.is_empty() && verbs.iter().all(|verb| *verb == Action::Read) {
        return false;
    }
    let topic = Topic::of(&sentence.words);
    let nearness = |source: &Source| Topic::of(&words(&source.reading.source)).nearness(&topic);
    !wants.goal_sources().any(|source| nearness(source) >= MIN_NEARNESS)
}

/// Returns the stem of the new kind in an offer: `log it as [rowing]`.
fn becomes(act: &Act) -> Option<String> {
    let tokens = &act.reading.tokens;
    let at = tokens.iter().position(|token| token.text == "as")?;
    tokens.get(at + 1).filter(|token| token.has_content()).map(|token| token.stem.clone())
}

/// Returns the stems of the object of an offer: the words after its verb. Empty for a pronoun.
fn object(act: &Act) -> Vec<String> {
    let Some(predicate) = predicate(&act.reading) else { return Vec::new() };
    let rest = predicate.iter().skip_while(|token| {
        let is_adverb = GENERIC.contains(&&*token.text) && action(&token.stem).is_none();
        is_adverb || matches!(&*token.text, "to" | "also" | "just")
    });
    let behind = rest.skip(1).skip_while(|token| matches!(&*token.text, "you" | "up" | "out"));
    let words = behind.skip_while(|token| DETERMINERS.contains(&&*token.text)).take_while(|token| {
        token.has_content()
            && !token.after_mark
            && !ALL.contains(&&*token.text)
            && !matches!(&*token.text, "down" | "off" | "back" | "over")
    });
    words
        .filter(|token| !is_mentioned(token, &act.reading) && !GENERIC.contains(&&*token.text))
        .map(|token| token.stem.clone())
        .collect()
}

/// Returns the stems of the content words of a sentence, without verbs and typed mentions.
fn content(act: &Act) -> Vec<&str> {
    act.reading
        .tokens
        .iter()
        .filter(|token| {
            token.has_content()
                && !GENERIC.contains(&&*token.text)
                && action(&token.stem).is_none()
                && !is_mentioned(token, &act.reading)
        })
        .map(|token| &*token.stem)
        .collect()
}

/// Returns true if a word belongs to a typed mention other than a phrase in small letters.
fn is_mentioned(token: &Token, reading: &Reading) -> bool {
    reading.mentions.iter().any(|mention| {
        !matches!(mention.value, Value::Phrase(_))
            && mention.span.start <= token.span.start
            && token.span.end <= mention.span.end
    })
}

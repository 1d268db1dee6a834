//! Whether an answer refuses, and for the reason that the episode shows.
//!
//! The reasons that an API can refuse for are those that its world declares. A told reason is the one among them that it is
//! nearest to, by its words, by the values that it names, and by its meaning; a reason that fits none is none. That
//! something is not there is told by denying it.

use std::sync::Arc;

use diorama_seeds::english;
use diorama_seeds::model::{Api, World};
use diorama_seeds::schema::Type;
use diorama_seeds::task::{Evidence, RefusalClass};
use diorama_seeds::value::Value;

use super::answer::is_inflected;
use super::deeds;
use super::readings::Said;
use diorama_answers::lexicon::Roles;
use diorama_answers::prose::Prose;
use diorama_answers::tokens::{Kind, Text, Token};
use diorama_answers::{word, words};
use diorama_engine::embed::{StaticEmbedder, dot, embedded};
use diorama_engine::session::LogEntry;
use diorama_engine::{Body, Origin};

/// From this cosine on, words may give a reason; set on labelled episodes (docs/grading.md).
const NEAR: f32 = 0.18;
/// So much nearer another reason of the same API must be to be taken for it, and one of another API.
const APART: f32 = 0.08;
const FAR: f32 = 0.20;
/// So much nearer still an excuse must be that says nothing.
const VAGUE: f32 = 0.2;
/// From this cosine on, it does.
const SURE: f32 = 0.28;

/// What a refusal rests on.
pub(super) struct Ground<'a> {
    pub(super) world: &'a World,
    pub(super) evidence: &'a [Evidence],
    pub(super) classes: &'a [RefusalClass],
    /// The calls of the goal.
    pub(super) entries: &'a [Arc<LogEntry>],
    pub(super) user_turns: &'a [String],
    /// The words that what is asked about is known by: its id, its names.
    pub(super) subjects: &'a [String],
}

impl Ground<'_> {
    /// The refusing call's API and status, as the checks name them.
    fn refused(&self) -> impl Iterator<Item = (&Api, u16)> {
        self.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Refused { api, status, .. } => {
                Some((self.world.api(self.world.api_named(api)?), *status))
            }
            Evidence::Empty { api, .. } => Some((self.world.api(self.world.api_named(api)?), 404)),
            _ => None,
        })
    }

    /// Why an answer is no right refusal, where it is not.
    pub(super) fn fault(&self, answer: &Said) -> Option<String> {
        let prose = &answer.prose;
        let mut verbs: Vec<String> = self.refused().flat_map(|(api, _)| deeds::words_for(api)).collect();
        let requested =
            self.user_turns.last().into_iter().flat_map(|turn| turn.split(|c: char| !c.is_alphabetic()));
        let plain = requested.filter(|word| word.len() > 3 && word.starts_with(char::is_lowercase));
        verbs.extend(plain.map(deeds::base));
        let said = answer.deeds().said(&verbs);
        if said.claimed && !said.denied && !has_inability(prose) {
            return Some("the answer says that it was done".to_owned());
        }
        if deeds::claims_attempt(prose) && !self.entries.iter().any(|entry| !entry.reply.is_success()) {
            return Some("the answer says that a call was refused, which none was".to_owned());
        }
        let right = match self.classes {
            // What no tool can do, or what the agent was told not to, rests on no call: to decline is enough.
            _ if self.refused().next().is_none() => {
                has_inability(prose)
                    || answer.ending.is_refusal()
                    || (has_signal(prose) && !answer.ending.is_question())
            }
            [] => has_signal(prose),
            [RefusalClass::NotFound] => self.is_absence(prose) || self.is_missed(prose),
            _ => self.gives_reason(prose),
        };
        (!right).then(|| "the answer does not give the reason for which it could not be done".to_owned())
    }

    /// Whether a sentence denies that what was asked about is there: a denial whose next word is the kind of thing, its
    /// name, or a word of finding and being.
    fn is_absence(&self, prose: &Prose) -> bool {
        const BEING: [&str; 31] = [
            "call", "name", "carri", "sell", "stock", "hit", "find", "found", "exist", "match", "locat",
            "see", "have", "has", "list", "appear", "seem", "regist", "know", "recogn", "result", "record",
            "anyth", "entri", "one", "such", "there", "file", "set", "trace", "luck",
        ];
        let text = prose.text();
        let names = self.names();
        let nouns: Vec<String> = self.nouns();
        let asked: Vec<String> = self
            .user_turns
            .iter()
            .flat_map(|turn| english::words(turn))
            .map(|word| english::stem(&word))
            .collect();
        let spelt = |token: &Token| english::stem(prose.word(token));
        let of_name = |stem: &String| {
            names.iter().any(|name| english::words(name).any(|word| english::stem(&word) == *stem))
        };
        let sentences = text.tokens.last().map_or(0, |token| token.sentence + 1);
        (0..sentences).any(|sentence| {
            let tokens: Vec<&Token> = text.tokens.iter().filter(|token| token.sentence == sentence).collect();
            let start = tokens.first().map_or(0, |token| token.start as usize);
            let end = tokens.last().map_or(0, |token| token.end as usize);
            let said = english::fold(prose.source().get(start..end).unwrap_or_default());
            let in_sentence = |word: &String| said.contains(word.as_str());
            let named = names.iter().any(|name| {
                let words: Vec<String> = english::words(name).filter(|word| word.len() > 2).collect();
                !words.is_empty()
                    && words.iter().filter(|word| in_sentence(word)).count() * 3 >= words.len() * 2
            });
            let noun = tokens.iter().any(|token| token.has_content() && nouns.contains(&spelt(token)));
            let mut next_of_denials =
                tokens.iter().enumerate().filter(|(_, token)| denies(token)).map(|(at, denial)| {
                    let next = tokens.iter().skip(at + 1).take(4).find(|next| next.has_content());
                    // `no Yun Gao among them`, not `No, Yun Gao ...`
                    let directly = tokens.get(at + 1).is_some_and(|next| next.has_content());
                    let none = denial.is(Roles::ZERO) || (denial.hash == word!("no") && directly);
                    (none, next.map(|next| spelt(next)))
                });
            (named || noun)
                && next_of_denials.any(|(zero, next)| {
                    next.is_none_or(|next| {
                        // `It isn't enabled` answers what was asked; it does not say that nothing is there.
                        let answers = asked.contains(&next) && !nouns.contains(&next) && !of_name(&next);
                        BEING.iter().any(|being| next.starts_with(being))
                            || (!answers && (nouns.contains(&next) || (of_name(&next) && (noun || zero))))
                    })
                })
        })
    }

    /// The names of what was asked about: those of the checks, and what the user said and a call sent.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.subjects.to_vec();
        let unmet = self.entries.iter().filter(|entry| {
            RefusalClass::of_status(entry.reply.status) == Some(RefusalClass::NotFound)
                || entry.reply.is_success()
        });
        let sent = unmet.flat_map(|entry| entry.call.arguments.values()).filter_map(|json| json.as_str());
        let asked_for = sent.filter(|sent| self.user_turns.iter().any(|turn| turn.contains(*sent)));
        names.extend(asked_for.map(english::fold));
        names.retain(|name| name.len() > 2);
        names
    }

    /// Whether a part that denies something of what was asked about is nearer to its absence than to any other reason.
    fn is_missed(&self, prose: &Prose) -> bool {
        const ABSENT: [&str; 4] = [
            "it is not on the list",
            "there is none of that name",
            "we do not have it",
            "it does not exist here",
        ];
        const OTHERS: [&str; 5] = [
            "it is not possible",
            "it is not ready yet",
            "it does not work",
            "it is not known why",
            "it has not been done",
        ];
        let Ok(model) = embedded() else { return false };
        let own = self.refused().flat_map(|(api, _)| api.behaviour.require.iter().map(|rule| &*rule.message));
        let others: Vec<&str> = own.chain(EXCUSES).chain(OTHERS).collect();
        let (nouns, names) = (self.nouns(), self.names());
        let denied = |part: &str| Text::of_value(part).tokens.iter().any(denies);
        let about = |part: &str| {
            let lower = english::fold(part);
            english::words(part).any(|word| nouns.contains(&english::stem(&word)))
                || names.iter().any(|name| lower.contains(name.as_str()))
        };
        parts(prose).iter().filter(|part| !is_inability(part) && denied(part) && about(part)).any(|part| {
            let said = self.vector(&model, part, &[]);
            let nearest = |reasons: &[&str]| {
                reasons.iter().map(|reason| dot(&said, &model.vector(reason))).fold(0.0, f32::max)
            };
            nearest(&ABSENT) > nearest(&others)
        })
    }

    /// The words for the kind of thing that is looked for.
    fn nouns(&self) -> Vec<String> {
        let words = self.refused().flat_map(|(api, _)| {
            let of_name = english::split_identifier(&api.name).into_iter().skip(1);
            let of_parameters = api.parameters.iter().flat_map(|one| english::split_identifier(&one.label));
            let of_kinds = self.world.resources.iter().filter(|resource| resource.domain == api.domain);
            let of_kinds = of_kinds.filter(|resource| {
                english::split_identifier(&api.name)
                    .iter()
                    .any(|word| english::singular(word) == *resource.label)
            });
            let of_kinds = of_kinds.flat_map(|resource| english::split_identifier(&resource.label));
            of_name.chain(of_parameters).chain(of_kinds).collect::<Vec<_>>()
        });
        words.map(|word| english::stem(&word)).collect()
    }

    /// Whether the answer gives the reason, and not another that there could have been.
    fn gives_reason(&self, prose: &Prose) -> bool {
        let refusals = self.entries.iter().filter(|entry| {
            let class = RefusalClass::of_status(entry.reply.status);
            entry.api.is_some() && class.is_some_and(|class| self.classes.contains(&class))
        });
        let mut right: Vec<String> = refusals
            .filter_map(|entry| entry.reply.body.member("detail")?.value()?.as_str().map(str::to_owned))
            .collect();
        if right.is_empty() {
            // Learned by reads: what they show that a rule looks at.
            let shown = self.refused().flat_map(|(api, status)| {
                shown_rules(self.entries, api, status, self.world)
                    .into_iter()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            });
            right.extend(shown);
        }
        let strange = |reason: &&str| !right.iter().any(|known| is_alike(known, reason));
        let own_api =
            self.refused().flat_map(|(api, _)| api.behaviour.require.iter().map(|reason| &*reason.message));
        let others: Vec<&str> = own_api.filter(strange).collect();
        let told = parts(prose);
        // Every reason at once is none.
        let restated = |reason: &str| told.iter().any(|part| restates(part, reason));
        let telling = |reason: &&&str| Prose::stems_of(reason).len() > 1;
        if others.iter().chain(&EXCUSES).filter(telling).filter(|other| restated(other)).count() > 1 {
            return false;
        }
        if right.iter().any(|reason| restated(reason)) {
            return true;
        }
        // That it is not there is another reason than that it is in the way.
        if denies_finding(prose) {
            return false;
        }
        // What could not be done is no reason, unless nothing else is said; what follows `because` is.
        let causes = causes(prose.source());
        let reasons: Vec<&String> = told.iter().filter(|part| !is_inability(part)).collect();
        let reasons = match (causes.is_empty(), reasons.is_empty()) {
            (false, _) => causes.iter().collect(),
            (true, false) => reasons,
            (true, true) => told.iter().collect(),
        };
        if has_signal(prose) && self.tells_the_facts(&reasons, &right) {
            return true;
        }
        let Ok(model) = embedded() else { return false };
        let shared = shared_stems(right.iter().map(String::as_str).chain(others.iter().copied()));
        let said: Vec<Vec<f32>> = reasons.iter().map(|part| self.vector(&model, part, &shared)).collect();
        let nearest = |reason: &str| {
            let reason = self.vector(&model, reason, &shared);
            said.iter().map(|said| dot(said, &reason)).fold(0.0, f32::max)
        };
        let own = right.iter().map(|reason| nearest(reason)).fold(0.0, f32::max);
        let excuse = EXCUSES.iter().map(|reason| nearest(reason)).fold(0.0, f32::max);
        let other = others.iter().map(|reason| nearest(reason)).fold(0.0, f32::max).max(excuse - VAGUE);
        if other > own + APART || !has_signal(prose) {
            return false;
        }
        if own >= SURE {
            return true;
        }
        // Words that are near to no reason may give it all the same, where they say more than that it cannot be done.
        if own < NEAR && (other >= NEAR || !self.says_more(&reasons)) {
            return false;
        }
        // The reasons of all the world's APIs: one of them that is much nearer is meant.
        let all = self
            .world
            .apis
            .iter()
            .flat_map(|api| api.behaviour.require.iter().map(|reason| &*reason.message));
        all.filter(strange).map(nearest).fold(0.0, f32::max) <= own.max(NEAR) + FAR
    }

    /// Whether parts of an answer say something that the user has not said.
    fn says_more(&self, parts: &[&String]) -> bool {
        let said: Vec<u64> = self.user_turns.iter().flat_map(|turn| Prose::stems_of(turn)).collect();
        parts.iter().any(|part| {
            let new = |stem: &u64| !said.contains(stem);
            Prose::stems_of(part).iter().filter(|stem| new(stem)).count() > 1
        })
    }

    /// Whether the answer tells the values of the fields that the refusing rule looks at, as replies show them.
    fn tells_the_facts(&self, parts: &[&String], right: &[String]) -> bool {
        let words = parts.iter().flat_map(|part| english::words(part)).map(|word| english::stem(&word));
        let words: Vec<String> = words.collect();
        let mut rules: Vec<Rule<'_>> = self.refused().flat_map(|(api, status)| rules(api, status)).collect();
        rules.retain(|rule| right.iter().any(|right| is_alike(right, rule.message)));
        let told = |value: &Value| {
            value.as_str().is_some_and(|text| {
                english::words(text).all(|word| {
                    let stem = english::stem(&word);
                    words.iter().any(|said| *said == stem || is_inflected(said, &stem))
                })
            })
        };
        let of_rule = |origin: &Origin| match origin {
            Origin::Field { resource, field, .. } => {
                let declared = self.world.resource(*resource).field(*field);
                let kind = matches!(declared.schema.kind, Type::Enum(_));
                kind && rules.iter().any(|rule| rule.words.iter().any(|word| **word == *declared.name))
            }
            _ => false,
        };
        let successes = self.entries.iter().filter(|entry| entry.reply.is_success());
        successes
            .flat_map(|entry| entry.reply.body.values())
            .any(|(value, origin)| of_rule(origin) && told(value))
    }

    /// A text as a vector, without what tells no reason from another: names, numbers, and words that several reasons have.
    fn vector(&self, model: &StaticEmbedder, text: &str, shared: &[u64]) -> Vec<f32> {
        let mut kept = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            let plain = english::fold(word.trim_matches(|c: char| !c.is_alphanumeric()));
            let named = self.subjects.iter().any(|subject| subject.split(' ').any(|part| part == plain));
            let common = Prose::stems_of(&plain).iter().any(|stem| shared.contains(stem));
            if !named && !common && !plain.chars().any(|c| c.is_ascii_digit()) {
                kept.push_str(word);
                kept.push(' ');
            }
        }
        model.vector(if kept.is_empty() { text } else { &kept })
    }
}

/// What anybody may say who does not know why.
const EXCUSES: [&str; 5] = [
    "something went wrong, please try again later",
    "a technical problem with the system",
    "it was not found, is not allowed, or is not valid",
    "you lack the permission",
    "I can't help with that",
];

/// The sentences of a text and their parts.
fn parts(prose: &Prose) -> Vec<String> {
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    for token in &prose.text().tokens {
        match found.last_mut() {
            Some((sentence, _, end)) if *sentence == token.sentence => *end = token.end as usize,
            _ => found.push((token.sentence, token.start as usize, token.end as usize)),
        }
    }
    let mut told: Vec<String> = Vec::new();
    for (_, start, end) in found {
        let sentence = prose.source().get(start..end).unwrap_or_default();
        told.push(sentence.to_owned());
        let marked = sentence.split([',', ';', ':', '—', '–', '(']);
        // What follows `because` is a reason of its own.
        let causes =
            [" because ", " since ", " as ", " so "].into_iter().flat_map(|joint| sentence.split(joint));
        for part in marked.chain(causes) {
            let part = part.trim();
            let part = ["because ", "since ", "as ", "so "]
                .iter()
                .find_map(|lead| part.strip_prefix(lead))
                .unwrap_or(part);
            if part.len() < sentence.len() && part.split_whitespace().count() > 1 {
                told.push(part.to_owned());
            }
        }
    }
    told
}

/// What a text gives as causes.
fn causes(text: &str) -> Vec<String> {
    let stops = |c: char| matches!(c, '.' | ';' | '!' | '?' | '\n');
    let behind = text.split(" because ").skip(1).chain(text.split(" since ").skip(1));
    behind.map(|rest| rest.split(stops).next().unwrap_or_default().to_owned()).collect()
}

/// Stems that several reasons have.
fn shared_stems<'a>(reasons: impl Iterator<Item = &'a str>) -> Vec<u64> {
    let mut once: Vec<u64> = Vec::new();
    let mut shared: Vec<u64> = Vec::new();
    for reason in reasons {
        let mut own = Prose::stems_of(reason);
        own.sort_unstable();
        own.dedup();
        for stem in own {
            let known = if once.contains(&stem) { &mut shared } else { &mut once };
            known.push(stem);
        }
    }
    shared
}

/// Whether two reasons are one, with other values in their places.
fn is_alike(a: &str, b: &str) -> bool {
    let (a, b) = (Prose::stems_of(a), Prose::stems_of(b));
    let common = a.iter().filter(|stem| b.contains(stem)).count();
    common * 4 >= a.len().max(b.len()) * 3
}

/// Whether a part has two thirds of the words with meaning of a reason, and two at least where there are two.
pub(super) fn restates(part: &str, reason: &str) -> bool {
    let mut wanted = Prose::stems_of(reason);
    wanted.sort_unstable();
    wanted.dedup();
    let said = Prose::stems_of(part);
    let found = wanted.iter().filter(|stem| said.contains(stem)).count();
    found >= wanted.len().min(2) && found * 3 >= wanted.len() * 2 && found > 0
}

/// Whether a part of a sentence only says that something could not be done.
fn is_inability(part: &str) -> bool {
    const INABILITY: &str = "can't|cannot|couldn't|could not|can not|unable|wasn't able|not able|won't|refused|\
                             rejected|declined|failed|would you";
    let lower = part.to_lowercase().replace('’', "'");
    INABILITY.split('|').any(|words| lower.contains(words))
}

/// Whether a word denies.
fn denies(token: &Token) -> bool {
    token.is(Roles::NEGATOR)
        || token.is(Roles::ZERO)
        || words!("unable no unknown missing failed").contains(&token.hash)
}

/// Whether an answer says that something was not found, or does not exist.
fn denies_finding(prose: &Prose) -> bool {
    let text = prose.text();
    text.tokens.iter().enumerate().filter(|(_, token)| denies(token)).any(|(at, denial)| {
        const FINDING: [u64; 6] = words!("find found exist exists locate such");
        let mut next = text.tokens.iter().skip(at + 1).take(3);
        next.any(|next| next.sentence == denial.sentence && FINDING.contains(&next.hash))
    })
}

/// Whether the answer says that something could not be done.
fn has_inability(prose: &Prose) -> bool {
    const INABILITY: [u64; 12] = words!(
        "cant cannot couldnt unable nothing refused rejected declined blocked impossible \
         failed unchanged"
    );
    prose.text().has_any(&INABILITY)
}

/// Whether an answer holds something against the request: it denies, or says what stands in its way.
fn has_signal(prose: &Prose) -> bool {
    const OBSTACLES: [u64; 28] = words!(
        "all already only instead must need needs required requires too exceeds exceed \
         over above below limit sorry unfortunately afraid off out full taken than against beyond rules policy"
    );
    let word = |token: &&Token| token.kind == Kind::Word;
    has_inability(prose)
        || prose
            .text()
            .tokens
            .iter()
            .filter(word)
            .any(|token| denies(token) || OBSTACLES.contains(&token.hash))
}

/// What the rules say, by which an API refuses with a status, of which reads have shown what they look at.
fn shown_rules<'a>(entries: &[Arc<LogEntry>], api: &'a Api, status: u16, world: &World) -> Vec<&'a str> {
    let bodies = || entries.iter().filter(|entry| entry.reply.is_success()).map(|entry| &entry.reply.body);
    let shown = rules(api, status).into_iter().filter(|rule| bodies().any(|body| rule.is_shown(body, world)));
    shown.map(|rule| rule.message).collect()
}

impl Rule<'_> {
    /// Whether a reply shows something that it looks at.
    fn is_shown(&self, body: &Body, world: &World) -> bool {
        body.values().any(|(_, origin)| match origin {
            Origin::Field { resource, field, .. } => {
                let declared = world.resource(*resource);
                let names = declared.field(*field);
                let plain = !matches!(names.schema.kind, Type::Reference { .. }) && *field != declared.key;
                (plain && self.words.iter().any(|word| **word == *names.name))
                    || self.folds.iter().any(|folded| *folded == &*declared.name)
            }
            Origin::Computed => !self.folds.is_empty(),
            Origin::Constant => false,
        })
    }
}

/// What a rule of an API looks at: the names in it, and the resources whose records it counts.
struct Rule<'a> {
    /// What it says when it does not hold.
    message: &'a str,
    words: Vec<&'a str>,
    folds: Vec<&'a str>,
}

/// The rules by which an API refuses with a status.
fn rules(api: &Api, status: u16) -> Vec<Rule<'_>> {
    let of_status = api.behaviour.require.iter().filter(|rule| rule.status == status);
    of_status
        .map(|rule| {
            // The names that `let` gives are looked through too.
            let bound = api.behaviour.bindings.iter().map(|(_, bound)| &*bound.source);
            let texts = std::iter::once(&*rule.that.source).chain(bound);
            let mut read = Rule { message: &rule.message, words: Vec::new(), folds: Vec::new() };
            for text in texts {
                let mut before = "";
                for word in
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
                {
                    if matches!(word, "any" | "all" | "count" | "sum" | "first" | "max" | "min") {
                        read.folds.push(before);
                    }
                    read.words.push(word);
                    before = word;
                }
            }
            read
        })
        .collect()
}

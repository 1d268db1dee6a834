//! Compares a mention of the assistant with the wants of the user, and finds the value that the user wants
//! instead.
//!
//! This module must not see the wanted calls.

use diorama_seeds::english::{fold, has_words};
use diorama_seeds::value::Date;

use super::mentions::{Mention, Reading, Value};
use super::source::{Source, SourceKind};
use super::ties::{MatchRule, first_date, is_equal, match_rule, may_replace};
use super::vocabulary::{Link, is_common};
use super::wants::Wants;

/// The value that the user wants instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Correction {
    /// The value of a withheld detail, by position.
    Detail(usize),
    /// Words of the user.
    Words(String),
}

/// The result of comparing a mention with the wants of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The user wants this value.
    Same,
    /// The script leaves it open.
    New,
    /// The user wants another value.
    Other(Correction),
}

impl Wants {
    /// Compares a mention of an offer with the wants.
    pub(super) fn fit(&self, mention: &Mention, offer: &Reading) -> Fit {
        let fit = self.fit_goal(mention, offer);
        if fit != Fit::New || matches!(mention.value, Value::Name(_) | Value::Phrase(_) | Value::Money(_)) {
            return fit;
        }
        // The user keeps the earlier wants by a request such as `Then book it`.
        let is_elliptic = |source: &Source| source.detail.is_some() || source.reading.mentions.is_empty();
        let earlier: Vec<&Source> =
            self.sources.iter().filter(|source| source.kind == SourceKind::Earlier).collect();
        let mut mentions = earlier.iter().flat_map(|source| &source.reading.mentions);
        if mentions.any(|own| own.value.is_alike(&mention.value) && is_equal(mention, own, self.clock.today))
        {
            return Fit::Same;
        }
        let counts = !matches!(mention.value, Value::Number { .. }) || !mention.nouns.is_empty();
        let other = self.find_other(mention, &earlier, offer);
        other.filter(|_| counts && self.current_sources().all(is_elliptic)).map_or(Fit::New, Fit::Other)
    }

    /// Compares a mention of a statement with the open goal.
    pub(super) fn fit_goal(&self, mention: &Mention, offer: &Reading) -> Fit {
        if let Value::Name(words) = &mention.value {
            return self.fit_name(mention, words, offer);
        }
        if let Value::Phrase(words) = &mention.value
            && words.iter().any(|word| self.says(word))
        {
            return Fit::New;
        }
        let alone = !offer.mentions.iter().any(|other| other.link == Link::Until);
        let equal_in = |source: &Source| {
            let mentions = || source.reading.mentions.iter();
            let is_wanted = |own: &&Mention| !self.is_denied(own);
            mentions().filter(is_wanted).any(|own| {
                match_rule(mention, own, &source.reading, source.names()).is_some()
                    && is_equal(mention, own, self.clock.today)
            }) || (alone && self.is_within(mention, source))
        };
        if self.sources.iter().any(|source| source.kind == SourceKind::NextLine && equal_in(source)) {
            return Fit::Same;
        }
        // The user's last message counts first.
        let said =
            self.sources.iter().filter(|source| source.kind == SourceKind::Line).map(|source| vec![source]);
        let goal: Vec<&Source> =
            self.sources.iter().filter(|source| source.kind == SourceKind::Goal).collect();
        // An offer with a start and an end gives an end, which only ends of the user can match.
        let has_start = offer
            .mentions
            .iter()
            .any(|other| other.span.end <= mention.span.start && other.value.is_alike(&mention.value));
        let is_end = mention.link == Link::Until && has_start;
        let mut own_mentions = self.current_sources().flat_map(|source| &source.reading.mentions);
        if is_end && !own_mentions.any(|own| own.link == Link::Until) {
            return Fit::New;
        }
        for group in said.chain([goal]) {
            if group.iter().any(|source| equal_in(source)) {
                return Fit::Same;
            }
            if let Some(correction) = self.find_other(mention, &group, offer) {
                return Fit::Other(correction);
            }
        }
        Fit::New
    }

    /// Finds another value of the same role in some texts.
    fn find_other(&self, mention: &Mention, sources: &[&Source], offer: &Reading) -> Option<Correction> {
        let pairs =
            sources.iter().flat_map(|source| source.reading.mentions.iter().map(move |own| (source, own)));
        let mut found: Vec<(&Source, &Mention)> = pairs
            .filter(|(source, _)| {
                let named = || mention.nouns.iter().any(|noun| source.nouns.contains(noun));
                !source.is_secret || matches!(mention.value, Value::Code(_)) || named()
            })
            .filter(|(source, own)| {
                !self.is_denied(own)
                    && !source.is_background(own)
                    && match_rule(mention, own, &source.reading, source.names()) == Some(MatchRule::Role)
            })
            // The offer repeats this value elsewhere, so another mention matches it: `6 people at 8`.
            .filter(|(_, own)| {
                !offer
                    .mentions
                    .iter()
                    .any(|other| other.span != mention.span && is_equal(other, own, self.clock.today))
            })
            .map(|(source, own)| (*source, own))
            .collect();
        found.sort_by_key(|(_, own)| own.link != mention.link);
        let (source, own) = found.first()?;
        Some(correct(source, own))
    }

    /// Returns true if the user took a value back.
    fn is_denied(&self, own: &Mention) -> bool {
        own.is_denied
            || self.current_sources().flat_map(|source| &source.reading.mentions).any(|other| {
                other.is_denied && other.value.is_alike(&own.value) && is_equal(own, other, self.clock.today)
            })
    }

    /// Returns true if a day or time lies in a range of the user: `from Monday to Sunday`.
    fn is_within(&self, mention: &Mention, source: &Source) -> bool {
        if matches!(mention.link, Link::From | Link::Until) {
            return false;
        }
        let mentions = &source.reading.mentions;
        let ends = mentions.iter().filter(|own| own.link == Link::Until);
        ends.into_iter().any(|end| {
            let start = mentions.iter().rfind(|own| {
                own.span.end <= end.span.start && own.value.is_alike(&end.value) && own.link != Link::Until
            });
            match (start.map(|start| &start.value), &mention.value, &end.value) {
                (Some(Value::Day(start)), Value::Day(day), Value::Day(end)) => {
                    let is_in = |day: Date| {
                        first_date(start).is_some_and(|start| start <= day)
                            && first_date(end).is_some_and(|end| day <= end)
                    };
                    first_date(day).is_some_and(is_in)
                }
                (Some(Value::Time(start)), Value::Time(time), Value::Time(end)) => {
                    start.time <= time.time && time.time <= end.time
                }
                _ => false,
            }
        })
    }

    /// Compares a name with the user's names that the offer leaves out.
    fn fit_name(&self, mention: &Mention, words: &[String], offer: &Reading) -> Fit {
        let known = words.iter().filter(|word| is_common(word) || self.says(word)).count();
        let own_names = || {
            let sources = self.current_sources();
            sources.flat_map(move |source| {
                source.reading.mentions.iter().filter_map(move |own| match &own.value {
                    Value::Name(words) if own.link != Link::Aside && !self.is_denied(own) => {
                        Some((source, own, words))
                    }
                    _ => None,
                })
            })
        };
        if known == words.len() {
            let turned = |(_, own, other): &(&Source, &Mention, &Vec<String>)| {
                let ends = (mention.link, own.link);
                *other == words
                    && matches!(ends, (Link::From, Link::To | Link::Until) | (Link::To, Link::From))
            };
            let Some((source, own, _)) = own_names().find(turned) else { return Fit::Same };
            return Fit::Other(correct_route(source).unwrap_or_else(|| correct(source, own)));
        }
        if known > 0 {
            // `Kitchen Speaker` for `Garden Speaker`; `Emilia Diaz` for `Emilia`.
            let shares = |own: &[String]| own.iter().any(|word| words.contains(word));
            let is_part = |own: &[String]| own.iter().all(|word| words.contains(word));
            if own_names().any(|(_, _, own)| is_part(own)) {
                return Fit::Same;
            }
            return match own_names().find(|(_, _, own)| shares(own)) {
                Some((source, own, _)) => Fit::Other(correct(source, own)),
                None => Fit::New,
            };
        }
        let fields = |words: &[String]| {
            let name = words.join(" ");
            let of = self.shown.iter().filter(move |(_, _, shown)| *shown == name);
            of.map(|(resource, field, _)| (*resource, *field)).collect::<Vec<_>>()
        };
        let own_fields = fields(words);
        let stands_for = |own: &Mention, other: &[String]| {
            let other_fields = fields(other);
            if own_fields.is_empty() || other_fields.is_empty() {
                return may_replace(mention.link, own.link);
            }
            own_fields.iter().any(|field| other_fields.contains(field))
        };
        let fits = |(_, own, other): &(&Source, &Mention, &Vec<String>)| {
            !offer.has_any(other) && stands_for(own, other)
        };
        // The user's request itself counts before their other sentences.
        let of_request = |(source, own, _): &(&Source, &Mention, &Vec<String>)| source.requests_in(own);
        let found = own_names().filter(fits).find(of_request).or_else(|| own_names().find(fits));
        found.map_or(Fit::New, |(source, own, _)| Fit::Other(correct(source, own)))
    }

    /// Finds the right partner of a value that an offer pairs wrongly: `Ana, 2 kg` for `Ana's is 6 kg, Ben's
    /// is 2 kg`.
    pub(super) fn find_partner(&self, offer: &Reading) -> Option<Correction> {
        self.current_sources().find_map(|source| {
            let offered = |own: &Mention| match &own.value {
                Value::Name(words) => offer.has_any(words),
                _ => offer.mentions.iter().any(|mention| {
                    mention.value.is_alike(&own.value) && is_equal(mention, own, self.clock.today)
                }),
            };
            let part = |own: &Mention| source.reading.part(own.span);
            let own: Vec<&Mention> = source.reading.mentions.iter().filter(|own| offered(own)).collect();
            let [one, two] = own.as_slice() else { return None };
            let others = || source.reading.mentions.iter().filter(|other| !offered(other));
            let (first, second) = (part(one), part(two));
            // The offer begins with its subject.
            let place = |own: &Mention| match &own.value {
                Value::Name(words) => offer.tokens.iter().position(|token| words.contains(&token.text)),
                _ => None,
            };
            let ahead = place(two).is_some_and(|two| place(one).is_none_or(|one| two < one));
            let (subject, value) = if ahead { (two, one) } else { (one, two) };
            let partner = others().find(|other| {
                part(other) == part(subject)
                    && part(other) != part(value)
                    && other.value.is_alike(&value.value)
                    && other.link == value.link
            })?;
            let has_other =
                others().any(|other| part(other) == part(value) && other.value.is_alike(&subject.value));
            (first != second && has_other).then(|| correct(source, partner))
        })
    }

    /// Finds a name in small letters that replies showed, where the user named another of the same field.
    pub(super) fn find_other_shown(&self, offer: &Reading) -> Option<Correction> {
        let offered = fold(&offer.source);
        for (resource, field, name) in self.shown.iter().filter(|(_, _, name)| has_words(&offered, name)) {
            if self.says(name) {
                continue;
            }
            let alike = self.shown.iter().filter(|(other, of, _)| (other, of) == (resource, field));
            for (_, _, wanted) in
                alike.filter(|(_, _, wanted)| wanted != name && !has_words(&offered, wanted))
            {
                if let Some(source) = self.current_sources().find(|source| has_words(&source.folded, wanted))
                {
                    return Some(
                        source.detail.map_or_else(|| Correction::Words(wanted.clone()), Correction::Detail),
                    );
                }
            }
        }
        None
    }
}

/// Returns the right value of a mention: a detail in its own words, and a range with both its ends.
fn correct(source: &Source, own: &Mention) -> Correction {
    if let Some(detail) = source.detail {
        return Correction::Detail(detail);
    }
    let mut others = source.reading.mentions.iter().filter(|other| other.value.is_alike(&own.value));
    let (start, end) = match own.link {
        Link::Until => (others.rfind(|other| other.span.end <= own.span.start), Some(own)),
        _ => (Some(own), others.find(|other| other.link == Link::Until && other.span.start >= own.span.end)),
    };
    let span =
        start.zip(end).and_then(|(start, end)| source.reading.source.get(start.span.start..end.span.end));
    Correction::Words(span.map_or_else(|| own.words.clone(), str::to_owned))
}

/// Returns the user's words for a route: `Oakmead to Stonebridge`.
fn correct_route(source: &Source) -> Option<Correction> {
    let names = || source.reading.mentions.iter().filter(|own| matches!(own.value, Value::Name(_)));
    let from = names().find(|own| own.link == Link::From)?;
    let to = names().find(|own| own.link == Link::To)?;
    let words = source.reading.source.get(from.span.start..to.span.end)?;
    Some(Correction::Words(words.to_owned()))
}

//! Writes goals that follow a question: another question about the record, a change of it, and the consent
//! for the change.

use diorama_seeds::doc::{PlaceDoc, ScenarioGoalDoc, ScenarioStepDoc, ScenarioWhenDoc};
use diorama_seeds::english::{lowered, split_identifier};
use diorama_seeds::materialise::provider_of_name;
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Change, DomainId, FieldId, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{Type, refers_to};

use super::sketch::{NamedRecord, Sketch, member};
use super::spoken::{SPOKEN, both_hands};
use super::writer::choices;
use crate::scenarios::speech::fill;

impl<'a> Sketch<'a> {
    /// Returns a question for a field, without its mark: about the named record, else with a pronoun.
    pub(crate) fn bare_question(
        &self,
        resource: ResourceId,
        field: FieldId,
        it: Option<&str>,
    ) -> Option<String> {
        let asks = self.writer.guide().asks(resource, field);
        let plain = format!("What is the {} of {{it}}?", self.world().resource(resource).field(field).label);
        let ask = asks.first().unwrap_or(&plain);
        match it {
            Some(it) => {
                let noun = format!("the {} {{it}}", self.world().resource(resource).label);
                let ask = if ask.contains(&noun) { ask.replace(&noun, it) } else { ask.replace("{it}", it) };
                Some(lowered(ask.trim_end_matches('?')))
            }
            None => with_pronoun(ask, self.is_somebody(resource)),
        }
    }

    /// Returns true if the records of a resource are people. A personal name is not enough: signatures and
    /// addresses have one, too.
    pub(crate) fn is_person(&self, resource: ResourceId) -> bool {
        let described = self.world().resource(resource);
        let is_noun = || !self.is_of_document || provider_of_name(&described.label) == "person_name";
        described.display.is_some_and(|field| self.writer.is_person(resource, field)) && is_noun()
    }

    /// Returns true if the records of a resource are people, with or without a personal name: users have logins.
    fn is_somebody(&self, resource: ResourceId) -> bool {
        let is_noun = || provider_of_name(&self.world().resource(resource).label) == "person_name";
        self.is_person(resource) || self.is_of_document && is_noun()
    }

    /// Returns a further goal: a field of the same or another named record, whose value a reply shows at a
    /// path.
    pub(crate) fn further(
        &self,
        (resource, field): (ResourceId, FieldId),
        it: Option<&str>,
        place: &str,
    ) -> Option<ScenarioGoalDoc> {
        let question = self.bare_question(resource, field, it)?;
        let whose = if self.is_somebody(resource) { "Their" } else { "Its" };
        let end = self.statements(resource, field, it.unwrap_or("it"), place, false);
        let end = end.into_iter().map(|said| {
            match said.strip_prefix("The ").and_then(|said| said.split_once(" of it ")) {
                Some((noun, rest)) if it.is_none() => format!("{whose} {noun} {rest}"),
                _ => said,
            }
        });
        Some(ScenarioGoalDoc {
            user: both_hands(&SPOKEN.further, &[("x", &question)]),
            end: end.collect(),
            facts: vec![place.to_owned()],
            ..ScenarioGoalDoc::default()
        })
    }

    /// Does the same as [`Sketch::further`], and restricts the binding to records with a value of the field.
    pub(crate) fn add_further(
        &mut self,
        (resource, field): (ResourceId, FieldId),
        it: Option<&str>,
        place: &str,
    ) -> Option<ScenarioGoalDoc> {
        let name = self.world().resource(resource).field(field).name.to_string();
        self.only_where(place, format!("item.{name} != null"));
        self.only_telling(place, resource, field);
        self.further((resource, field), it, &member(place, &name))
    }

    /// Returns the assistant's question for consent before a final change or a payment; none for other
    /// changes.
    pub(crate) fn consent(&self, id: ApiId) -> Option<ScenarioStepDoc> {
        let api = self.world().api(id);
        let clause = self.clauses(id).into_iter().next()?;
        let verb = clause.split(' ').next()?;
        let say = if removed(api).is_some() || SPOKEN.undone.iter().any(|word| word == verb) {
            &SPOKEN.confirm
        } else if is_payment(api) {
            &SPOKEN.confirm_payment
        } else {
            return None;
        };
        let clause = clause.replace(" my ", " your ");
        let say = say.iter().map(|words| fill(words, &[("x", &clause)])).collect();
        Some(ScenarioStepDoc { say, user: SPOKEN.agree.clone(), ..ScenarioStepDoc::default() })
    }

    /// Makes the last message use the old names of changed or removed records. Returns none if that is
    /// impossible.
    pub(crate) fn keep_names(&mut self, id: ApiId, end: &mut [String]) -> Option<()> {
        let api = self.world().api(id);
        let gone = match &api.behaviour.kind {
            BehaviourKind::Patch { resource, .. } | BehaviourKind::Replace { resource, .. } => {
                Some(*resource)
            }
            _ => removed(api),
        };
        let Some(gone) = gone else { return Some(()) };
        let named: Vec<(String, String)> = (0..self.records.len())
            .filter(|at| self.records[*at].resource == gone)
            .map(|at| (self.records[at].place.clone(), self.called_by(at)))
            .collect();
        for (place, field) in named {
            is_identifier(&field).then_some(())?;
            let name = format!("{place}_before");
            let value = Some(format!("{place}.{field}"));
            self.doc.bind.insert(name.clone(), PlaceDoc { value, ..PlaceDoc::default() });
            for words in end.iter_mut() {
                for next in ['}', '|', '.'] {
                    let own = format!("{{{place}.{field}{next}");
                    *words = words.replace(&own, &format!("{{{name}{next}"));
                }
                for next in ['}', '|'] {
                    *words = words.replace(&format!("{{{place}{next}"), &format!("{{{name}{next}"));
                }
            }
        }
        Some(())
    }
}

/// Returns the resource whose records an API removes.
fn removed(api: &Api) -> Option<ResourceId> {
    match &api.behaviour.kind {
        BehaviourKind::Delete { resource, .. } => Some(*resource),
        _ => {
            let mut effects = api.behaviour.also.iter();
            effects
                .find(|effect| matches!(effect.change, Change::Delete { .. }))
                .map(|effect| effect.resource)
        }
    }
}

/// Returns true if an API moves money: it creates or acts, and its name says so.
fn is_payment(api: &Api) -> bool {
    matches!(api.behaviour.kind, BehaviourKind::Create { .. } | BehaviourKind::Action { .. })
        && split_identifier(&api.name).iter().any(|word| SPOKEN.payments.contains(word))
}

/// Puts a pronoun into a question, without its mark: `What is the type of {it}?` becomes `what is its type`.
/// Returns none if a person would need another pronoun.
fn with_pronoun(ask: &str, is_person: bool) -> Option<String> {
    let ask = ask.trim_end_matches('?');
    let split = ask.strip_suffix(" of {it}").and_then(|ask| ask.split_once(" the "));
    // `What is the colour of the cover of {it}?` does not become `what is its colour of the cover`.
    if let Some((verb, noun)) = split.filter(|(_, noun)| !noun.contains(" of ")) {
        return Some(format!("{} {} {noun}", lowered(verb), if is_person { "their" } else { "its" }));
    }
    (!is_person).then(|| lowered(&ask.replace("{it}", "it")))
}

/// Puts `it` into a clause for a binding's record: `delete {the_item|called("item")} of {the_vault}` becomes
/// `delete it`.
/// `change the name of {the_item} to {name}` becomes `change its name to {name}`.
fn with_it(clause: &str, place: &str, is_person: bool) -> Option<String> {
    let begin = format!("{{{place}");
    let is_whole = |(at, _): &(usize, &str)| clause[at + begin.len()..].starts_with(['}', '|', '.']);
    let (at, _) = clause.match_indices(&begin).find(is_whole)?;
    let (verb, rest) = clause.split_at(at);
    let (_, mut rest) = rest.split_once('}')?;
    let changed = verb.strip_prefix("change the ").and_then(|noun| noun.strip_suffix(" of "));
    if let (Some(noun), true) = (changed.filter(|noun| !noun.contains(" of ")), rest.starts_with(" to ")) {
        return Some(format!("change {} {noun}{rest}", if is_person { "their" } else { "its" }));
    }
    while let Some((joint, other)) = rest.split_once('{') {
        matches!(joint.trim(), "of" | "in" | "from" | "of the" | "in the").then_some(())?;
        rest = other.split_once('}')?.1;
    }
    (rest.is_empty() && verb.split_whitespace().count() == 1).then(|| format!("{verb}it"))
}

impl<'a> Sketch<'a> {
    /// Returns changes of the record that a question was about, each with its additions to the sketch.
    /// `fact` is the requested fact; removals are included if `removes` is true.
    pub(crate) fn changes_after(
        &self,
        domain: DomainId,
        (resource, removes): (ResourceId, bool),
        fact: Option<&String>,
    ) -> impl Iterator<Item = (Self, ScenarioGoalDoc)> {
        let writers = self.writer.survey().writers.iter().copied();
        writers
            .filter(move |id| self.takes(*id, domain, resource))
            .filter(move |id| removes || removed(self.world().api(*id)).is_none())
            .filter_map(move |id| self.change_after(id, resource, fact))
    }

    /// Returns goals that use a new record: another is created below it, or added to it. `key` is the path of
    /// its key in the reply.
    pub(crate) fn uses_of_new(
        &self,
        domain: DomainId,
        resource: ResourceId,
        key: &str,
    ) -> impl Iterator<Item = (Self, ScenarioGoalDoc)> {
        let mut made = self.clone();
        made.records.retain(|named| named.resource != resource);
        made.records.push(NamedRecord::made(resource, key.to_owned()));
        let fact = key.to_owned();
        let writers = self.writer.survey().writers.iter().copied();
        let takes = move |id: &ApiId| self.takes(*id, domain, resource) && self.makes_other(*id, resource);
        writers.filter(takes).filter_map(move |id| {
            let (second, mut goal) = made.change_after(id, resource, Some(&fact))?;
            let clause = second
                .clauses(id)
                .into_iter()
                .find(|clause| clause.ends_with(" it") || clause.contains(" it "))?;
            goal.user = both_hands(&SPOKEN.with_new, &[("x", &clause)]);
            Some((second, goal))
        })
    }

    /// Returns true if users ask for an API of a domain, and it takes a record of a resource.
    fn takes(&self, id: ApiId, domain: DomainId, resource: ResourceId) -> bool {
        let api = self.world().api(id);
        let of = |kind: &Type| refers_to(kind) == Some(resource);
        api.domain == domain
            && self.writer.guide().api(id).no_request.is_none()
            && api.parameters.iter().any(|parameter| parameter.required && of(&parameter.schema.kind))
    }

    /// Returns true if an API creates or changes records of another resource: users do not change a record
    /// that they just made.
    fn makes_other(&self, id: ApiId, resource: ResourceId) -> bool {
        match &self.world().api(id).behaviour.kind {
            BehaviourKind::Create { resource: made, .. } => *made != resource,
            BehaviourKind::Patch { resource: changed, .. }
            | BehaviourKind::Replace { resource: changed, .. } => {
                *changed != resource && self.world().api(id).behaviour.upsert
            }
            _ => false,
        }
    }

    /// Returns a change, by one API, of the record that a question was about.
    fn change_after(
        &self,
        id: ApiId,
        resource: ResourceId,
        fact: Option<&String>,
    ) -> Option<(Self, ScenarioGoalDoc)> {
        let mut second = self.clone();
        let known = second.steps.len();
        second.said.clear();
        second.new.clear();
        let chosen = choices(self.world().api(id), self.writer.guide(), id).pop()?;
        second.call(id, &chosen, "changed").ok()?;
        let mut steps = second.steps.split_off(known);
        let clauses = second.clauses(id);
        let clause = clauses.first()?;
        let named = second.named(resource).map(|at| second.records[at].place.clone());
        if let Some(consent) = second.consent(id) {
            steps.insert(steps.len().saturating_sub(1), consent);
        }
        let mut end = second.done(id, "changed", None);
        second.keep_names(id, &mut end)?;
        // The record of the question becomes `it`.
        let is_person = self.is_person(resource);
        let clause =
            named.and_then(|place| with_it(clause, &place, is_person)).unwrap_or_else(|| clause.clone());
        let goal = ScenarioGoalDoc {
            when: fact.map(|fact| ScenarioWhenDoc { shown: Some(fact.clone()), outcome: None }),
            user: both_hands(&SPOKEN.then, &[("x", &clause)]),
            does: steps,
            end,
            ..ScenarioGoalDoc::default()
        };
        Some((second, goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_named_record_becomes_it() {
        let check = |clause: &str, expect: Option<&str>| {
            assert_eq!(with_it(clause, "the_item", false).as_deref(), expect, "{clause}");
        };
        check("delete {the_item|called(\"item\")} of {the_vault|called(\"vault\")}", Some("delete it"));
        check("delete {the_item}", Some("delete it"));
        check(
            "change the name of {the_item} to {the_new_item.name}",
            Some("change its name to {the_new_item.name}"),
        );
        check("change the name of {the_item} and the price to {price}", None);
        check("delete {the_vault}", None);
        check("delete {the_item.id}", Some("delete it"));
        check("delete {the_item_2}", None);
    }

    #[test]
    fn a_later_question_uses_a_pronoun_for_the_record() {
        let check = |ask: &str, person: bool, expect: Option<&str>| {
            assert_eq!(with_pronoun(ask, person).as_deref(), expect, "{ask}");
        };
        check("What is the type of {it}?", false, Some("what is its type"));
        check("What are the headquarters of {it}?", false, Some("what are its headquarters"));
        check("What is the email of {it}?", true, Some("what is their email"));
        check("What is the date of issue of {it}?", false, Some("what is the date of issue of it"));
        check("What is the date of birth of {it}?", true, None);
        check("When was {it} created?", false, Some("when was it created"));
        check("When was {it} born?", true, None);
    }
}

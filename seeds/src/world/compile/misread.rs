//! Owns the misreadings of a policy: its rules with another number, or without their exceptions.

use super::api::Builder;
use super::house::meaning;
use crate::doc::{AmountDoc, HouseDoc, RuleDoc};
use crate::expr;
use crate::model::{Misreading, ReadingError};

impl Builder<'_> {
    /// Returns the misreadings of the rules that govern the API, in the order of the rules.
    pub(super) fn misreadings(&mut self) -> Vec<Misreading> {
        let Some(house) = self.shared.part.house() else { return Vec::new() };
        let governs = |rule: &&RuleDoc| rule.calls.contains(&self.doc.name);
        let governing: Vec<&RuleDoc> = house.rules.iter().filter(governs).collect();
        let governing = governing.into_iter().filter(|rule| source(rule, house).is_some());
        let mut found = Vec::new();
        for (position, rule) in governing.enumerate() {
            for (error, misread) in misread(rule, house) {
                // The errors of an expression are reported for the rule itself.
                let that = source(&misread, house)
                    .and_then(|source| expr::compile_condition(&source, &mut self.scope).ok());
                found.extend(that.map(|that| Misreading { rule: position, error, that }));
            }
        }
        found
    }
}

/// Returns the condition of a rule, with the calls that it does not govern. Returns none for a rule without
/// one.
fn source(rule: &RuleDoc, house: &HouseDoc) -> Option<String> {
    let condition = meaning(rule, house)?.condition?;
    let when = rule.when.iter().map(|when| format!("!({when})"));
    let exceptions = rule.unless.iter().map(|exception| format!("({})", exception.that));
    let clauses = when.chain(std::iter::once(format!("({condition})"))).chain(exceptions);
    Some(clauses.collect::<Vec<_>>().join(" || "))
}

/// Returns a rule with each of its misreadings.
fn misread(rule: &RuleDoc, house: &HouseDoc) -> Vec<(ReadingError, RuleDoc)> {
    let mut found = Vec::new();
    let numbers: Vec<AmountDoc> =
        amounts(&mut rule.clone()).into_iter().map(|amount| amount.clone()).collect();
    for (position, amount) in numbers.iter().enumerate() {
        for (error, number) in misread_number(amount, house) {
            let mut misread = rule.clone();
            if let Some(amount) = amounts(&mut misread).into_iter().nth(position) {
                *amount = AmountDoc::Number(number);
            }
            found.push((error, misread));
        }
    }
    if !rule.unless.is_empty() {
        found.push((ReadingError::NoException, RuleDoc { unless: Vec::new(), ..rule.clone() }));
    }
    found
}

/// Returns the numbers with which a number may be confused. Beyond the least and the greatest value that the
/// domain allows, the distance is that on the other side.
fn misread_number(amount: &AmountDoc, house: &HouseDoc) -> Vec<(ReadingError, i64)> {
    let (own, others) = match amount {
        AmountDoc::Number(number) => (*number, &[][..]),
        AmountDoc::Name(name) => match house.numbers.get(name).and_then(|values| values.split_first()) {
            Some((own, others)) => (*own, others),
            None => return Vec::new(),
        },
    };
    let below = others.iter().filter(|other| **other < own).max().map(|other| own - other);
    let above = others.iter().filter(|other| **other > own).min().map(|other| other - own);
    let by_one = [own.saturating_sub(1), own.saturating_add(1)];
    let next = [
        below.or(above).map(|step| own.saturating_sub(step)),
        above.or(below).map(|step| own.saturating_add(step)),
    ];
    let next = next.into_iter().flatten().filter(|number| !by_one.contains(number));
    let by_one = by_one.iter().map(|number| (ReadingError::ByOne, *number));
    by_one
        .chain(next.map(|number| (ReadingError::NextNumber, number)))
        .filter(|(_, number)| *number >= 0)
        .collect()
}

/// Returns the numbers of a rule.
fn amounts(rule: &mut RuleDoc) -> Vec<&mut AmountDoc> {
    let mut found = Vec::new();
    found.extend(rule.notice.iter_mut().flat_map(|notice| notice.hours.iter_mut().chain(&mut notice.days)));
    found.extend(rule.cap.iter_mut().map(|cap| &mut cap.at_most));
    found.extend(rule.frequency.iter_mut().map(|frequency| &mut frequency.at_most));
    found.extend(rule.window.iter_mut().flat_map(|window| [&mut window.from, &mut window.to]));
    found
}

//! Owns the consistency of objects: unknown members are derived from known members and from each other.

use serde_json::{Map, Value as Json};

use super::state::{Maker, Scope};
use crate::agreement::{
    Bond, Lies, Moment, Page, bonds, counted, holds_state, is_amount, is_of_money, page_member, reached,
    tells_same,
};
use crate::contract::check::{list, word};
use crate::contract::names::{noun, plain};
use crate::contract::sample::{self, DAY};
use crate::english::split_identifier;

/// An object whose members are made consistent.
struct Object<'o, 'm> {
    maker: &'o Maker<'m>,
    properties: &'o Map<String, Json>,
    required: &'o [Json],
    /// Members that may be changed.
    free: &'o [&'o str],
    seed: u64,
    /// Members whose value is known to be null.
    nulls: Vec<&'o str>,
    out: &'o mut Map<String, Json>,
}

impl Maker<'_> {
    /// Makes the members of an object consistent. Known members stay unchanged.
    pub(super) fn agree(
        &self,
        members: &Map<String, Json>,
        scope: &Scope<'_>,
        free: &[&str],
        out: &mut Map<String, Json>,
    ) {
        let Some(properties) = word(members, "properties").and_then(Json::as_object) else { return };
        if free.is_empty() || out.len() < 2 {
            return;
        }
        let is_null = |name: &&str| match scope {
            Scope::Record(known) => known.members.get(&plain(name)).is_some_and(Json::is_null),
            _ => false,
        };
        let nulls = properties.keys().map(String::as_str).filter(is_null).collect();
        let (required, seed) = (list(members, "required"), scope.known().seed);
        let mut object = Object { maker: self, properties, required, free, seed, nulls, out };
        object.count_lists();
        object.come_about();
        object.add_up();
        object.share_out();
        object.follow();
    }
}

impl Object<'_, '_> {
    fn is_free(&self, name: &str) -> bool {
        self.free.contains(&name)
    }

    /// Sets a free member if the value fits its schema. Returns true if it was set.
    fn set(&mut self, name: &str, value: Json) -> bool {
        let fits = self.properties.get(name).is_some_and(|part| self.maker.fits(part, &value));
        if fits && self.is_free(name) {
            self.out.insert(name.to_owned(), value);
        }
        fits && self.is_free(name)
    }

    /// Removes a free member, or sets it to null or an empty string if it is required.
    fn leave_out(&mut self, name: &str) {
        if !self.required.iter().any(|known| known.as_str() == Some(name)) && self.is_free(name) {
            self.out.shift_remove(name);
        } else if !self.set(name, Json::Null) {
            self.set(name, Json::from(""));
        }
    }

    /// Sets counts to the lengths of the lists beside them, and puts a complete list on one page.
    fn count_lists(&mut self) {
        let lists_in = |object: &Map<String, Json>| -> Vec<(String, usize)> {
            object.iter().filter_map(|(name, value)| Some((noun(name), value.as_array()?.len()))).collect()
        };
        let mut lists = lists_in(self.out);
        if lists.is_empty() {
            // An envelope holds the list.
            lists = self.out.values().filter_map(Json::as_object).flat_map(lists_in).collect();
        }
        if lists.is_empty() {
            return;
        }
        for name in self.free {
            let found = counted(name).and_then(|of| lists.iter().find(|(noun, _)| *noun == of));
            if let Some((_, count)) = found.filter(|_| self.out.get(*name).is_some_and(Json::is_number)) {
                self.set(name, Json::from(*count));
            }
        }
        let [(_, count)] = lists.as_slice() else { return };
        let there = self.free.iter().filter(|name| self.out.contains_key(**name));
        let roles: Vec<(&str, Page)> = there.filter_map(|name| Some((*name, page_member(name)?))).collect();
        // A single such word is ambiguous, and the total of an order does not count its lines.
        let is_priced = self.properties.keys().any(|name| is_of_money(name));
        let tells = roles.len() > 1 || !is_priced && roles.iter().any(|(_, role)| *role == Page::Total);
        for (name, role) in roles.into_iter().filter(|_| tells) {
            let own = self.out.get(name).and_then(Json::as_u64).unwrap_or_default();
            match (role, self.out.get(name)) {
                (Page::None, Some(Json::Bool(_))) => {
                    self.set(name, Json::Bool(false));
                }
                (Page::None, _) => self.leave_out(name),
                (_, Some(value)) if !value.is_number() => {}
                (Page::Total, _) => {
                    self.set(name, Json::from(*count));
                }
                (Page::One, _) => {
                    self.set(name, Json::from(1));
                }
                (Page::Size, _) => {
                    self.set(name, Json::from(own.max(*count as u64)));
                }
                (Page::Zero, _) => {
                    self.set(name, Json::from(0));
                }
            }
        }
    }

    /// Returns true or false if the member shows whether its event has happened.
    fn truth(&self, name: &str) -> Option<bool> {
        match self.out.get(name) {
            Some(Json::Bool(flag)) => Some(*flag),
            Some(value) => self.moment(name, value).map(|_| true),
            None => self.nulls.contains(&name).then_some(false),
        }
    }

    /// Sets a free member so that it shows whether its event has happened.
    fn set_truth(&mut self, name: &str, is_true: bool) {
        if self.out.get(name).is_some_and(Json::is_boolean) {
            self.set(name, Json::Bool(is_true));
        } else if !is_true {
            self.leave_out(name);
        }
    }

    /// Makes flags and timestamps consistent with the state beside them, and with each other.
    fn come_about(&mut self) {
        let properties = self.properties;
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let state =
            names.iter().find(|name| holds_state(name) && self.out.get(**name).is_some_and(Json::is_string));
        if let Some(state) = state {
            self.agree_with_state(state, &names);
        }
        for flag in &names {
            let Some(Json::Bool(is_true)) = self.out.get(*flag).cloned() else { continue };
            for other in names.iter().filter(|other| *other != flag) {
                let differs = self.truth(other).is_some_and(|is_there| is_there != is_true);
                if !differs || !tells_same(flag, other) {
                    continue;
                }
                if self.is_free(flag) {
                    self.set(flag, Json::Bool(!is_true));
                } else if self.is_free(other) {
                    self.set_truth(other, is_true);
                }
                break;
            }
        }
    }

    fn agree_with_state(&mut self, state: &str, names: &[&str]) {
        let Some(own) = self.out.get(state).and_then(Json::as_str).map(str::to_owned) else { return };
        let schema =
            self.properties.get(state).map(|part| self.maker.schemas.flat(part).members.into_owned());
        let values = schema.as_ref().map_or(&[][..], |schema| list(schema, "enum"));
        let values: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
        let values = if values.is_empty() { vec![own.as_str()] } else { values };
        let others = || names.iter().filter(|name| **name != state);
        let mut now = own.clone();
        if self.is_free(state) {
            let told: Vec<(&str, bool)> = others()
                .filter(|name| !self.is_free(name))
                .filter_map(|name| Some((*name, self.truth(name)?)))
                .collect();
            let fits = |value: &&&str| {
                told.iter().all(|(name, is_true)| {
                    reached(name, &values).is_none_or(|reached| reached.contains(*value) == *is_true)
                })
            };
            let from = values.iter().position(|value| *value == own).unwrap_or_default();
            let mut turned = values.iter().cycle().skip(from).take(values.len());
            if let Some(value) = turned.find(fits)
                && self.set(state, Json::from(*value))
            {
                now = (*value).to_owned();
            }
        }
        for name in others().filter(|name| self.is_free(name)).copied().collect::<Vec<_>>() {
            let Some(is_true) = self.truth(name) else { continue };
            let reached = reached(name, &values).map(|reached| reached.contains(&now.as_str()));
            if let Some(should) = reached.filter(|should| *should != is_true) {
                self.set_truth(name, should);
            }
        }
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.out.get(name).filter(|value| value.is_number())?.as_f64()
    }

    fn set_number(&mut self, name: &str, value: f64) -> bool {
        let is_whole = self.out.get(name).is_some_and(|old| old.is_i64() || old.is_u64());
        let cents = (value * 100.0).round() / 100.0;
        let json = if is_whole { Json::from(value.round() as i64) } else { Json::from(cents) };
        self.set(name, json)
    }

    /// Sets sums to the sums of their parts, and keeps each part at most as great as the whole.
    fn add_up(&mut self) {
        let numbers = self.out.iter().filter(|(_, value)| value.is_number()).map(|(name, _)| name.clone());
        let names: Vec<String> = numbers.collect();
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        if texts.len() < 2 || texts.iter().all(|name| !self.is_free(name)) {
            return;
        }
        let name = |at: &usize| texts.get(*at).copied().unwrap_or_default();
        for bond in bonds(&texts) {
            match bond {
                Bond::Sum { whole, plus, minus } => {
                    let sum = |object: &Self, of: &[usize]| -> f64 {
                        of.iter().filter_map(|at| object.number(name(at))).sum()
                    };
                    let (added, taken) = (sum(self, &plus), sum(self, &minus));
                    if self.is_free(name(&whole)) && self.set_number(name(&whole), added - taken) {
                        continue;
                    }
                    // A known sum stays unchanged, and a free part takes the difference.
                    let Some(told) = self.number(name(&whole)) else { continue };
                    for at in plus.iter().filter(|at| self.is_free(name(at))).copied().collect::<Vec<_>>() {
                        let own = self.number(name(&at)).unwrap_or_default();
                        let rest = told - (sum(self, &plus) - own) + taken;
                        if rest >= 0.0 && self.set_number(name(&at), rest) {
                            break;
                        }
                        self.set_number(name(&at), 0.0);
                    }
                }
                Bond::Order { less, more } => {
                    let (Some(low), Some(high)) = (self.number(name(&less)), self.number(name(&more))) else {
                        continue;
                    };
                    if low > high
                        && !(self.is_free(name(&less)) && self.set_number(name(&less), (high / 2.0).floor()))
                    {
                        self.set_number(name(&more), low * 2.0);
                    }
                }
            }
        }
    }

    /// Distributes the total over the amounts of the list's items.
    fn share_out(&mut self) {
        let is_list = |name: &&&str| {
            self.out.get(**name).and_then(Json::as_array).is_some_and(|items| !items.is_empty())
        };
        let mut lists = self.free.iter().filter(is_list);
        let (Some(of), None) = (lists.next().copied(), lists.next()) else { return };
        let role = |name: &&String| {
            let words = split_identifier(name);
            let has = |word: &str| words.iter().any(|known| known == word);
            if has("subtotal") {
                Some(0)
            } else if has("total") && is_amount(name) {
                Some(1)
            } else {
                None
            }
        };
        let totals = self.out.iter().filter(|(_, value)| value.is_number()).map(|(name, _)| name);
        let Some(total) = totals.filter(|name| role(name).is_some()).min_by_key(role).cloned() else {
            return;
        };
        let Some(whole) = self.number(&total).filter(|whole| *whole > 0.0) else { return };
        let Some(Json::Array(mut items)) = self.out.get(of).cloned() else { return };
        let is_whole = self.out.get(&total).is_some_and(Json::is_i64);
        let count = items.len() as f64;
        let unit = if is_whole { 1.0 } else { 100.0 };
        let share = (whole * unit / count).floor() / unit;
        let end = items.len() - 1;
        for (at, item) in items.iter_mut().enumerate() {
            let Json::Object(item) = item else { return };
            if !item.iter().any(|(name, value)| value.is_number() && is_amount(name)) {
                return;
            }
            let own = if at == end { whole - share * (count - 1.0) } else { share };
            let own = (own * unit).round() / unit;
            for (name, value) in item.iter_mut().filter(|(_, value)| value.is_number()) {
                let words = split_identifier(name);
                let has = |wanted: &str| words.iter().any(|word| word == wanted);
                let amount = match () {
                    () if has("discount") || has("tax") => 0.0,
                    () if has("quantity") || has("qty") => 1.0,
                    () if is_amount(name) => own,
                    () => continue,
                };
                let is_whole = value.is_i64() || value.is_u64();
                *value = if is_whole { Json::from(amount.round() as i64) } else { Json::from(amount) };
            }
        }
        self.set(of, Json::Array(items));
    }

    /// Returns the Unix time in seconds of a value that is a timestamp.
    fn moment(&self, name: &str, value: &Json) -> Option<i64> {
        match value {
            Json::String(text) => sample::seconds(text),
            Json::Number(number) if sample::is_moment(name) => {
                // The schema may declare an integer or a floating-point number.
                let whole = number.as_i64().or_else(|| number.as_f64().map(|real| real as i64))?;
                // Unix times in milliseconds have thirteen digits.
                let seconds = if whole > 100_000_000_000 { whole / 1_000 } else { whole };
                (seconds > 100_000_000).then_some(seconds)
            }
            _ => None,
        }
    }

    fn set_moment(&mut self, name: &str, seconds: i64) {
        let value = match self.out.get(name) {
            Some(Json::String(text)) if text.len() == 10 => Json::from(sample::day(seconds)),
            Some(Json::String(_)) => Json::from(sample::moment(seconds)),
            Some(Json::Number(number)) if number.as_f64().is_some_and(|old| old > 100_000_000_000.0) => {
                Json::from(seconds * 1_000)
            }
            _ => Json::from(seconds),
        };
        self.set(name, value);
    }

    /// Orders timestamps as their names require. Timestamps of past events must not lie in the future.
    fn follow(&mut self) {
        let now = self.maker.facts.now;
        let mut moments: Vec<(String, Moment, i64)> = self
            .out
            .iter()
            .filter_map(|(name, value)| Some((name, self.moment(name, value)?)))
            .map(|(name, seconds)| (name.clone(), Moment::named(name), seconds))
            .collect();
        moments.sort_by_key(|(_, moment, _)| moment.stage());
        for at in 0..moments.len() {
            let Some((name, own, seconds)) = moments.get(at).cloned() else { continue };
            if !self.is_free(&name) {
                continue;
            }
            let before = moments.iter().take(at).filter(|(_, other, _)| other.precedes(&own));
            let low = before.map(|(_, _, seconds)| *seconds).max();
            let after = moments.iter().filter(|(name, other, _)| own.precedes(other) && !self.is_free(name));
            let high = after.map(|(_, _, seconds)| *seconds).min();
            let high = if own.lies == Lies::Past { Some(high.unwrap_or(now).min(now)) } else { high };
            let is_kept = low.is_none_or(|low| low <= seconds) && high.is_none_or(|high| seconds <= high);
            if is_kept {
                continue;
            }
            let step = if own.is_long {
                30 * DAY
            } else {
                3_600 * (1 + (sample::mix(self.seed, &name) % 40) as i64)
            };
            let moved = match (low, high) {
                (Some(low), Some(high)) if low + step > high => low.midpoint(high.max(low)),
                (Some(low), _) => low + step,
                (None, Some(high)) => high - step,
                (None, None) => seconds,
            };
            self.set_moment(&name, moved);
            if let Some(known) = moments.get_mut(at) {
                known.2 = moved;
            }
        }
    }
}

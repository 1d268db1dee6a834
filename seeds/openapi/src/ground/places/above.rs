//! Finds the parent records that the keys in a path name.

use std::collections::HashSet;

use diorama_seeds::contract::{ANY_KEY, key_name, noun, plain};

use super::{Collection, ParentKey, Part, Places, form};
use crate::hypotheses::Strength;
use crate::shape::Shape;
use crate::words::{identifier, is_id};

impl Collection {
    /// Returns true if its records have keys: paths end with them, or its list shows them as ids.
    fn is_keyed(&self) -> bool {
        let shows = |record: &Shape| record.member("id").is_some();
        self.item.is_some() || (self.listed && self.record.as_ref().is_some_and(shows))
    }
}

impl Places {
    /// Returns the shown collection of a noun whose records have keys in paths.
    /// One whose key has the given name comes first, then the one whose path shares most with the given path.
    pub(in crate::ground) fn by_noun(
        &self,
        wanted: &str,
        but: usize,
        parts: &[Part],
        key: &str,
    ) -> Option<usize> {
        let fits = |index: usize, found: &Collection| {
            index != but && self.is_shown(index) && found.noun == wanted && found.is_keyed()
        };
        let fitting = self.all.values().enumerate().filter(|(index, found)| fits(*index, found));
        let shared =
            |found: &Collection| found.parts.iter().zip(parts).take_while(|(one, two)| one == two).count();
        fitting
            .min_by_key(|(_, found)| {
                let other = found.item.as_deref() != Some(key);
                (other, std::cmp::Reverse(shared(found)), found.parts.len())
            })
            .map(|(index, _)| index)
    }

    /// Returns the only shown collection whose records' paths have a key of that name.
    pub(super) fn by_item(&self, key: &str, but: usize) -> Option<usize> {
        let fits = |(index, found): &(usize, &Collection)| {
            *index != but && self.is_shown(*index) && found.item.as_deref() == Some(key)
        };
        let mut all = self.all.values().enumerate().filter(fits);
        let (index, _) = all.next().filter(|_| !ANY_KEY.contains(&&*plain(key)))?;
        all.next().is_none().then_some(index)
    }

    pub(super) fn find_above(&mut self, index: usize) {
        let Some((_, found)) = self.all.get_index(index) else { return };
        let above = self.above(&found.parts, index);
        let shown = self.is_shown(index);
        let key = found.item.as_deref().unwrap_or_default();
        // A record with a member of the parameter's name owns that key, unless the path adds records of
        // another kind.
        let shows_key = |record: &Shape| {
            record.members().is_some_and(|all| all.keys().any(|name| plain(name) == plain(key)))
        };
        let is_shown_by_it = found.record.as_ref().is_some_and(shows_key);
        let stem = key_name(key).filter(|_| found.joined || is_id(key) || !is_shown_by_it);
        let stem = stem.map(|(stem, _)| stem).unwrap_or_default();
        let other = match (stem.is_empty(), stem == found.noun) {
            (false, false) => self.by_noun(&stem, index, &found.parts, key),
            // The key of a user that is added here means that user.
            (false, true) if found.joined => self.by_noun(&stem, index, &found.parts, key),
            _ if !shown && !found.single => self.by_noun(&found.noun, index, &found.parts, key),
            _ => None,
        };
        // A collection takes no keys from its own children.
        let own = form(&found.parts);
        // It takes none from a sibling that has the same keys and creates no records:
        // `/votes/shows/{show_id}` beside `/follows/shows/{show_id}`.
        let is_beside = |other: &Collection| {
            other.noun == found.noun
                && other.item.as_deref().map(plain) == Some(plain(key))
                && other.parts.len() >= found.parts.len()
                && !other.made
        };
        // An id that the record shows is its own: the `WebId` of elements does not name webs.
        let is_own = |path: &str| path.starts_with('{') && is_shown_by_it;
        let uses = other.filter(|other| {
            let other = self.all.get_index(*other);
            other.is_none_or(|(path, other)| {
                !path.starts_with(&format!("{own}/")) && !is_beside(other) && !is_own(path)
            })
        });
        if let Some((_, found)) = self.all.get_index_mut(index) {
            found.above = above;
            found.uses = uses.filter(|_| !found.single);
        }
    }

    /// Returns true if a collection is `of` or belongs to it, by its path, which begins with `path`, or by
    /// its parents.
    /// Callers pass no valid index as `of` where only the path counts.
    fn is_below(&self, index: usize, path: &str, of: usize) -> bool {
        let mut seen = HashSet::from([index]);
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            let Some((form, found)) = self.all.get_index(index) else { continue };
            if index == of || form.starts_with(path) {
                return true;
            }
            let exact = found.above.iter().filter(|known| known.exact).filter_map(|known| known.of);
            open.extend(exact.filter(|next| seen.insert(*next)));
        }
        false
    }

    /// Returns the nearest parent records of a path, and values without known records.
    pub(in crate::ground) fn above(&self, parts: &[Part], but: usize) -> Vec<ParentKey> {
        let mut above: Vec<ParentKey> = Vec::new();
        let mut at = 0;
        let mut before = String::new();
        let below = format!("{}/", form(parts));
        for (position, part) in parts.iter().enumerate() {
            let name = match part {
                Part::Text(text) => {
                    before = noun(text);
                    continue;
                }
                Part::Key(name) => name,
            };
            let path = form(parts.get(..position).unwrap_or_default());
            // The first part of a key of two is no key by itself.
            let is_first = self.is_first_part(parts, position);
            let exact = self.exact(&path).filter(|found| !is_first && self.is_shown(*found));
            let exact = exact.filter(|found| !self.is_below(*found, &below, but));
            let stem = key_name(name).map_or_else(|| noun(name), |(stem, _)| stem);
            let stem = Some(stem).filter(|stem| !stem.is_empty());
            // A key that only chooses a list names no record, unless it is an id.
            let chooses = self.lists.contains(&format!("{path}/{{}}"));
            let stem = stem.filter(|_| !chooses || is_id(name));
            let by_stem = || stem.as_deref().and_then(|stem| self.by_noun(stem, but, parts, name));
            let by_segment = || (!chooses).then(|| self.by_noun(&before, but, parts, name)).flatten();
            let by_item = || self.by_item(name, but);
            let guess = || {
                let whole = form(parts.get(..=position).unwrap_or_default());
                let take = self.guesses.guess("address", &whole, Strength::Noun, 4);
                let ways: [&dyn Fn() -> Option<usize>; 3] = [&by_stem, &by_segment, &by_item];
                let mut ways = ways.into_iter().filter_map(|find| find());
                let first = ways.next();
                let mut others = ways.filter(|way| Some(*way) != first);
                if take == 0 { first } else { others.nth(take - 1) }
            };
            let of = exact.or_else(guess);
            if let Some(found) = exact {
                // The nearest record already implies its own parents.
                let told = &self.all[found].above;
                above.retain(|known| !told.iter().any(|told| told.at == known.at));
            }
            let value = self.values.get(&form(parts.get(..=position).unwrap_or_default()));
            // A key that no reply shows is unknown to callers and has no effect.
            if let Some((field, picks)) = value {
                let field = field.clone();
                above.push(ParentKey {
                    at,
                    field,
                    exact: true,
                    picks: picks.clone(),
                    ..ParentKey::default()
                });
            } else if let Some(of) = of {
                let bare = key_name(name).is_some_and(|(stem, _)| stem.is_empty());
                let bare = bare || self.all[of].number.is_some();
                let field = if bare { format!("{}_id", self.all[of].name) } else { identifier(name) };
                let by = self.all[of].named_by(name);
                above.push(ParentKey {
                    at,
                    field,
                    of: Some(of),
                    exact: exact.is_some(),
                    by,
                    ..ParentKey::default()
                });
            }
            at += 1;
        }
        above
    }
}

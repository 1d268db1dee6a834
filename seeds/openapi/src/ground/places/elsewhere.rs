//! Finds paths that list or create records of a collection at another path.

use diorama_seeds::contract::{key_name, noun};

use super::{Collection, Part, Places, form, keys, noun_said};
use crate::hypotheses::Strength;
use crate::shape::Shape;
use crate::words::{is_id, words};

impl Places {
    /// Returns the collection of the same noun whose records have paths, for a path without any.
    /// `/users/{id}/lists` creates the records that `/lists/{id}` shows.
    pub(in crate::ground) fn same_elsewhere(&self, parts: &[Part]) -> Option<usize> {
        let Some(Part::Text(last)) = parts.last() else { return None };
        let own = self.all.get_index_of(&form(parts));
        let item = own.and_then(|own| self.all[own].item.as_ref());
        if own.is_some_and(|own| self.all[own].opened || self.all[own].joined) {
            return None;
        }
        let (wanted, known) = (noun(last), keys(parts));
        // Featured playlists are playlists if they look like them.
        let kind = own.and_then(|_| words(last).last().map(|word| noun(word))).unwrap_or_default();
        self.shortest(|index, other| {
            // Records that are changed here and shown there have the same key.
            (item.is_none() || item == other.item.as_ref())
                && self.is_alike(own, other)
                && (other.noun == wanted || other.noun == kind)
                && matches!(other.parts.last(), Some(Part::Text(_)))
                && other.opened
                && other.item.is_some()
                && own != Some(index)
                && keys(&other.parts).iter().all(|key| known.contains(key))
        })
    }

    /// Returns the keys in a collection's path that are the first part of a key of two.
    fn firsts<'c>(&self, found: &'c Collection) -> Vec<&'c str> {
        let whole = [found.parts.as_slice(), &[Part::Key(String::new())]].concat();
        let is_first = |at: &usize| self.is_first_part(&whole, *at);
        (0..found.parts.len()).filter(is_first).filter_map(|at| found.parts.get(at)?.key()).collect()
    }

    /// Returns true if a path's keys, and keys with one value, include all keys of a collection's path.
    fn is_named_by(&self, found: &Collection, known: &[&str]) -> bool {
        let firsts = self.firsts(found);
        let is_known = |key: &&str| known.contains(key) || self.is_constant(key) || firsts.contains(key);
        keys(&found.parts).iter().all(is_known)
    }

    /// Finds records that are created at paths which open none, and look like another collection's: `POST
    /// /user/repos` beside `/repos/{owner}/{repo}`.
    pub(super) fn find_made_elsewhere(&mut self) {
        // A POST that only takes a record's key creates none: `POST /me/player/queue?track_id=`.
        let makes =
            |found: &Collection| found.made && found.sent.is_some() && found.item.is_none() && !found.single;
        let of = |(path, found): (&String, &Collection)| {
            let index = self.kind(found.record.as_ref()?, &found.noun)?;
            let (other, known) = self.all.get_index(index).filter(|(other, _)| *other != path)?;
            let is_own = self.guesses.guess("made", path, Strength::Likeness, 2) == 1;
            let is_named = self.is_named_by(known, &keys(&found.parts));
            (is_named && !is_own).then(|| (path.clone(), other.clone()))
        };
        let found: Vec<(String, String)> =
            self.all.iter().filter(|(_, found)| makes(found)).filter_map(of).collect();
        for (path, other) in found {
            if let Some(found) = self.all.get_mut(&path) {
                found.made = false;
            }
            if let Some(known) = self.all.get_mut(&other) {
                known.made = true;
            }
            self.made_elsewhere.insert(path, other);
        }
    }

    /// Returns true if a path may show another collection's records: they have one schema, or share half of
    /// the members.
    pub(super) fn is_alike(&self, own: Option<usize>, other: &Collection) -> bool {
        let Some(own) = own.and_then(|own| self.all[own].record.as_ref()) else { return true };
        let Some(record) = other.record.as_ref() else { return true };
        let (Some(shown), Some(known)) = (own.members(), record.members()) else { return true };
        let shared = shown.keys().filter(|name| known.contains_key(*name)).count();
        (own.title.is_some() && own.title == record.title) || shared * 2 >= shown.len()
    }

    /// Returns the fitting collection with the shortest path.
    pub(super) fn shortest(&self, fits: impl Fn(usize, &Collection) -> bool) -> Option<usize> {
        let fitting = self.all.values().enumerate().filter(|(index, found)| fits(*index, found));
        fitting.min_by_key(|(_, found)| found.parts.len()).map(|(index, _)| index)
    }

    /// Returns the collection that a list shows: one of the same noun, or one of the same schema below the
    /// same first segment.
    /// `/pets/findByStatus` shows the records of `/pets/{id}`.
    pub(in crate::ground) fn listed_of(&self, parts: &[Part], item: &Shape) -> Option<usize> {
        let same = || {
            let title = item.title.as_ref()?;
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some()) {
                return None;
            }
            let known = keys(parts);
            self.shortest(|_, other| {
                let schema = other.record.as_ref().is_some_and(|record| record.title.as_ref() == Some(title));
                // Another first segment counts only if the records show their owner, or the list has none.
                let begins = other.parts.first() == parts.first()
                    || (keys(&other.parts).is_empty() && self.tells_owner(other, parts));
                // Keys with one value distinguish nothing.
                let is_known = |key: &&str| known.contains(key) || self.is_constant(key);
                schema && begins && other.opened && keys(&other.parts).iter().all(is_known)
            })
        };
        // A constant member may name the noun of a collection: `type: {enum: [task]}`.
        let said = || {
            let said = noun_said(item)?;
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some() || own.noun == said) {
                return None;
            }
            let known = keys(parts);
            self.shortest(|_, other| {
                let opens = other.opened && other.item.is_some() && !other.single;
                opens && other.noun == said && keys(&other.parts).iter().all(|key| known.contains(key))
            })
        };
        // Items that look like another collection's records are those records, whatever they are called.
        let alike = || {
            let own = self.all.get(&form(parts));
            let noun = own.map(|own| own.noun.as_str()).unwrap_or_default();
            let known = keys(parts);
            let index =
                self.kind(item, noun).filter(|_| own.is_none_or(|own| own.item.is_none() && !own.made))?;
            self.is_named_by(&self.all[index], &known).then_some(index)
        };
        let found = self.same_elsewhere(parts).or_else(same).or_else(said).or_else(alike)?;
        // The collection's requests name the parent of this list.
        let names = |key: &str| self.all[found].sent.as_ref().is_some_and(|sent| sent.member(key).is_some());
        if keys(parts).last().is_some_and(|key| is_id(key) && names(key)) {
            return Some(found);
        }
        let is_own = self.guesses.guess("list", &form(parts), Strength::Likeness, 2) == 1;
        (!is_own).then_some(found)
    }

    /// Returns the collection whose record a path without a key shows: `/movies/latest`.
    pub(in crate::ground) fn shown_of(&self, found: &Collection) -> Option<usize> {
        let only_shown =
            found.single && keys(&found.parts).is_empty() && !self.changed.contains(&form(&found.parts));
        let of = self.kind(found.record.as_ref().filter(|_| only_shown)?, &found.noun)?;
        let other = &self.all[of];
        let begins = other.parts.len() < found.parts.len() && found.parts.starts_with(&other.parts);
        (begins && keys(&other.parts).is_empty()).then_some(of)
    }

    /// Does the same for a path that is no collection.
    pub(in crate::ground) fn one_shown(&self, parts: &[Part], record: &Shape) -> Option<usize> {
        let found = Collection {
            parts: parts.to_vec(),
            single: true,
            record: Some(record.clone()),
            ..Collection::default()
        };
        self.shown_of(&found)
    }

    /// Returns true if a collection's records show the record that a path names, if it names one.
    fn tells_owner(&self, found: &Collection, parts: &[Part]) -> bool {
        let Some(at) = parts.iter().rposition(|part| matches!(part, Part::Key(_))) else { return true };
        // A key without a collection owns no records.
        if !self.all.contains_key(&form(parts.get(..at).unwrap_or_default())) {
            return true;
        }
        let Some(Part::Text(owner)) = at.checked_sub(1).and_then(|before| parts.get(before)) else {
            return false;
        };
        let members = found.record.as_ref().and_then(Shape::members);
        members.into_iter().flatten().any(|(name, member)| {
            let stem = key_name(name).filter(|_| is_id(name)).map_or_else(|| noun(name), |(stem, _)| stem);
            member.required && stem == noun(owner)
        })
    }

    /// Returns the collection of a record that is created at a path without one of its own.
    /// The path may leave out parents (`POST /threads/runs` beside `/threads/{thread_id}/runs`).
    pub(in crate::ground) fn made_in(&self, parts: &[Part]) -> Option<usize> {
        let Some(Part::Text(last)) = parts.last() else { return None };
        if let Some(other) = self.made_elsewhere.get(&form(parts)) {
            return self.all.get_index_of(other);
        }
        let beside = || {
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some() || own.listed) {
                return None;
            }
            let wanted = noun(last);
            self.shortest(|_, other| {
                let named = other.noun == wanted && matches!(other.parts.last(), Some(Part::Text(_)));
                named && other.opened && other.item.is_some() && other.parts.first() == parts.first()
            })
        };
        // A path that lists by a key creates records at the path before the key.
        let listing = format!("{}/{{}}", form(parts));
        let listing = self.all.get_index_of(&listing).filter(|_| self.lists.contains(&listing));
        listing.or_else(|| self.same_elsewhere(parts)).or_else(beside)
    }
}

//! Paths that list or make records which have their own paths at another place.

use diorama_seeds::contract::{key_name, noun};

use super::{Collection, Part, Places, form, keys, noun_said};
use crate::hypotheses::Strength;
use crate::shape::Shape;
use crate::words::{is_id, words};

impl Places {
    /// The collection of the same noun whose records have paths of their own, for a path that has none below it:
    /// what `/users/{id}/lists` makes is what `/lists/{id}` shows.
    pub(in crate::ground) fn same_elsewhere(&self, parts: &[Part]) -> Option<usize> {
        let Some(Part::Text(last)) = parts.last() else { return None };
        let own = self.all.get_index_of(&form(parts));
        let item = own.and_then(|own| self.all[own].item.as_ref());
        if own.is_some_and(|own| self.all[own].opened || self.all[own].joined) {
            return None;
        }
        let (wanted, known) = (noun(last), keys(parts));
        // Featured playlists are playlists, where they look like them.
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

    /// The keys in a collection's path that are the first part of a key of two, and no record's own.
    fn firsts<'c>(&self, found: &'c Collection) -> Vec<&'c str> {
        let whole = [found.parts.as_slice(), &[Part::Key(String::new())]].concat();
        let is_first = |at: &usize| self.is_first_part(&whole, *at);
        (0..found.parts.len()).filter(is_first).filter_map(|at| found.parts.get(at)?.key()).collect()
    }

    /// Whether the keys in a path, and those that have one value, are all that a collection's own path names.
    fn is_named_by(&self, found: &Collection, known: &[&str]) -> bool {
        let firsts = self.firsts(found);
        let is_known = |key: &&str| known.contains(key) || self.is_constant(key) || firsts.contains(key);
        keys(&found.parts).iter().all(is_known)
    }

    /// Finds what is made at paths that open none of it, and looks like what other places open: `POST /user/repos` beside
    /// `/repos/{owner}/{repo}`.
    pub(super) fn find_made_elsewhere(&mut self) {
        // What only takes a key of what is there makes nothing: `POST /me/player/queue?track_id=`.
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

    /// Whether what a place shows may be the records of another: they have the same schema, or share half of its members.
    pub(super) fn is_alike(&self, own: Option<usize>, other: &Collection) -> bool {
        let Some(own) = own.and_then(|own| self.all[own].record.as_ref()) else { return true };
        let Some(record) = other.record.as_ref() else { return true };
        let (Some(shown), Some(known)) = (own.members(), record.members()) else { return true };
        let shared = shown.keys().filter(|name| known.contains_key(*name)).count();
        (own.title.is_some() && own.title == record.title) || shared * 2 >= shown.len()
    }

    /// The collection with the shortest path of those that fit.
    pub(super) fn shortest(&self, fits: impl Fn(usize, &Collection) -> bool) -> Option<usize> {
        let fitting = self.all.values().enumerate().filter(|(index, found)| fits(*index, found));
        fitting.min_by_key(|(_, found)| found.parts.len()).map(|(index, _)| index)
    }

    /// The collection that a list shows: that of the same noun, or one whose records have the schema of its items and
    /// whose path begins as its own does (`/pets/findByStatus` beside `/pets/{id}`).
    pub(in crate::ground) fn listed_of(&self, parts: &[Part], item: &Shape) -> Option<usize> {
        let same = || {
            let title = item.title.as_ref()?;
            if self.all.get(&form(parts)).is_some_and(|own| own.item.is_some()) {
                return None;
            }
            let known = keys(parts);
            self.shortest(|_, other| {
                let schema = other.record.as_ref().is_some_and(|record| record.title.as_ref() == Some(title));
                // Elsewhere only where records say to what they belong, or the list has those of nobody.
                let begins = other.parts.first() == parts.first()
                    || (keys(&other.parts).is_empty() && self.tells_owner(other, parts));
                // Keys that have one value tell nothing apart.
                let is_known = |key: &&str| known.contains(key) || self.is_constant(key);
                schema && begins && other.opened && keys(&other.parts).iter().all(is_known)
            })
        };
        // What all items say of themselves is the noun of a place: `type: {enum: [task]}`.
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
        // Whatever they are called, items that look like the records of another place are those.
        let alike = || {
            let own = self.all.get(&form(parts));
            let noun = own.map(|own| own.noun.as_str()).unwrap_or_default();
            let known = keys(parts);
            let index =
                self.kind(item, noun).filter(|_| own.is_none_or(|own| own.item.is_none() && !own.made))?;
            self.is_named_by(&self.all[index], &known).then_some(index)
        };
        let found = self.same_elsewhere(parts).or_else(same).or_else(said).or_else(alike)?;
        // What is made elsewhere names what it is listed below.
        let names = |key: &str| self.all[found].sent.as_ref().is_some_and(|sent| sent.member(key).is_some());
        if keys(parts).last().is_some_and(|key| is_id(key) && names(key)) {
            return Some(found);
        }
        let is_own = self.guesses.guess("list", &form(parts), Strength::Likeness, 2) == 1;
        (!is_own).then_some(found)
    }

    /// The collection of which a place that no key opens shows one record: `/movies/latest`.
    pub(in crate::ground) fn shown_of(&self, found: &Collection) -> Option<usize> {
        let only_shown =
            found.single && keys(&found.parts).is_empty() && !self.changed.contains(&form(&found.parts));
        let of = self.kind(found.record.as_ref().filter(|_| only_shown)?, &found.noun)?;
        let other = &self.all[of];
        let begins = other.parts.len() < found.parts.len() && found.parts.starts_with(&other.parts);
        (begins && keys(&other.parts).is_empty()).then_some(of)
    }

    /// The same of a path that is no place.
    pub(in crate::ground) fn one_shown(&self, parts: &[Part], record: &Shape) -> Option<usize> {
        let found = Collection {
            parts: parts.to_vec(),
            single: true,
            record: Some(record.clone()),
            ..Collection::default()
        };
        self.shown_of(&found)
    }

    /// Whether the records of a collection show the one that a path is about, if it is about one.
    fn tells_owner(&self, found: &Collection, parts: &[Part]) -> bool {
        let Some(at) = parts.iter().rposition(|part| matches!(part, Part::Key(_))) else { return true };
        // What nothing shows has nothing of its own.
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

    /// The collection that a record made at a path goes to, where the path is no collection's own: it may leave out what
    /// those records stand below (`POST /threads/runs` beside `/threads/{thread_id}/runs`).
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
        // What is listed by the key that follows is made before it.
        let listing = format!("{}/{{}}", form(parts));
        let listing = self.all.get_index_of(&listing).filter(|_| self.lists.contains(&listing));
        listing.or_else(|| self.same_elsewhere(parts)).or_else(beside)
    }
}

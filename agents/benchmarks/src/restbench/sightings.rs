//! What a reply shows: ids, with the kind of record they stand for and the name beside them.

use serde_json::{Map, Value as Json};

use super::template::{Template, kind_of};

/// A record seen in a reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sighting {
    /// `movie`.
    pub(super) kind: String,
    pub(super) id: Json,
    pub(super) name: String,
    /// The job or department that the item states.
    pub(super) role: String,
}

/// Lists of people, whatever the path says.
const PEOPLE: [&str; 5] = ["cast", "crew", "guest_stars", "created_by", "actors"];
/// Members that name a record.
const NAMES: [&str; 5] = ["title", "name", "full_name", "display_name", "label"];

/// The name of a record.
pub(super) fn name_of(record: &Json) -> Option<&str> {
    NAMES.iter().find_map(|name| record.get(name)?.as_str())
}

/// All records that a reply shows whose kind is known.
pub(super) fn sightings(
    template: &Template,
    arguments: &Map<String, Json>,
    kinds: &[String],
    reply: &Json,
) -> Vec<Sighting> {
    let around = kind_around(template, arguments, kinds);
    let mut reader = Reader { template, kinds, around, found: Vec::new() };
    reader.record(
        reply,
        kind_of_whole(template, kinds)
            .or_else(|| reader.around.clone().filter(|_| template.holes().is_empty())),
    );
    // A list that is the whole body is like one under a member that says nothing of its own.
    let kind = reader.listed().filter(|_| reply.is_array());
    for item in reply.as_array().into_iter().flatten() {
        reader.record(item, kind.clone());
        reader.members(item, 1);
    }
    reader.members(reply, 0);
    reader.found
}

/// The kind that a path is about: a listed value of its own (`/trending/{media_type}`), or its last noun that is one.
fn kind_around(template: &Template, arguments: &Map<String, Json>, kinds: &[String]) -> Option<String> {
    let told = template.holes().into_iter().filter_map(|(name, _)| arguments.get(&name)?.as_str());
    let told: Vec<String> = told.map(kind_of).filter(|value| kinds.contains(value)).collect();
    told.into_iter().next().or_else(|| template.nouns().rev().find_map(|noun| kind_in(noun, kinds)))
}

/// The kind of the record that is the whole reply: `/movie/{movie_id}` shows a film.
fn kind_of_whole(template: &Template, kinds: &[String]) -> Option<String> {
    let (_, noun) = template.holes().pop().filter(|_| template.path.ends_with('}'))?;
    Some(noun).filter(|noun| kinds.contains(noun))
}

/// The kind that a noun names, alone or as its last or first word: `production_companies`, `movie_credits`.
fn kind_in(noun: &str, kinds: &[String]) -> Option<String> {
    let words: Vec<String> = noun.split(['_', '-']).map(kind_of).collect();
    words.iter().rev().find(|word| kinds.contains(word)).cloned()
}

struct Reader<'a> {
    template: &'a Template,
    kinds: &'a [String],
    around: Option<String>,
    found: Vec<Sighting>,
}

impl Reader<'_> {
    fn members(&mut self, value: &Json, depth: u32) {
        let Some(members) = value.as_object().filter(|_| depth < 8) else { return };
        for (name, member) in members {
            let kind = self.kind_of_member(name);
            let items = member.as_array().map_or_else(|| std::slice::from_ref(member), Vec::as_slice);
            for item in items {
                let own = item.get("media_type").and_then(Json::as_str).map(kind_of);
                let kind = own.filter(|own| self.kinds.contains(own)).or_else(|| kind.clone());
                self.record(item, kind);
                self.members(item, depth + 1);
            }
        }
    }

    fn kind_of_member(&self, member: &str) -> Option<String> {
        if PEOPLE.contains(&member) {
            // The films of a person stand in lists that are called as the people of a film.
            let last = self.template.nouns().next_back().unwrap_or_default();
            let told = last.strip_suffix("credits").and_then(|of| kind_in(of, self.kinds));
            return told.or_else(|| Some("person".to_owned())).filter(|kind| self.kinds.contains(kind));
        }
        if let Some(kind) = kind_in(member, self.kinds) {
            return Some(kind);
        }
        match member {
            "parts" => Some("movie".to_owned()).filter(|kind| self.kinds.contains(kind)),
            "results" | "items" | "data" => self.listed(),
            _ => None,
        }
    }

    /// The kind of the items of the path's own list. `/movie/{id}/reviews` lists reviews, `/movie/{id}/similar` films.
    fn listed(&self) -> Option<String> {
        const OTHERS: [&str; 8] =
            ["review", "keyword", "image", "video", "translation", "release_date", "genre", "provider"];
        let last = kind_of(self.template.nouns().next_back()?);
        match kind_in(&last, self.kinds) {
            Some(kind) => Some(kind),
            None if OTHERS.contains(&last.as_str()) => None,
            None => self.around.clone(),
        }
    }

    fn record(&mut self, record: &Json, kind: Option<String>) {
        let (Some(kind), Some(id), Some(name)) = (kind, record.get("id"), name_of(record)) else { return };
        let role = record.get("job").or_else(|| record.get("character")).and_then(Json::as_str);
        let role = role.unwrap_or_default().to_owned();
        self.found.push(Sighting { kind, id: id.clone(), name: name.to_owned(), role });
    }
}

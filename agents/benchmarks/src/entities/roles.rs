//! Required roles: `movie.job: [Director]` gives each film one director.
//!
//! A link is a resource between others, such as the crew of a film. Members with a fixed set of values
//! (kinds) distinguish its records.

use diorama_seeds::doc::{EachDoc, FieldDoc, ResourceDoc, WorldDoc};
use serde_json::{Value as Json, json};

/// A member of a link with a fixed set of values.
#[derive(Clone, Debug)]
pub(crate) struct RoleMember {
    /// The resources that the link connects.
    pub(crate) ends: Vec<String>,
    /// The member: `job`.
    pub(crate) member: String,
    /// Its values: `Director`.
    pub(crate) kinds: Vec<String>,
}

/// Returns the members of links with a fixed set of values.
pub(crate) fn list(doc: &WorldDoc) -> Vec<RoleMember> {
    let mut found = Vec::new();
    for link in doc.resources.values().filter(|resource| is_link(resource)) {
        let ends: Vec<String> = ends(link).map(|(_, end)| end.to_owned()).collect();
        for (member, field) in &link.fields {
            let kinds: Vec<String> = kinds(field).into_iter().map(str::to_owned).collect();
            if !kinds.is_empty() {
                found.push(RoleMember { ends: ends.clone(), member: member.clone(), kinds });
            }
        }
    }
    found
}

/// Returns true if `of` is a resource and a link member (`movie.job`) that accepts this value.
pub(super) fn is_role(doc: &WorldDoc, of: &str, value: &str) -> bool {
    let Some((end, member)) = of.split_once('.') else { return false };
    let takes_value = |link: &ResourceDoc| link.fields.get(member).is_some_and(|field| takes(field, value));
    doc.resources.values().any(|link| is_link(link) && by(link, end).is_some() && takes_value(link))
}

/// Gives each record of the resource one link with this value. Its other links get other values.
pub(super) fn give(doc: &mut WorldDoc, of: &str, value: &str) {
    let Some((end, member)) = of.split_once('.') else { return };
    for link in doc.resources.values_mut().filter(|resource| is_link(resource)) {
        let Some(by) = by(link, end) else { continue };
        let Some(field) = link.fields.get_mut(member).filter(|field| takes(field, value)) else { continue };
        // The provider already lacks roles that were given before, but an enum has them all.
        let drawn = list_picks(field).unwrap_or_else(|| kinds(field));
        let others: Vec<Json> = drawn.into_iter().filter(|kind| *kind != value).map(Json::from).collect();
        if !others.is_empty() {
            let others = json!({"provider": "pick", "of": others});
            match field.fake.as_mut().and_then(pick_of) {
                Some(pick) => *pick = others,
                None => field.fake = Some(others),
            }
        }
        let mut role = EachDoc { of: end.to_owned(), by, min: 1, max: 1, ..EachDoc::default() };
        role.set.insert(member.to_owned(), Json::from(value));
        link.each.push(role);
    }
}

fn is_link(resource: &ResourceDoc) -> bool {
    ends(resource).count() > 1 && resource.each.iter().any(|each| each.min > 0)
}

/// Returns the required reference fields of a link, each with its resource.
fn ends(link: &ResourceDoc) -> impl Iterator<Item = (&str, &str)> {
    let required = link.fields.iter().filter(|(_, field)| !field.optional && !field.nullable);
    required.filter_map(|(name, field)| Some((name.as_str(), field.reference.as_deref()?)))
}

/// Returns the field in which a link refers to a resource.
fn by(link: &ResourceDoc, end: &str) -> Option<String> {
    ends(link).find(|(_, other)| *other == end).map(|(field, _)| field.to_owned())
}

fn takes(field: &FieldDoc, value: &str) -> bool {
    let known = kinds(field);
    known.contains(&value) || (!known.is_empty() && field.values.is_empty())
}

/// Returns the possible values of a field with a fixed set of texts.
fn kinds(field: &FieldDoc) -> Vec<&str> {
    if field.values.is_empty() {
        return list_picks(field).unwrap_or_default();
    }
    field.values.iter().map(String::as_str).collect()
}

/// Returns the texts from which a field's provider picks, directly or inside of a `chance`.
fn list_picks(field: &FieldDoc) -> Option<Vec<&str>> {
    let mut fake = field.fake.as_ref()?;
    while is_provider(fake, "chance") {
        fake = fake.get("of")?;
    }
    let all = fake.get("of").filter(|_| is_provider(fake, "pick"))?.as_array()?;
    Some(all.iter().filter_map(Json::as_str).collect())
}

/// Returns the provider that [`list_picks`] reads.
fn pick_of(fake: &mut Json) -> Option<&mut Json> {
    if is_provider(fake, "chance") {
        return pick_of(fake.get_mut("of")?);
    }
    is_provider(fake, "pick").then_some(fake)
}

fn is_provider(fake: &Json, name: &str) -> bool {
    fake.get("provider").is_some_and(|provider| provider == name)
}

#[cfg(test)]
mod tests {
    use diorama_seeds::materialise::materialised;
    use diorama_seeds::world;

    use super::super::{Entities, Entity};
    use super::*;

    #[test]
    fn a_second_role_leaves_the_first_as_it_is() {
        let source = "{world: 1, name: films, clock: 2026-03-02T09:00, apis: [], resources: {
            film: {key: film_id, display: title, fields: {title: {type: string, unique: true}}, records: 3},
            person: {key: person_id, display: name, fields: {name: {type: string, unique: true}}, records: 3},
            crew: {key: crew_id, each: [{of: person, by: person_id, min: 1, max: 2}], fields: {
              film_id: {ref: film}, person_id: {ref: person}, job: {enum: [Director, Editor, Novel]},
              tags: {type: list, items: {type: string}, fake: {provider: list, of: {provider: pick, of: [Old, New]}}}}}}}";
        let mut doc = world::read("films", source.as_bytes()).unwrap();
        assert_eq!(list(&doc).iter().map(|role| &*role.member).collect::<Vec<_>>(), ["job"]);
        for role in ["Director", "Editor"] {
            assert!(is_role(&doc, "film.job", role));
            give(&mut doc, "film.job", role);
        }
        let crew = &doc.resources["crew"];
        assert_eq!(crew.fields["job"].fake, Some(json!({"provider": "pick", "of": ["Novel"]})));
        assert_eq!(crew.each.len(), 3);
    }

    #[test]
    fn every_record_has_one_record_of_the_link_with_the_role() {
        let source = "{world: 1, name: films, clock: 2026-03-02T09:00, apis: [], resources: {
            film: {key: film_id, display: title, fields: {title: {type: string, unique: true}}, records: 9},
            person: {key: person_id, display: name, fields: {name: {type: string, unique: true}}, records: 20},
            crew: {key: crew_id, each: [{of: person, by: person_id, min: 2, max: 3}], unique_together: [[film_id, person_id]], fields: {
              film_id: {ref: film}, person_id: {ref: person},
              job: {type: string, optional: true, fake: {provider: chance, share: 1.0, of: {provider: pick, of: [Director, Editor, Novel]}}}}}}}";
        let mut doc = world::read("films", source.as_bytes()).unwrap();
        let [RoleMember { ends, member, kinds }] = &list(&doc)[..] else { panic!("{:?}", list(&doc)) };
        assert_eq!((&ends[..], &**member), (&["film".to_owned(), "person".to_owned()][..], "job"));
        assert_eq!(*kinds, ["Director", "Editor", "Novel"]);
        let entity = |of: &str, name: &str| Entity { of: of.to_owned(), name: name.to_owned() };
        // A role that no example has is allowed. A member that no link has is no role.
        let names = [
            entity("film.job", "Director"),
            entity("film.job", "Gaffer"),
            entity("film.mood", "Director"),
            entity("person", "Ada"),
        ];
        let unplaced = Entities::new(names).put_into(&mut doc);
        assert_eq!(unplaced.iter().map(|left| &*left.entity.of).collect::<Vec<_>>(), ["film.mood"]);
        for seed in [0, 3] {
            let made = materialised(&doc, seed).unwrap_or_else(|report| panic!("{report}"));
            let resource = |name: &str| made.world.resource(made.world.resource_named(name).unwrap());
            let (crew, films) = (resource("crew"), resource("film"));
            let field = |name: &str| crew.field_named(name).unwrap().index();
            for film in &films.records {
                let key = &film[films.key.index()];
                let own = crew.records.iter().filter(|record| record[field("film_id")] == *key);
                let jobs: Vec<&str> = own.filter_map(|record| record[field("job")].as_str()).collect();
                for role in ["Director", "Gaffer"] {
                    assert_eq!(jobs.iter().filter(|job| **job == role).count(), 1, "{jobs:?}");
                }
            }
        }
    }
}

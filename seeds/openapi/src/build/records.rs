//! How many records a resource has, and what those of one parent have in common.

use super::*;

pub(super) fn records_of(
    model: &Model,
    entity: &Entity,
    ends: &Ends,
    kinds: &Discriminators,
    records: u32,
    doc: &mut ResourceDoc,
) {
    if entity.singleton {
        doc.records = RecordsDoc::Count(1);
        return;
    }
    if let Some(nest) = &entity.nest {
        if let Some(by) = model.reference_to(&entity.name, &nest.parent) {
            let (min, max) = if parts_of(model, &entity.name).is_empty() { (4, 7) } else { (1, 3) };
            doc.each.push(EachDoc { of: nest.parent.clone(), by, min, max, set: IndexMap::new() });
        }
        return;
    }
    if ends.alternatives.is_empty() {
        let hub = model
            .entities
            .values()
            .any(|link| link.name != entity.name && model.ends(link).hub.as_ref() == Some(&entity.name));
        let names = vocabulary_of(entity);
        if names.len() >= 4 && crate::entities::is_taxonomy(entity.root.as_ref().unwrap_or(&Shape::default()))
        {
            let display = display(entity).map(identifier).unwrap_or_else(|| "name".to_owned());
            doc.records = RecordsDoc::Count(names.len() as u32);
            doc.examples =
                names.into_iter().map(|name| IndexMap::from([(display.clone(), json!(name))])).collect();
            return;
        }
        doc.records = RecordsDoc::Count(if hub { records.saturating_mul(3) } else { records });
        doc.examples = super::examples::rows(entity, doc);
        return;
    }
    for (owner, groups) in &ends.alternatives {
        let Some(by) = model.reference_to(&entity.name, owner) else { continue };
        for group in groups {
            let mut set: IndexMap<String, Json> = IndexMap::new();
            if let Some((name, _)) = &kinds.group {
                set.insert(identifier(name), json!(group_value(entity, kinds, group)));
            }
            if let Some(name) = &kinds.owner {
                set.insert(identifier(name), json!(owner_value(model, entity, name, owner)));
            }
            for (name, fact) in &entity.fields {
                if !fact.everywhere
                    && !fact.groups.contains(group)
                    && doc.fields.contains_key(&identifier(name))
                {
                    set.insert(identifier(name), Json::Null);
                }
            }
            let link = ends.hub.is_some();
            let patterns = if link { recurring(entity, kinds, group) } else { Vec::new() };
            if patterns.is_empty() {
                let ordered = entity.fields.iter().any(|(name, fact)| {
                    ["order", "position", "rank"].contains(&name.as_str()) && fact.groups.contains(group)
                });
                let (min, max) = if link && ordered {
                    (3, 6)
                } else if link {
                    (1, 2)
                } else {
                    (1, 3)
                };
                set.extend(typical(entity, kinds, group, &set));
                doc.each.push(EachDoc { of: owner.clone(), by: by.clone(), min, max, set });
                continue;
            }
            for (place, pattern) in patterns.into_iter().enumerate() {
                let mut set = set.clone();
                set.extend(pattern);
                doc.each.push(EachDoc {
                    of: owner.clone(),
                    by: by.clone(),
                    min: u32::from(place < 2),
                    max: 1,
                    set,
                });
            }
        }
    }
}

/// The short names that examples give to shared words such as genres.
pub(super) fn vocabulary_of(entity: &Entity) -> IndexSet<String> {
    let Some(fact) = display(entity).and_then(|display| entity.fields.get(display)) else {
        return IndexSet::new();
    };
    fact.shape
        .samples
        .iter()
        .filter_map(Json::as_str)
        .filter(|name| !name.is_empty() && name.len() <= 30)
        .take(200)
        .map(str::to_owned)
        .take(24)
        .collect()
}

/// Values of vocabulary fields that come together in the examples of one list, the most frequent first:
/// Directing and Director.
pub(super) fn recurring(entity: &Entity, kinds: &Discriminators, group: &str) -> Vec<IndexMap<String, Json>> {
    let lists = entity.rows.get(group).map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<&Json> = lists.iter().flatten().collect();
    if rows.len() < 6 {
        return Vec::new();
    }
    let fields: Vec<&String> = entity
        .fields
        .iter()
        .filter(|(name, fact)| {
            fact.shape.kind == Kind::String
                && kinds.group.as_ref().is_none_or(|(known, _)| known != *name)
                && kinds.owner.as_ref() != Some(*name)
                && fakes::moment(name, &fact.shape).is_none()
                && fakes::is_vocabulary(name, &fact.shape)
        })
        .filter(|(name, _)| {
            let values: Vec<&str> =
                rows.iter().filter_map(|row| row.get(name.as_str())).filter_map(Json::as_str).collect();
            let distinct: IndexSet<&str> = values.iter().copied().collect();
            // One long list of rare values must not hide that a few of them stand in list after list.
            let lists_with = |value: &str| {
                let holds = |row: &Json| row.get(name.as_str()).and_then(Json::as_str) == Some(value);
                lists.iter().filter(|list| list.iter().any(holds)).count()
            };
            let recurs = distinct.len() * 5 <= values.len() * 3
                || distinct.iter().filter(|value| lists_with(value) > 1).count() > 1;
            values.len() * 2 > rows.len() && recurs && distinct.iter().all(|value| value.len() <= 40)
        })
        .map(|(name, _)| name)
        .collect();
    if fields.is_empty() {
        return Vec::new();
    }
    // What occurs in the most lists comes first: every film has a director, some have many producers.
    let mut counts: IndexMap<Vec<String>, (usize, usize)> = IndexMap::new();
    for list in lists {
        let mut seen: IndexSet<Vec<String>> = IndexSet::new();
        for row in list {
            let values: Option<Vec<String>> = fields
                .iter()
                .map(|name| row.get(name.as_str()).and_then(Json::as_str).map(str::to_owned))
                .collect();
            let Some(values) = values else { continue };
            let count = counts.entry(values.clone()).or_default();
            count.1 += 1;
            count.0 += usize::from(seen.insert(values));
        }
    }
    counts.sort_by(|_, a, _, b| b.cmp(a));
    counts
        .into_keys()
        .take(7)
        .map(|values| {
            fields.iter().map(|name| identifier(name)).zip(values.into_iter().map(Json::String)).collect()
        })
        .collect()
}

/// Values that the record's own example has for this list: an actor's department.
pub(super) fn typical(
    entity: &Entity,
    kinds: &Discriminators,
    group: &str,
    set: &IndexMap<String, Json>,
) -> IndexMap<String, Json> {
    let Some((field, true)) = &kinds.group else { return IndexMap::new() };
    let value = group_value(entity, kinds, group);
    let samples = entity.root.iter().flat_map(|root| &root.samples);
    let Some(sample) =
        samples.into_iter().find(|sample| sample.get(field.as_str()).and_then(Json::as_str) == Some(&value))
    else {
        return IndexMap::new();
    };
    entity
        .fields
        .iter()
        .filter(|(name, fact)| {
            fact.everywhere
                && !fact.groups.is_empty()
                && fact.shape.kind == Kind::String
                && !set.contains_key(&identifier(name))
                && *name != field
        })
        .filter_map(|(name, _)| {
            Some((identifier(name), Json::String(sample.get(name.as_str())?.as_str()?.to_owned())))
        })
        .collect()
}

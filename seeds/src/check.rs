//! Owns the search for probable mistakes in a valid world (`diorama world check`), and the JSON Schema that
//! editors use.
//!
//! It builds on [`crate::world`] and [`crate::materialise`], because it examines materialised records. The
//! engine tests whether an API can succeed on the initial records, and reports through [`never_succeeds`].

mod phrases;
mod uses;

use std::collections::HashSet;

use serde_json::Value as Json;

use self::uses::Uses;
use crate::doc::{ApiDoc, Place, RecordsDoc, ResourceDoc, WorldDoc};
use crate::materialise::{Source, plain_providers};
use crate::model::{self, Api, ApiId, BehaviourKind, DomainId, Member, Resource, ResourceId, World};
use crate::schema::Type;
use crate::world::findings::Findings;
use crate::world::part::Part;
use crate::world::{Finding, Report, compile, read};
use diorama_format::path::Path;

/// Number of seeds from which the records of a source world are materialised for the check.
const SEEDS: u64 = 3;

/// Parses, compiles and checks a text. It materialises a source world from several seeds, and reports only
/// what holds for all of them. The report lists all findings in the order of the text. It is empty if there
/// are none.
pub fn examine(name: &str, text: &[u8]) -> Report {
    let doc = match read(name, text) {
        Ok(doc) => doc,
        Err(report) => return report,
    };
    let report = match compile(&doc).and_then(|world| findings_of(&doc, world)) {
        Ok(findings) => Report { name: name.to_owned(), findings },
        Err(report) => report,
    };
    report.located(name, text)
}

/// Returns the JSON Schema (draft 2020-12) of a world document.
pub fn json_schema() -> Json {
    let schema = WorldDoc::json_schema();
    let Json::Object(mut members) = schema else { return schema };
    if let Some(name) = members.get_mut("$defs").and_then(|defs| defs.get_mut("ProviderName")) {
        name["enum"] = plain_providers().into_iter().collect();
    }
    // The title and the version come first.
    let (mut ordered, rest): (serde_json::Map<_, _>, serde_json::Map<_, _>) = members
        .into_iter()
        .partition(|(name, _)| name.starts_with('$') && name != "$defs" || name == "title");
    ordered.extend(rest);
    Json::Object(ordered)
}

fn findings_of(doc: &WorldDoc, world: World) -> Result<Vec<Finding>, Report> {
    if world.materialised {
        return Ok(find_mistakes(doc, &world));
    }
    let source = Source::compiled(doc.clone(), world)?;
    let mut findings = find_mistakes(doc, &source.materialise(0)?.world);
    for seed in 1..SEEDS {
        let others = find_mistakes(doc, &source.materialise(seed)?.world);
        findings.retain(|finding| others.contains(finding));
    }
    Ok(findings)
}

/// Finds mistakes in a valid world: records that no API shows, unused parameters, enum values that no record
/// has, and phrases that do not fit their API.
pub fn find_mistakes(doc: &WorldDoc, world: &World) -> Vec<Finding> {
    let mut findings = Findings::default();
    let uses: Vec<Uses> = world.apis.iter().map(Uses::of).collect();
    let shown: HashSet<ResourceId> = uses.iter().flat_map(|uses| uses.shown.iter().copied()).collect();
    if world.apis.is_empty() {
        findings.error(
            "apis",
            "found no APIs, expected at least one",
            "add an API, such as one that lists a resource",
        );
    }
    let (mut resource, mut api) = (0, 0);
    for (position, part) in Part::all(doc).iter().enumerate() {
        let here = part.path();
        let section = here.name("resources");
        // The order of resources in a world may differ from that in its document.
        let all = resource..resource + part.resources.len();
        for (name, doc) in part.resources {
            let path = section.name(name);
            let of =
                all.clone().find(|of| world.resources.get(*of).is_some_and(|model| *model.name == **name));
            let id = ResourceId(of.unwrap_or(resource) as u16);
            if let Some(model) = world.resources.get(id.index()) {
                check_reach(world, id, model, doc, shown.contains(&id), &path, &mut findings);
                check_enums(world, model, doc, &path, &mut findings);
                phrases::check_fields(doc, &path, &mut findings);
            }
            resource += 1;
        }
        let section = here.name("apis");
        for (i, doc) in part.apis.iter().enumerate() {
            let path = section.index(i);
            if let (Some(model), Some(uses)) = (world.apis.get(api), uses.get(api)) {
                check_api(doc, model, uses, world, &path, &mut findings);
                let casing = world.domains[model.domain.index()].casing;
                phrases::check_api(&doc.phrases.cased(casing), model, &path, &mut findings);
            }
            api += 1;
        }
        check_sign_in(world, DomainId(position as u16), &here, &mut findings);
    }
    findings.into_list()
}

/// Returns the finding that an API cannot succeed on the initial records. The engine calls this after trying
/// the API.
pub fn never_succeeds(doc: &WorldDoc, api: ApiId) -> Finding {
    let mut left = api.index();
    for part in Part::all(doc) {
        if let Some(found) = part.apis.get(left) {
            let here = part.path();
            return Finding::warning(
                here.name("apis").index(left).to_string(),
                format!("found no call of `{}` that succeeds on the initial records", found.name),
                "relax a check in `require`, or give records on which it holds",
            );
        }
        left -= part.apis.len();
    }
    Finding::warning("", format!("found no API at position {}", api.0), "")
}

fn check_reach(
    world: &World,
    id: ResourceId,
    resource: &Resource,
    doc: &ResourceDoc,
    shown: bool,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let any = match &doc.records {
        RecordsDoc::Count(count) => *count > 0,
        RecordsDoc::Given(given) => !given.is_empty(),
    } || !doc.each.is_empty();
    let users = world.domains.iter().filter_map(|domain| domain.auth.as_ref()).any(|auth| auth.user == id);
    if any && !shown && !users {
        findings.warning(
            path,
            format!("found records of `{}` that no API can show", resource.name),
            "add an API that gets or lists them, or embed them in a reply",
        );
    }
}

fn check_enums(
    world: &World,
    resource: &Resource,
    doc: &ResourceDoc,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let section = path.name("fields");
    for (index, field) in resource.fields.iter().enumerate() {
        let here = section.name(&field.name);
        let Type::Enum(values) = &field.schema.kind else { continue };
        let missing: HashSet<&str> = if world.materialised {
            if resource.records.is_empty() {
                continue;
            }
            let had: HashSet<&str> =
                resource.records.iter().filter_map(|record| record[index].as_str()).collect();
            values.iter().map(|value| &**value).filter(|value| !had.contains(value)).collect()
        } else {
            match &doc.records {
                // Materialisation deals the values so that each occurs if there are enough records.
                RecordsDoc::Count(count) => {
                    let count = *count as usize;
                    let enough = count == 0 || count >= values.len() || !doc.each.is_empty();
                    values
                        .iter()
                        .skip(if enough { values.len() } else { count })
                        .map(|value| &**value)
                        .collect()
                }
                RecordsDoc::Given(given) => {
                    let open = given.is_empty()
                        || !doc.each.is_empty()
                        || given.iter().any(|row| !row.contains_key(&*field.name));
                    let had: HashSet<&str> =
                        given.iter().filter_map(|row| row.get(&*field.name)?.as_str()).collect();
                    values
                        .iter()
                        .map(|value| &**value)
                        .filter(|value| !open && !had.contains(value))
                        .collect()
                }
            }
        };
        // A singleton cannot have all values, and `pick` providers choose their own.
        let fake = doc.fields.get(&*field.name).and_then(|field| field.fake.as_ref());
        let fake = fake.map(|fake| fake.get("of").filter(|of| of.is_object()).unwrap_or(fake));
        if resource.singleton || fake.is_some_and(|fake| fake["provider"] == "pick") {
            continue;
        }
        let here = here.name("enum");
        for (i, value) in values.iter().enumerate().filter(|(_, value)| missing.contains(&***value)) {
            findings.warning(
                here.index(i),
                format!("found the value `{value}`, which no record has"),
                "make more records, or take the value out",
            );
        }
    }
}

fn check_api(doc: &ApiDoc, api: &Api, uses: &Uses, world: &World, path: &Path<'_>, findings: &mut Findings) {
    if api.description.trim().is_empty() {
        findings.warning(
            path,
            format!("found no description of `{}`", api.name),
            "say in a sentence what it does; callers choose by it",
        );
    }
    let section = path.name("parameters");
    for (index, parameter) in api.parameters.iter().enumerate() {
        let known = doc.parameters.get(&*parameter.name);
        // The API stores bodies unchanged.
        let kept = doc.behaviour.keep.is_some() && known.is_some_and(|doc| doc.place == Some(Place::Body));
        let ignored = kept || known.is_some_and(|doc| doc.ignored);
        if !uses.parameters.contains(&index) && !ignored {
            findings.warning(
                section.name(&parameter.name),
                format!("found the parameter `{}`, which the behaviour does not use", parameter.name),
                "use it in a filter, a check or a change, remove it, or say `ignored: true`",
            );
        }
    }
    if let Some(limit) = uses.limit.and_then(|limit| api.parameters.get(limit))
        && limit.schema.limits.max.is_none()
    {
        findings.warning(
            section.name(&limit.name),
            format!("found the page size `{}` without a maximum", limit.name),
            "add `max: 100`",
        );
    }
    let secret = |resource: ResourceId, member: &Member| {
        let auth = world.domains.iter().filter_map(|domain| domain.auth.as_ref());
        matches!(member.source, model::Source::Field(field) if auth.into_iter().any(|auth| (auth.user, auth.secret) == (resource, field)))
    };
    let record = match &api.behaviour.kind {
        BehaviourKind::Get { resource, .. } | BehaviourKind::Lookup { resource, .. } => Some(*resource),
        BehaviourKind::List(query) => Some(query.resource),
        _ => None,
    };
    if let Some(resource) = record
        && let Some(member) = api.reply.members.iter().find(|member| secret(resource, member))
    {
        findings.warning(
            path.name("reply"),
            format!("found the secret `{}` in a reply", member.name),
            "leave it out of `reply.fields`",
        );
    }
}

/// Checks that an API issues tokens if other APIs of the domain need one.
fn check_sign_in(world: &World, domain: DomainId, here: &Path<'_>, findings: &mut Findings) {
    let own = || world.apis.iter().filter(|api| api.domain == domain);
    let issues = own().any(|api| matches!(api.behaviour.kind, BehaviourKind::SignIn { .. }));
    if !issues && own().any(|api| api.token.is_some()) {
        findings.error(
            here.name("domain").name("auth"),
            "found APIs that need a token, and none that issues one",
            "add an API with `behaviour: {sign_in: true}`",
        );
    }
}

#[cfg(test)]
mod tests;

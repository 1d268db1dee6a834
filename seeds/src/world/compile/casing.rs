//! Owns the casing of an API's names for callers. It is the last step, because all others use the world's own
//! names.

use super::super::findings::Findings;
use diorama_format::path::Path;
use indexmap::IndexMap;

use crate::casing::Casing;
use crate::model::{Api, BehaviourKind, Member, Shape, Source};
use crate::value::{Str, nfc};

/// Changes the names of an API's parameters and of its reply's members. A contract has names of its own.
pub(super) fn apply(casing: Casing, api: &mut Api, path: &Path<'_>, findings: &mut Findings) {
    if casing.is_written() {
        return;
    }
    if api.contract.is_some() {
        error!(findings, path.name("contract") =>
            "found a contract in a domain with a `casing`, which would change the names that it promises";
            "leave out `casing`, and write the names as callers see them");
        return;
    }
    let parameters = api.parameters.iter().map(|parameter| &parameter.name);
    check_distinct(casing, parameters, &path.name("parameters"), findings);
    let here = path.name("reply");
    let reply = &api.reply;
    let around = reply.paging.iter().map(|(_, name)| name).chain([&reply.items, &reply.total]);
    let around: Vec<&Str> = around.chain(reply.with.iter().map(|(name, _)| name)).collect();
    check_members(casing, &reply.members, &around, &here, findings);
    match &api.behaviour.kind {
        BehaviourKind::Compute(computed) => {
            let names = computed.iter().map(|(name, _)| name);
            check_distinct(casing, names.chain(around), &here, findings);
        }
        BehaviourKind::Aggregate { measures, .. } => {
            let names = measures.iter().map(|(name, _)| name);
            check_distinct(casing, names.chain(around), &here, findings);
        }
        _ => {}
    }
    for parameter in &mut api.parameters {
        let written = nfc(&casing.write(&parameter.name));
        api.path = nfc(&api.path.replace(&format!("{{{}}}", parameter.name), &format!("{{{written}}}")));
        parameter.name = written;
    }
    match &mut api.behaviour.kind {
        BehaviourKind::Compute(computed) => computed.iter_mut().for_each(|(name, _)| write(casing, name)),
        BehaviourKind::Aggregate { measures, .. } => {
            measures.iter_mut().for_each(|(name, _)| write(casing, name));
        }
        _ => {}
    }
    let reply = &mut api.reply;
    members(casing, &mut reply.members);
    write(casing, &mut reply.items);
    write(casing, &mut reply.total);
    reply.paging.iter_mut().for_each(|(_, name)| write(casing, name));
    reply.envelope.iter_mut().for_each(|name| write(casing, name));
    reply.with.iter_mut().for_each(|(name, _)| write(casing, name));
}

/// Rejects members of one object that become equal, such as `starts_at` and `startsAt`.
fn check_members(casing: Casing, list: &[Member], beside: &[&Str], path: &Path<'_>, findings: &mut Findings) {
    let names = list.iter().map(|member| &member.name);
    check_distinct(casing, names.chain(beside.iter().copied()), path, findings);
    for member in list {
        let mut source = &member.source;
        loop {
            let shape = match source {
                Source::Follow(_, _, inner) => inner,
                Source::Many(many) => &many.shape,
                Source::Object(inner) => {
                    check_members(casing, inner, &[], path, findings);
                    break;
                }
                Source::Field(_) | Source::Expr(_) | Source::Value(_) => break,
            };
            match shape {
                Shape::Object(inner) => {
                    check_members(casing, inner, &[], path, findings);
                    break;
                }
                Shape::Bare(inner) => source = inner,
            }
        }
    }
}

/// Rejects different names that become equal.
fn check_distinct<'n>(
    casing: Casing,
    names: impl Iterator<Item = &'n Str>,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    let mut seen: IndexMap<String, &Str> = IndexMap::new();
    for name in names.filter(|name| !name.is_empty()) {
        let written = casing.write(name).to_string();
        match seen.get(&written) {
            Some(other) if *other != name => {
                let found = format!("found `{other}` and `{name}`, which `casing` both writes `{written}`");
                findings.error(path, found, "give one another name, or leave out `casing`");
            }
            Some(_) => {}
            None => {
                seen.insert(written, name);
            }
        }
    }
}

fn write(casing: Casing, name: &mut Str) {
    *name = nfc(&casing.write(name));
}

fn members(casing: Casing, list: &mut [Member]) {
    for member in list {
        write(casing, &mut member.name);
        source(casing, &mut member.source);
    }
}

fn source(casing: Casing, of: &mut Source) {
    match of {
        Source::Follow(_, _, inner) => shape(casing, inner),
        Source::Many(many) => shape(casing, &mut many.shape),
        Source::Object(inner) => members(casing, inner),
        Source::Field(_) | Source::Expr(_) | Source::Value(_) => {}
    }
}

fn shape(casing: Casing, of: &mut Shape) {
    match of {
        Shape::Object(inner) => members(casing, inner),
        Shape::Bare(inner) => source(casing, inner),
    }
}

#[cfg(test)]
mod tests {
    use crate::casing::Casing;
    use crate::doc::WorldDoc;
    use crate::{materialise, world};

    fn dental(casing: Casing) -> WorldDoc {
        let source = diorama_catalog::source("dental_clinic").unwrap();
        let mut doc = world::read("dental_clinic.yaml", source.as_bytes()).unwrap();
        doc.domain.as_mut().unwrap().casing = casing;
        doc
    }

    #[test]
    fn callers_see_the_casing_and_the_world_keeps_its_names() {
        let doc = dental(Casing::Camel);
        let world = world::compile(&doc).unwrap();
        assert!(crate::check::find_mistakes(&doc, &world).is_empty());
        let estimate = world.api(world.api_named("EstimateCost").unwrap());
        assert_eq!(&*estimate.path, "/patients/{patientId}/estimate");
        assert_eq!(&*estimate.parameters[0].name, "patientId");
        let list = world.api(world.api_named("ListDentists").unwrap());
        let shown: Vec<&str> = list.reply.members.iter().map(|member| &*member.name).collect();
        assert_eq!(shown, ["dentistId", "name", "specialty", "language", "fee", "room"]);
        assert!(list.reply.paging.iter().any(|(_, name)| &**name == "totalPages"));
        let dentist = world.resource(world.resource_named("dentist").unwrap());
        assert!(dentist.field_named("dentist_id").is_some());
    }

    #[test]
    fn it_is_part_of_the_world_and_of_its_hash() {
        let hash = |casing| {
            let made = materialise::materialised(&dental(casing), 7).unwrap();
            let read = world::read("again.json", made.canonical.as_bytes()).unwrap();
            assert_eq!(read.domains[0].domain.casing, casing);
            made.hash.clone()
        };
        assert_ne!(hash(Casing::Written), hash(Casing::Pascal));
    }

    #[test]
    fn a_contract_keeps_its_names() {
        let mut doc = dental(Casing::Camel);
        doc.apis[0].contract = Some(crate::doc::ContractDoc::default());
        let report = world::compile(&doc).unwrap_err().to_string();
        assert!(report.contains("found a contract in a domain with a `casing`"), "{report}");
    }
}

//! Owns the names that a resource defines for expressions over its records.

use super::super::findings::Findings;
use super::{Part, is_expression_name};
use crate::doc::ResourceDoc;
use crate::expr::{self, ExprType, Scope};
use crate::model::{Define, Field, Resource, ResourceId};
use crate::value::{Zone, nfc};
use diorama_format::path::Path;

/// Parses the definitions of a resource. Their expressions are checked after all resources are known.
pub(super) fn read(
    doc: &ResourceDoc,
    fields: &[Field],
    path: &Path<'_>,
    findings: &mut Findings,
) -> Vec<Define> {
    let section = path.name("define");
    let mut defines: Vec<Define> = Vec::with_capacity(doc.define.len());
    for (written, source) in &doc.define {
        let here = section.name(written);
        let Some(define) = split(written, source) else {
            error!(findings, here => "found `{written}`, expected a name, or a name with parameters";
                "write it like `free` or `free_at(at)`: letters, digits and `_`, and no word of the expression language");
            continue;
        };
        let taken = fields.iter().any(|field| field.name == define.name)
            || defines.iter().any(|other| other.name == define.name);
        if taken {
            error!(findings, here => "found the name `{}` a second time", define.name;
                "give it a name that no field and no other definition has");
            continue;
        }
        defines.push(define);
    }
    defines
}

/// Splits `free_at(at, seats)` into the name and its parameters.
fn split(written: &str, source: &str) -> Option<Define> {
    let (name, parameters) = match written.split_once('(') {
        Some((name, rest)) => {
            let parameters = rest.strip_suffix(')')?.split(',').map(str::trim);
            (name.trim_end(), parameters.map(nfc).collect())
        }
        None => (written, Vec::new()),
    };
    let distinct =
        |index: usize| parameters.iter().skip(index + 1).all(|other| Some(other) != parameters.get(index));
    let good = is_expression_name(name)
        && parameters.iter().all(|name| is_expression_name(name))
        && (0..parameters.len()).all(distinct);
    good.then(|| Define { name: nfc(name), parameters, source: nfc(source) })
}

/// Checks each definition alone. It sees its record and the records of its domain, but no part of an API.
pub(super) fn check(parts: &[Part<'_>], resources: &[Resource], zone: &Zone, findings: &mut Findings) {
    for (index, resource) in resources.iter().enumerate() {
        let Some(part) = parts.get(resource.domain.index()) else { continue };
        let here = part.path();
        let section = here.name("resources");
        let path = section.name(&resource.name);
        let path = path.name("define");
        let docs = part.resources.get(&*resource.name).into_iter().flat_map(|doc| &doc.define);
        for (written, define) in docs.filter_map(|(written, source)| Some((written, split(written, source)?)))
        {
            let at = path.name(written);
            let mut scope = Scope::new(resources, resource.domain, zone);
            scope.set_item(Some(ResourceId(index as u16)));
            for parameter in &define.parameters {
                if let Err(error) = scope.bind(parameter, ExprType::Any) {
                    findings.error(at, error.message, "rename the parameter");
                }
            }
            // If the result depends on the types of parameters, each use is checked instead.
            let checked = match define.parameters.is_empty() {
                true => expr::compile(&define.source, &mut scope).map(drop),
                false => expr::check_syntax(&define.source),
            };
            if let Err(error) = checked {
                findings.expression(at, &error);
            }
        }
    }
}

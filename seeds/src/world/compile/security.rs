//! Owns the compilation of security schemes, and of the schemes that APIs need.

use indexmap::IndexMap;

use super::listed;
use crate::doc::{ApiDoc, SecurityDoc};
use crate::model::{Domain, Need, SecurityKind, SecurityScheme};
use crate::value::nfc;
use crate::world::findings::Findings;
use diorama_format::path::Path;

/// Returns the schemes of a domain.
pub(super) fn schemes(
    docs: &IndexMap<String, SecurityDoc>,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Vec<SecurityScheme> {
    docs.iter()
        .map(|(name, doc)| {
            let here = path.name(name);
            let kind = match doc {
                SecurityDoc::Bearer {} => SecurityKind::Bearer,
                SecurityDoc::Basic {} => SecurityKind::Basic,
                SecurityDoc::ApiKey { place, name } => {
                    let visible = |name: &str| name.bytes().all(|byte| byte.is_ascii_graphic());
                    if name.is_empty() || !visible(name) {
                        error!(findings, here.name("name") =>
                            "found the name `{name}`, expected visible ASCII characters";
                            "name the header, parameter or cookie");
                    }
                    SecurityKind::ApiKey { place: *place, name: nfc(name) }
                }
                SecurityDoc::Oauth2 { token_path, scopes } => {
                    let token_path = token_path.as_deref().unwrap_or_default();
                    if !token_path.is_empty() && !token_path.starts_with('/') {
                        error!(findings, here.name("token_path") =>
                            "found `{token_path}`, expected a path with a leading slash";
                            "write it like `/oauth/token`");
                    }
                    let scopes = scopes.iter().map(|(name, text)| (nfc(name), nfc(text))).collect();
                    SecurityKind::OAuth2 { token_path: nfc(token_path), scopes }
                }
            };
            SecurityScheme { name: nfc(name), kind }
        })
        .collect()
}

/// Returns the sets of schemes of which an API needs one. The list is empty if it needs none.
pub(super) fn needs(
    doc: &ApiDoc,
    domain: &Domain,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Vec<Vec<Need>> {
    let section = path.name("security");
    let mut alternatives = Vec::with_capacity(doc.security.len());
    for (position, alternative) in doc.security.iter().enumerate() {
        let here = section.index(position);
        let mut needs = Vec::with_capacity(alternative.len());
        for (name, scopes) in alternative {
            let known = nfc(name);
            match domain.security.iter().position(|scheme| scheme.name == known) {
                Some(scheme) => {
                    needs.push(Need { scheme, scopes: scopes.iter().map(|scope| nfc(scope)).collect() });
                }
                None => error!(findings, here.name(name) =>
                    "found the security scheme `{name}`, expected one of {}", listed(domain.security.iter().map(|scheme| &*scheme.name));
                    "declare it under `security` of the domain"),
            }
        }
        alternatives.push(needs);
    }
    alternatives
}

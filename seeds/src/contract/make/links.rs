//! Addresses of pages, in the form that a member has for them.

use serde_json::{Map, Value as Json};

use super::known::KnownValues;
use super::state::{Maker, Scope};
use crate::contract::check::word;
use crate::contract::names::plain;

/// The plain name under which the facts of a list have the address of its next page.
const NEXT_ADDRESS: &str = "nexturl";
/// Plain names of members that hold the address of what the object around them links to.
const ADDRESSES: [&str; 4] = ["href", "url", "uri", "link"];
/// Formats of texts that are addresses.
const FORMATS: [&str; 4] = ["uri", "url", "uri-reference", "iri"];

impl Maker<'_> {
    /// Returns the address of the next page as a member shows it: a text by its format, an object by the member that links. Null behind the
    /// last page; `None` where the member holds no address.
    pub(super) fn next_link(&self, part: &Json, name: &str, known: &KnownValues) -> Option<Json> {
        let is_of_list = self.facts.list.is_some() && std::ptr::eq(known, &*self.facts.known);
        let address = known.members.get(NEXT_ADDRESS).filter(|_| is_of_list && name.starts_with("next"))?;
        let members = self.schemas.flat(part).members;
        if let Some(properties) = word(&members, "properties").and_then(Json::as_object) {
            let holder = properties.keys().find(|name| ADDRESSES.contains(&&*plain(name)))?;
            if address.is_null() {
                return Some(Json::Null);
            }
            // The cursor of the page may stand beside its address: `{"after": "...", "link": "..."}`.
            let told = properties
                .keys()
                .filter_map(|name| Some((name.clone(), known.members.get(&*plain(name))?.clone())));
            let mut link: Map<String, Json> = told.collect();
            link.insert(holder.clone(), address.clone());
            return Some(Json::Object(link));
        }
        let format = word(&members, "format").and_then(Json::as_str)?;
        let is_reference = format == "uri-reference";
        FORMATS.contains(&format).then(|| if is_reference { relative(address) } else { address.clone() })
    }

    /// Returns true if a member links the next page, and there is none.
    pub(super) fn is_past_last_page(&self, part: &Json, name: &str, scope: &Scope<'_>) -> bool {
        let Scope::Record(known) = scope else { return false };
        self.next_link(part, &plain(name), known).is_some_and(|link| link.is_null())
    }
}

/// Returns the path and query of an address.
fn relative(address: &Json) -> Json {
    let below = address.as_str().and_then(|text| text.split_once("://")?.1.split_once('/'));
    below.map_or_else(|| address.clone(), |(_, path)| Json::from(format!("/{path}")))
}

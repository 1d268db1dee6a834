//! Visits the objects of a document that are no values of the described API.

use diorama_seeds::pointer::escape;
use serde_json::{Map, Value as Json};

/// Levels of objects and lists that are visited. Parsing bounds the depth already.
const MAX_DEPTH: u32 = 256;

/// A position of a walk.
#[derive(Clone, Copy, Default)]
pub(super) struct Walk {
    depth: u32,
    /// True if the document chose the names of the members here.
    names: bool,
}

impl Walk {
    /// Visits an object, then those inside it. Objects whose members have names that the document chose are
    /// skipped.
    pub(super) fn visit_mut(self, node: &mut Json, visit: &mut impl FnMut(&mut Map<String, Json>)) {
        match node {
            Json::Object(members) => {
                if !self.names {
                    visit(members);
                }
                for (name, part) in members {
                    if let Some(walk) = self.member(name) {
                        walk.visit_mut(part, visit);
                    }
                }
            }
            Json::Array(items) => {
                let Some(walk) = self.item() else { return };
                items.iter_mut().for_each(|item| walk.visit_mut(item, visit));
            }
            _ => {}
        }
    }

    /// Visits the objects that [`visit_mut`](Self::visit_mut) does, each with its path below `path`.
    pub(super) fn visit<'a>(
        self,
        node: &'a Json,
        path: &mut String,
        visit: &mut impl FnMut(&'a Map<String, Json>, &str),
    ) {
        let length = path.len();
        match node {
            Json::Object(members) => {
                if !self.names {
                    visit(members, path);
                }
                for (name, part) in members {
                    let Some(walk) = self.member(name) else { continue };
                    path.push('/');
                    path.push_str(&escape(name));
                    walk.visit(part, path, visit);
                    path.truncate(length);
                }
            }
            Json::Array(items) => {
                let Some(walk) = self.item() else { return };
                for (index, part) in items.iter().enumerate() {
                    path.push_str(&format!("/{index}"));
                    walk.visit(part, path, visit);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn member(self, name: &str) -> Option<Self> {
        let names = !self.names && holds_names(name);
        self.item().filter(|_| self.names || !is_plain_value(name)).map(|walk| Self { names, ..walk })
    }

    fn item(self) -> Option<Self> {
        (self.depth < MAX_DEPTH).then_some(Self { depth: self.depth + 1, names: false })
    }
}

/// Returns true for members that hold values of the described API, in which no reference is followed.
pub(super) fn is_plain_value(name: &str) -> bool {
    matches!(name, "example" | "examples" | "default" | "enum" | "const")
}

/// Returns true if a member's members have names that the document chose. A property may be called `default`.
fn holds_names(name: &str) -> bool {
    matches!(
        name,
        "properties"
            | "patternProperties"
            | "responses"
            | "schemas"
            | "definitions"
            | "parameters"
            | "headers"
            | "paths"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_walks_visit_the_same_objects() {
        let mut root = json!({
            "media": [{"schema": {"properties": {"schema": {"type": "string"}, "example": {"type": "object"}}}}],
            "default": {"schema": {}},
        });
        let mut seen = Vec::new();
        Walk::default().visit(&root, &mut String::from("#"), &mut |members, path| {
            seen.push((path.to_owned(), members.clone()));
        });
        let mut changed = Vec::new();
        Walk::default().visit_mut(&mut root, &mut |members| changed.push(members.clone()));
        let (mut paths, seen): (Vec<String>, Vec<_>) = seen.into_iter().unzip();
        assert_eq!(seen, changed);
        paths.sort();
        // Properties may have any name, so their object is no media type with a schema and an example.
        let expect = [
            "#",
            "#/media/0",
            "#/media/0/schema",
            "#/media/0/schema/properties/example",
            "#/media/0/schema/properties/schema",
        ];
        assert_eq!(paths, expect);
    }
}

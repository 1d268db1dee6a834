//! Owns the kinds of behaviours, and the options of each kind. An option without effect is an error.

use super::super::findings::Findings;
use crate::doc::BehaviourDoc;
use diorama_format::path::Path;

/// The kind of a behaviour before its names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Get,
    Lookup,
    List,
    Create,
    Replace,
    Patch,
    Delete,
    Action,
    Members,
    AddMembers,
    RemoveMembers,
    Compute,
    Aggregate,
    SignIn,
    SignOut,
}

use Kind::{
    Action, AddMembers, Aggregate, Compute, Create, Delete, Get, List, Lookup, Members, Patch, RemoveMembers,
    Replace, SignIn, SignOut,
};

impl Kind {
    /// Returns the key of the kind in documents.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Get => "get",
            Lookup => "lookup",
            List => "list",
            Create => "create",
            Replace => "replace",
            Patch => "patch",
            Delete => "delete",
            Action => "action",
            Members => "members",
            AddMembers => "add_members",
            RemoveMembers => "remove_members",
            Compute => "compute",
            Aggregate => "aggregate",
            SignIn => "sign_in",
            SignOut => "sign_out",
        }
    }
}

/// Returns the kind of a behaviour, and the name that its key holds.
pub(super) fn kind_of<'d>(
    doc: &'d BehaviourDoc,
    path: &Path<'_>,
    findings: &mut Findings,
) -> Option<(Kind, &'d str)> {
    let named = [
        (Get, &doc.get),
        (Lookup, &doc.lookup),
        (List, &doc.list),
        (Create, &doc.create),
        (Replace, &doc.replace),
        (Patch, &doc.patch),
        (Delete, &doc.delete),
        (Action, &doc.action),
        (Members, &doc.members),
        (AddMembers, &doc.add_members),
        (RemoveMembers, &doc.remove_members),
        (Aggregate, &doc.aggregate),
    ];
    let flags = [(Compute, !doc.compute.is_empty()), (SignIn, doc.sign_in), (SignOut, doc.sign_out)];
    let mut kinds: Vec<(Kind, &str)> =
        named.into_iter().filter_map(|(kind, name)| Some((kind, name.as_deref()?))).collect();
    kinds.extend(flags.into_iter().filter(|(_, given)| *given).map(|(kind, _)| (kind, "")));
    match kinds.as_slice() {
        [one] => Some(*one),
        [] => {
            error!(findings, path => "found no kind of behaviour";
                "add one of get, lookup, list, create, replace, patch, delete, action, members, add_members, remove_members, compute, aggregate, sign_in, sign_out");
            None
        }
        [first, second, ..] => {
            let (first, second) = (first.0.name(), second.0.name());
            error!(findings, path.name(second) => "found both `{first}` and `{second}`, expected one kind";
                "keep one; further changes go to `also`");
            None
        }
    }
}

/// Reports options that the kind does not have.
pub(super) fn check(doc: &BehaviourDoc, kind: Kind, path: &Path<'_>, findings: &mut Findings) {
    let one_record: &[Kind] = &[Get, Replace, Patch, Delete, Action, Members, AddMembers, RemoveMembers];
    let options: [(&str, bool, &[Kind]); 15] = [
        ("key", doc.key.is_some(), one_record),
        ("by", !doc.by.is_empty(), &[Lookup]),
        ("filters", !doc.filters.is_empty(), &[List, Aggregate]),
        ("where", doc.condition.is_some() && doc.each.is_none(), &[List, Aggregate, Members]),
        ("each", doc.each.is_some(), &[Create]),
        ("sort", doc.sort.is_some(), &[List, Members]),
        ("page", doc.page.is_some(), &[List, Members]),
        ("set", !doc.set.is_empty(), &[Create, Replace, Patch]),
        ("moves", doc.moves.is_some(), &[Patch, Action]),
        ("keep", doc.keep.is_some(), &[Create, Replace, Patch, Action]),
        ("upsert", doc.upsert, &[Replace, Patch]),
        ("member", doc.member.is_some(), &[AddMembers, RemoveMembers]),
        ("position", doc.position.is_some(), &[AddMembers]),
        ("group_by", doc.group_by.is_some(), &[Aggregate]),
        ("measures", !doc.measures.is_empty(), &[Aggregate]),
    ];
    for (option, _, kinds) in options.into_iter().filter(|(_, given, kinds)| *given && !kinds.contains(&kind))
    {
        let known: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        error!(findings, path.name(option) => "found `{option}`, which does nothing for `{}`", kind.name();
            "remove it; it goes with {}", known.join(", "));
    }
}

//! Owns the base: a frozen world, with the indexes and digests that make calls fast. All its states share it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use diorama_seeds::expr::Node;
use diorama_seeds::model::walk::ApiPart;
use diorama_seeds::model::{
    ApiId, BehaviourKind, Comparison, DomainId, FieldId, FilterTest, OnDelete, Query, Record, ResourceId,
    World,
};
use diorama_seeds::value::{Str, Value};
use rustc_hash::FxHashMap;

use super::digest::{Sum, record_hash};
use super::eval::DEFAULT_BUDGET;
use super::fit::as_key;
use super::index::{Form, Index, fingerprints, placed, wanted};
use super::names::{
    Parts, PathNames, ResourceNames, caller_resource, parts_by_noun, reference_target, resource_names,
    resources_by_key_name, resources_by_name, resources_by_noun,
};
use super::overlay::Table;
use super::standing::StandingTokens;
use super::tools::index::{TOOL_SEARCHER, ToolIndex};

/// A frozen world with lookups by key and name, equality indexes and digests. All its states share it.
#[derive(Debug)]
pub struct Base {
    world: World,
    apis: FxHashMap<Str, ApiId>,
    resources: Vec<FrozenIndexes>,
    pub(super) names: Arc<[Str]>,
    pub(super) initial: Arc<[Table]>,
    pub(super) tools: ToolIndex,
    /// The noun of each resource and the plain names of its fields, for contract replies.
    pub(super) resource_names: Vec<ResourceNames>,
    /// The path parameters of each API, with the nouns and names of their values.
    pub(super) path_names: Vec<PathNames>,
    /// The resources of each domain, by name.
    pub(super) by_name: HashMap<DomainId, HashMap<Str, ResourceId>>,
    /// The resources that reply members may refer to, by noun.
    pub(super) by_noun: HashMap<String, ResourceId>,
    /// The resources that reply members may list inside of a record, by noun and containing resource.
    pub(super) parts: Parts,
    /// The resources with a distinctive key name, by that name.
    pub(super) by_key_name: HashMap<String, ResourceId>,
    /// The resource of the caller, for reply members.
    pub(super) caller: Option<ResourceId>,
    standing: OnceLock<StandingTokens>,
    shadow: OnceLock<Option<Arc<Self>>>,
    replaced_shadow: OnceLock<Option<Arc<Self>>>,
    budget: u64,
}

/// Additional evaluation steps per record of the world. A condition may test every record of a large
/// resource; nested folds may not.
const STEPS_FOR_EACH_RECORD: u64 = 20;

/// The indexes of one resource over its frozen records.
#[derive(Debug)]
pub(super) struct FrozenIndexes {
    by_key: FxHashMap<Value, u32>,
    indexes: Vec<(FieldId, Form, Index)>,
    /// The fields of all resources that refer to this one.
    pub(super) referrers: Vec<Referrer>,
}

/// A field that refers to a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Referrer {
    pub(super) resource: ResourceId,
    pub(super) field: FieldId,
    pub(super) on_delete: OnDelete,
    /// True if the field is a list of references.
    pub(super) list: bool,
}

/// The reason for which a world cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// A record has too few or too many values.
    #[error(
        "a record of `{resource}` has {found} values, expected {expected}; write one value for each field"
    )]
    Width {
        /// The resource.
        resource: Str,
        /// Number of values in the record.
        found: usize,
        /// Number of fields of the resource.
        expected: usize,
    },
    /// Two records have the same key.
    #[error("two records of `{resource}` have the key {key}; keys must differ")]
    DuplicateKey {
        /// The resource.
        resource: Str,
        /// The key.
        key: String,
    },
    /// Two APIs have the same name, or one has a reserved name.
    #[error("the API name `{0}` is taken; give each API its own name, and none the name ToolSearcher")]
    DuplicateApi(Str),
    /// A resource has more records than an index can address.
    #[error("`{0}` has too many records; at most 4,294,967,295 fit")]
    TooMany(Str),
}

impl Base {
    /// Freezes a world.
    ///
    /// # Errors
    /// [`BaseError`] where records have the wrong width, keys repeat or API names repeat.
    pub fn new(mut world: World) -> Result<Arc<Self>, BaseError> {
        let mut apis = FxHashMap::default();
        for (position, api) in world.apis.iter().enumerate() {
            let taken = apis.insert(api.name.clone(), ApiId(position as u16)).is_some();
            if taken || &*api.name == TOOL_SEARCHER {
                return Err(BaseError::DuplicateApi(api.name.clone()));
            }
        }
        // The shadow world shares the states, so its rules decide about indexes, too.
        let indexed = wanted_indexes(world.shadow().as_ref().unwrap_or(&world));
        let mut resources = Vec::with_capacity(world.resources.len());
        let mut tables = Vec::with_capacity(world.resources.len());
        for (position, resource) in world.resources.iter_mut().enumerate() {
            let id = ResourceId(position as u16);
            if u32::try_from(resource.records.len()).is_err() {
                return Err(BaseError::TooMany(resource.qualified.clone()));
            }
            if let Some(record) = resource.records.iter().find(|record| record.len() != resource.fields.len())
            {
                return Err(BaseError::Width {
                    resource: resource.qualified.clone(),
                    found: record.len(),
                    expected: resource.fields.len(),
                });
            }
            let key = resource.key.index();
            resource.records.sort_by(|left, right| left[key].cmp(&right[key]));
            let mut by_key = FxHashMap::with_capacity_and_hasher(resource.records.len(), Default::default());
            let mut sum = Sum::default();
            let mut scratch = Vec::new();
            for (position, record) in resource.records.iter().enumerate() {
                if by_key.insert(record[key].clone(), position as u32).is_some() {
                    let key = record[key].to_text(&world.zone);
                    return Err(BaseError::DuplicateKey { resource: resource.qualified.clone(), key });
                }
                sum.add(record_hash(&mut scratch, &resource.qualified, &record[key], record));
            }
            let indexes = indexed
                .range((id, FieldId(0), Form::Exact)..=(id, FieldId(u16::MAX), Form::Items))
                .filter(|(_, field, form)| (*field, *form) != (resource.key, Form::Exact))
                .map(|(_, field, form)| (*field, *form, Index::new(&resource.records, *field, *form)))
                .collect();
            tables.push(Table::new(sum, resource.records.len()));
            resources.push(FrozenIndexes { by_key, indexes, referrers: Vec::new() });
        }
        for referrer in referrers(&world) {
            if let Some(target) = resources.get_mut(referrer.0.index()) {
                target.referrers.push(referrer.1);
            }
        }
        let records: u64 = world.resources.iter().map(|resource| resource.records.len() as u64).sum();
        Ok(Arc::new(Self {
            apis,
            resources,
            names: world.resources.iter().map(|resource| resource.qualified.clone()).collect(),
            initial: tables.into(),
            tools: ToolIndex::new(&world),
            resource_names: resource_names(&world.resources),
            path_names: world.apis.iter().map(PathNames::new).collect(),
            by_name: resources_by_name(&world.resources),
            by_noun: resources_by_noun(&world.resources),
            by_key_name: resources_by_key_name(&world.resources),
            parts: parts_by_noun(&world.resources),
            caller: caller_resource(&world.apis),
            standing: OnceLock::new(),
            shadow: OnceLock::new(),
            replaced_shadow: OnceLock::new(),
            budget: DEFAULT_BUDGET + STEPS_FOR_EACH_RECORD * records,
            world,
        }))
    }

    /// Returns the standing tokens of the users.
    #[must_use]
    pub fn standing(&self) -> &StandingTokens {
        self.standing.get_or_init(|| StandingTokens::new(&self.world))
    }

    /// Returns the shadow world, in which policy rules refuse calls. Returns none if no policy governs a
    /// call. Both worlds accept the same states.
    pub fn shadow(&self) -> Option<&Arc<Self>> {
        // The shadow has the names and records of this world, which are valid.
        self.shadow.get_or_init(|| self.world.shadow().and_then(|world| Self::new(world).ok())).as_ref()
    }

    /// The same world in which the rules of policies refuse calls as articles tell them that were replaced; none where none was.
    pub fn replaced_shadow(&self) -> Option<&Arc<Self>> {
        let made = || self.world.replaced_shadow().and_then(|world| Self::new(world).ok());
        self.replaced_shadow.get_or_init(made).as_ref()
    }

    /// Returns the frozen world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns the id of the API with a name.
    #[must_use]
    pub fn api_named(&self, name: &str) -> Option<ApiId> {
        self.apis.get(name).copied()
    }

    /// Returns the maximum number of evaluation steps for the expressions of one call.
    pub(super) const fn budget(&self) -> u64 {
        self.budget
    }

    /// Returns the frozen records of a resource, sorted by key.
    pub(super) fn records(&self, resource: ResourceId) -> &[Record] {
        self.world.resources.get(resource.index()).map_or(&[], |resource| &resource.records)
    }

    pub(super) fn frozen(&self, resource: ResourceId) -> Option<&FrozenIndexes> {
        self.resources.get(resource.index())
    }

    /// Returns the frozen record with a key.
    #[must_use]
    pub fn find(&self, resource: ResourceId, key: &Value) -> Option<&Record> {
        let position = *self.resources.get(resource.index())?.by_key.get(key)?;
        self.records(resource).get(position as usize)
    }

    /// Returns the positions of frozen records that may have this value in this field. Returns `None` if
    /// there is no such index.
    pub(super) fn positions(
        &self,
        resource: ResourceId,
        field: FieldId,
        form: Form,
        value: &Value,
    ) -> Option<&[u32]> {
        let frozen = self.resources.get(resource.index())?;
        if form == Form::Exact && self.world.resource(resource).key == field {
            return Some(frozen.by_key.get(&as_key(value)).map_or(&[], std::slice::from_ref));
        }
        let (_, _, index) = frozen.indexes.iter().find(|(of, kind, _)| *of == field && *kind == form)?;
        Some(index.positions(wanted(form, value)?))
    }

    /// Returns the hashes under which the indexes of a resource find a record.
    pub(super) fn found_by(&self, resource: ResourceId, record: &Record) -> Vec<u64> {
        let mut hashes = Vec::new();
        let indexes = self.resources.get(resource.index()).map_or(&[][..], |frozen| &frozen.indexes);
        for (field, form, _) in indexes {
            if let Some(value) = record.get(field.index()) {
                fingerprints(*form, value, |hash| hashes.push(placed(*field, *form, hash)));
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

fn referrers(world: &World) -> impl Iterator<Item = (ResourceId, Referrer)> {
    world.resources.iter().enumerate().flat_map(|(position, resource)| {
        resource.fields.iter().enumerate().filter_map(move |(field, declared)| {
            let (target, list) = reference_target(&declared.schema.kind)?;
            let (resource, field) = (ResourceId(position as u16), FieldId(field as u16));
            Some((target, Referrer { resource, field, on_delete: declared.on_delete, list }))
        })
    })
}

type IndexedFields = BTreeSet<(ResourceId, FieldId, Form)>;

/// Returns the fields to index: references, unique fields, and fields that lookups, filters and expressions
/// compare for equality.
fn wanted_indexes(world: &World) -> IndexedFields {
    let mut wanted = IndexedFields::new();
    for (position, resource) in world.resources.iter().enumerate() {
        let id = ResourceId(position as u16);
        for (field, declared) in resource.fields.iter().enumerate() {
            let field = FieldId(field as u16);
            match reference_target(&declared.schema.kind) {
                Some((_, true)) => wanted.insert((id, field, Form::Items)),
                Some((_, false)) => wanted.insert((id, field, Form::Exact)),
                None if declared.unique => wanted.insert((id, field, Form::Exact)),
                None => false,
            };
        }
        wanted.extend(resource.unique_together.iter().flatten().map(|field| (id, *field, Form::Exact)));
    }
    for domain in &world.domains {
        wanted.extend(domain.auth.iter().map(|auth| (auth.user, auth.login, Form::Folded)));
    }
    for api in &world.apis {
        if let BehaviourKind::Lookup { resource, by } = &api.behaviour.kind {
            wanted.extend(by.iter().map(|(field, _)| (*resource, *field, Form::Folded)));
        }
        if let Some(query) = api.query() {
            wanted_by_filters(query, &mut wanted);
        }
        api.walk(&mut |part| match part {
            ApiPart::Condition(resource, condition) => {
                wanted.extend(condition.index.iter().map(|(field, _)| (resource, *field, Form::Exact)));
            }
            ApiPart::Node(Node::Fold(fold)) => {
                wanted.extend(fold.index.iter().map(|(field, _)| (fold.resource, *field, Form::Exact)));
            }
            _ => {}
        });
    }
    wanted
}

fn wanted_by_filters(query: &Query, wanted: &mut IndexedFields) {
    for filter in &query.filters {
        match &filter.test {
            FilterTest::Compare(field, Comparison::Equal) => {
                wanted.insert((query.resource, *field, Form::Exact))
            }
            FilterTest::Compare(field, Comparison::Has) => {
                wanted.insert((query.resource, *field, Form::Items))
            }
            _ => false,
        };
    }
}

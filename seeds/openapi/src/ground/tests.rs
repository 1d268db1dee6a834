//! Checks the resources and behaviours that the importer derives from small documents.

use crate::{ImportOptions, ImportedWorld, Severity, import};

/// Imports a document of these paths, in which every list shows things with an `id`, a `code` and a `token`.
fn imported(paths: &str) -> ImportedWorld {
    let thing = "{type: object, properties: {id: {type: string}, code: {type: string}, token: {type: string}, \
                 area: {type: object, properties: {id: {type: string}, title: {type: string}}}, \
                 odd: {type: object, additionalProperties: false, required: [x], properties: {x: {type: string, pattern: '^[a-z]{3}$'}}}}}";
    let text = format!(
        "openapi: 3.0.3\ninfo: {{title: Things, version: '1'}}\npaths:\n{paths}\ncomponents: {{schemas: {{Thing: {thing}}}}}\n"
    );
    let mut found = import("things", text.as_bytes(), &ImportOptions::default()).unwrap();
    found.notes.retain(|note| note.severity != Severity::Other);
    found
}

const LIST: &str = "{responses: {'200': {description: All, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}}";
const ONE: &str = "{responses: {'200': {description: One, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}}}";
const SILENT: &str = "{responses: {'200': {description: Done}}}";
/// A write that declares only its request body.
const ODD: &str = "  /odd: {post: {requestBody: {content: {application/json: {schema: {type: array, items: {type: string}}}}}, responses: {'204': {description: Done}}}}";

fn behaviour(found: &ImportedWorld, route: &str) -> diorama_seeds::doc::BehaviourDoc {
    let (method, path) = route.split_once(' ').unwrap();
    found
        .doc
        .apis
        .iter()
        .find(|api| api.method.as_str() == method && api.path == path)
        .unwrap()
        .behaviour
        .clone()
}

#[test]
fn a_path_that_ends_with_a_key_may_list_its_children() {
    let found = imported(&format!(
        "  /repos/{{owner}}: {{get: {LIST}}}\n  /repos/{{owner}}/{{repo_id}}: {{get: {ONE}, delete: {SILENT}}}\n{ODD}"
    ));
    assert!(behaviour(&found, "GET /repos/{owner}").list.is_some());
    let one = behaviour(&found, "GET /repos/{owner}/{repo_id}");
    assert_eq!(one.get, behaviour(&found, "GET /repos/{owner}").list);
}

#[test]
fn containers_lose_their_suffix_if_the_label_stays_unique() {
    let labels = |names: &[&str]| -> Vec<String> {
        let place = |name: &&str| format!("  /{name}: {{get: {LIST}}}\n  /{name}/{{id}}: {{get: {ONE}}}\n");
        let found = imported(&names.iter().map(place).collect::<String>());
        found.doc.resources.values().filter_map(|resource| resource.label.clone()).collect()
    };
    assert_eq!(labels(&["template-lists"]), ["template"]);
    assert_eq!(labels(&["template-lists", "template-views"]), ["template list", "template view"]);
    assert_eq!(labels(&["template-lists", "templates"]), ["template list", "template"]);
}

#[test]
fn a_second_key_must_match_the_member_of_the_record() {
    let found = imported(&format!(
        "  /hooks/{{hook_id}}: {{get: {ONE}}}\n  /hooks/{{hook_id}}/{{hook_token}}: {{get: {ONE}}}\n  /hooks: {{get: {LIST}}}\n{ODD}"
    ));
    let one = behaviour(&found, "GET /hooks/{hook_id}/{hook_token}");
    assert!(one.require.iter().any(|check| check.that.contains("token")), "{:?}", one.require);
}

#[test]
fn reads_without_a_schema_show_written_records() {
    let body = "requestBody: {content: {application/json: {schema: {type: object, properties: {title: {type: string}}}}}}";
    let found = imported(&format!(
        "  /notes: {{get: {SILENT}, post: {{{body}, responses: {{'201': {{description: New}}}}}}}}\n  /notes/{{slug}}: {{get: {SILENT}}}\n{ODD}"
    ));
    assert!(behaviour(&found, "GET /notes").list.is_some());
    assert_eq!(behaviour(&found, "GET /notes/{slug}").get, behaviour(&found, "POST /notes").create);
}

#[test]
fn a_key_that_records_show_as_a_member_selects_them_by_its_values_alone() {
    let found = imported(&format!(
        "  /kinds/{{code}}: {{get: {LIST}}}\n  /kinds/{{code}}/{{kind_id}}: {{get: {ONE}}}\n{ODD}"
    ));
    let list = behaviour(&found, "GET /kinds/{code}");
    assert_eq!(list.condition.as_deref(), Some("item.code == args.code"));
    assert!(
        list.require.iter().any(|check| check.that.contains("a.code == args.code")),
        "{:?}",
        list.require
    );
}

#[test]
fn a_key_that_only_members_name_gets_a_resource_of_its_own() {
    let found =
        imported(&format!("  /things: {{get: {LIST}}}\n  /areas/{{area_id}}/report: {{get: {ONE}}}\n{ODD}"));
    assert!(found.doc.resources.contains_key("area"), "{:?}", found.doc.resources.keys());
    let report = behaviour(&found, "GET /areas/{area_id}/report");
    assert!(format!("{report:?}").contains("area"), "{report:?}");
}

#[test]
fn a_string_described_as_an_id_refers_to_the_resource_of_its_name() {
    let target = |description: &str| {
        let plot = format!(
            "type: object, properties: {{id: {{type: string}}, area: {{type: string, description: {description}}}}}"
        );
        let thing = "$ref: '#/components/schemas/Thing'";
        let (all, one) = (LIST.replacen(thing, &plot, 1), ONE.replacen(thing, &plot, 1));
        let found = imported(&format!(
            "  /areas: {{get: {LIST}}}\n  /areas/{{area_id}}: {{get: {ONE}}}\n  /plots: {{get: {all}}}\n  /plots/{{plot_id}}: {{get: {one}}}\n"
        ));
        found.doc.resources["plot"].fields.get("area").and_then(|area| area.reference.clone())
    };
    assert_eq!(target("Area ID of the plot.").as_deref(), Some("area"));
    assert_eq!(target("Where the plot lies."), None);
}

#[test]
fn a_put_of_a_list_replaces_the_whole_collection() {
    let body = "requestBody: {required: true, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}";
    let reply = "responses: {'200': {description: All, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}";
    let found = imported(&format!(
        "  /things: {{get: {LIST}, put: {{{body}, {reply}}}, patch: {{{body}, {reply}}}}}\n{ODD}"
    ));
    let put = behaviour(&found, "PUT /things");
    assert_eq!((put.create.as_deref(), put.each.as_deref()), (Some("thing"), Some("body")));
    assert_eq!(put.condition.as_deref(), Some("true"));
    assert_eq!(behaviour(&found, "PATCH /things").condition, None);
}

#[test]
fn a_list_without_a_schema_shows_records_that_have_paths_elsewhere() {
    let found = imported(&format!(
        "  /shelves: {{get: {LIST}}}\n  /shelves/{{shelf_id}}/things: {{get: {SILENT}}}\n  /things/{{thing_id}}: {{get: {ONE}}}\n{ODD}"
    ));
    let list = behaviour(&found, "GET /shelves/{shelf_id}/things");
    assert_eq!(list.list, behaviour(&found, "GET /things/{thing_id}").get);
}

#[test]
fn invalid_defaults_are_dropped_and_pages_start_at_their_own_first_number() {
    let query = |name: &str, schema: &str| format!("{{name: {name}, in: query, schema: {{{schema}}}}}");
    let parameters = [
        query("page", "type: integer, default: 0"),
        query("limit", "type: integer, default: 500"),
        query("open", "type: boolean, default: perhaps"),
        query("area", "type: string, enum: [north, south], default: ' north'"),
    ];
    let list = LIST.replacen('{', &format!("{{parameters: [{}], ", parameters.join(", ")), 1);
    let found = imported(&format!("  /things: {{get: {list}}}\n  /things/{{id}}: {{get: {ONE}}}"));
    let page = behaviour(&found, "GET /things").page.unwrap();
    assert_eq!((page.first, page.size), (Some(0), Some(500)));
    let default = |name: &str| found.doc.apis[0].parameters[name].default.clone();
    assert_eq!(
        ["page", "limit", "open", "area"].map(default),
        [Some(0.into()), Some(500.into()), None, None]
    );
}

#[test]
fn envelopes_are_no_records_and_required_headers_are_given() {
    let around = "type: object, properties: {status: {type: string}, code: {type: integer}, service: {type: string}, \
                  resource: {type: string}, operation: {type: string}, data: {$ref: '#/components/schemas/Thing'}}";
    let one = ONE.replacen("$ref: '#/components/schemas/Thing'", around, 1);
    let header = "parameters: [{name: X-Consumer, in: header, required: true, schema: {type: string}}], ";
    let one = one.replacen('{', &format!("{{{header}"), 1);
    let found =
        imported(&format!("  /things/{{thing_id}}: {{get: {one}}}\n  /things: {{get: {LIST}}}\n{ODD}"));
    assert_eq!(found.doc.resources.keys().collect::<Vec<_>>(), ["thing"]);
    assert!(!found.doc.resources["thing"].fields.contains_key("operation"));
    let get = found.doc.apis.iter().find(|api| api.path == "/things/{thing_id}").unwrap();
    assert!(!get.parameters["X-Consumer"].optional);
    assert!(found.doc.domain.unwrap().given.contains_key("X-Consumer"));
}

#[test]
fn initial_records_are_not_deleted_and_show_documented_values() {
    let members = "id: {type: string}, code: {type: string, description: The number of the thing}, is_deleted: {type: boolean}, \
                   isSystem: {type: boolean}, purged_at: {type: string, format: date-time, nullable: true}, \
                   status: {type: string, enum: [active, trashed]}, timezone_name: {type: string}, image_name: {type: string}, \
                   colour_scheme: {type: string, description: 'Can be either `light`, `dark` or `high-contrast`.'}, \
                   mood: {anyOf: [{type: string}, {type: string, enum: [calm, wild]}]}, \
                   extra_key: {type: string, example: extra-key-1234}";
    let thing = format!("type: object, properties: {{{members}}}");
    let list = LIST.replacen("$ref: '#/components/schemas/Thing'", &thing, 1);
    let one = ONE.replacen("$ref: '#/components/schemas/Thing'", &thing, 1);
    let found = imported(&format!(
        "  /things: {{get: {list}}}\n  /things/{{code}}: {{get: {one}, delete: {SILENT}}}\n{ODD}"
    ));
    let fields = &found.doc.resources["thing"].fields;
    let fake = |name: &str| {
        let fake = fields[name].fake.clone().unwrap();
        if fake["provider"] == "chance" { fake["of"].clone() } else { fake }
    };
    let picks = |values: serde_json::Value| serde_json::json!({"provider": "pick", "of": values});
    for gone in ["is_deleted", "isSystem"] {
        assert_eq!(fake(gone), picks([false].into()), "{gone}");
    }
    assert_eq!(fake("purged_at"), picks([serde_json::Value::Null].into()));
    assert_eq!(fake("status"), picks(["active"].into()));
    assert_eq!(fake("timezone_name"), "timezone_of_city");
    assert_eq!(fake("colour_scheme"), picks(["light", "dark", "high-contrast"].into()));
    assert_eq!(fake("mood"), picks(["calm", "wild"].into()));
    assert_eq!(fake("image_name")["text"], "{purpose} image");
    assert_eq!(fake("extra_key")["format"], "extra key ###");
    assert_eq!(fake("code")["format"], "#####");
}

#[test]
fn children_show_the_name_of_their_parent() {
    let shelf = "type: object, properties: {shelf_id: {type: string}, name: {type: string}}";
    let thing = "type: object, properties: {thing_id: {type: string}, shelf_name: {type: string}, name: {type: string}}";
    let of = |text: &str, members: &str| text.replacen("$ref: '#/components/schemas/Thing'", members, 1);
    let found = imported(&format!(
        "  /shelves: {{get: {}}}\n  /shelves/{{shelf_id}}/things: {{get: {}}}\n  /shelves/{{shelf_id}}/things/{{thing_id}}: {{get: {}}}\n{ODD}",
        of(LIST, shelf),
        of(LIST, thing),
        of(ONE, thing)
    ));
    let fake = found.doc.resources["thing"].fields["shelf_name"].fake.clone().unwrap();
    assert_eq!(fake, serde_json::json!({"provider": "through", "ref": "shelf_id", "field": "name"}));
}

#[test]
fn cycles_of_parent_collections_end() {
    // Users belong to groups, and the only groups of the document belong to its users.
    let found = imported(&format!(
        "  /groups/{{group_id}}/users/{{user_id}}: {{get: {ONE}}}\n  /groups/{{group_id}}/users/{{user_id}}/groups: {{get: {LIST}}}\n{ODD}"
    ));
    assert!(behaviour(&found, "GET /groups/{group_id}/users/{user_id}").get.is_some());
    assert!(behaviour(&found, "GET /groups/{group_id}/users/{user_id}/groups").list.is_some());
    // Each of two or three is the only one whose path ends as another's begins.
    for count in [2, 3] {
        let name = |place: usize| ["apples", "pears", "plums"][place % count];
        let path = |place: usize| {
            let (above, own) = (name(place), name(place + 1));
            format!("  /{above}/{{a}}/{own}: {{get: {LIST}}}\n  /{above}/{{a}}/{own}/{{b}}: {{get: {ONE}}}\n")
        };
        let paths: String = (0..count).map(path).collect();
        let found = imported(&format!("{paths}{ODD}"));
        assert_eq!(found.doc.apis.len(), count * 2 + 1);
    }
}

#[test]
fn key_expressions_are_bounded_for_any_number_of_parents() {
    let mut paths = String::new();
    let mut path = String::new();
    for level in 0..30 {
        path.push_str(&format!("/level{level}s"));
        paths.push_str(&format!("  {path}: {{get: {LIST}}}\n"));
        path.push_str(&format!("/{{level{level}_id}}"));
        paths.push_str(&format!("  {path}: {{get: {ONE}}}\n"));
    }
    let found = imported(&format!("{paths}{ODD}"));
    let last = behaviour(&found, &format!("GET {path}"));
    assert!(last.get.is_some(), "{:?}", found.notes);
    assert!(last.key.is_some_and(|key| key.len() < 1_000));
}

#[test]
fn of_collections_that_share_a_key_name_the_same_one_is_given_each_time() {
    let listed = "{responses: {'200': {description: All, content: {application/json: {schema: {type: object, properties: {value: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}}}}";
    let kinds = ["tables", "graphs", "queues", "topics", "stores"];
    let paths = kinds.map(|kind| {
        format!("  /{kind}: {{get: {listed}}}\n  /{kind}/{{thing_id}}: {{get: {ONE}, delete: {SILENT}}}\n")
    });
    let given = || imported(&format!("{}{ODD}", paths.concat())).doc.domain.unwrap().given;
    let first = given();
    assert_eq!(first["thing_id"], diorama_seeds::doc::GivenDoc::FieldOf("table.id".to_owned()));
    for _ in 0..10 {
        assert_eq!(given(), first);
    }
}

#[test]
fn days_in_paths_are_values_and_one_tenant_is_given_under_its_name() {
    let text = |rest: &str| {
        format!("parameters: [{{in: path, required: true, schema: {{type: string}}, {rest}}}], get: {LIST}")
    };
    let found = imported(&format!(
        "  /news/{{date}}: {{{}}}\n  /a/{{systemKey}}: {{get: {ONE}}}\n  /b/{{systemKey}}: {{get: {ONE}}}\n  /c/{{systemKey}}: {{get: {ONE}}}\n{ODD}",
        text("name: date, description: 'The day, such as 2026-03-01.'")
    ));
    let given = found.doc.domain.as_ref().unwrap().given.clone();
    let told = |name: &str| {
        let diorama_seeds::doc::GivenDoc::Value(value) = &given[name] else { unreachable!() };
        value.clone()
    };
    assert_eq!(told("date"), "2025-12-24");
    assert!(behaviour(&found, "GET /news/{date}").require.is_empty());
    let required = &behaviour(&found, "GET /b/{systemKey}").require;
    assert!(
        required[0].that.ends_with(&format!("'{}'", told("systemKey").as_str().unwrap())),
        "{required:?}"
    );
}

#[test]
fn impossible_bounds_and_odd_patterns_of_given_keys_do_not_panic() {
    let key = |name: &str, schema: &str| {
        format!(
            "  /{name}/{{{name}Id}}/things: {{parameters: [{{name: {name}Id, in: path, required: true, schema: {{{schema}}}}}], get: {LIST}}}\n"
        )
    };
    let found = imported(&format!(
        "{}{}{ODD}",
        key("low", "type: integer, minimum: 9, maximum: 3"),
        key("odd", "type: string, pattern: '^äöü[a-z]{3}$', maxLength: 3, minLength: 400000000")
    ));
    assert_eq!(found.doc.domain.unwrap().given.len(), 2);
}

#[test]
fn an_id_that_only_the_list_shows_is_the_key() {
    let item = LIST.replacen(
        "$ref: '#/components/schemas/Thing'",
        "type: object, properties: {id: {type: string}, code: {type: string}, name: {type: string}}",
        1,
    );
    let one = ONE.replacen(
        "$ref: '#/components/schemas/Thing'",
        "type: object, properties: {name: {type: string}, floor: {type: integer}}",
        1,
    );
    let found = imported(&format!("  /rooms: {{get: {item}}}\n  /rooms/{{roomId}}: {{get: {one}}}\n{ODD}"));
    assert_eq!(found.doc.resources["room"].key, "id");
    let guess = found.hypotheses.iter().find(|guess| guess.name == "key of /rooms").unwrap();
    assert!(guess.alternatives > 1, "{guess:?}");
}

#[test]
fn query_parameters_in_an_address_may_be_references() {
    let lat = "{name: lat, in: query, required: true, schema: {type: number}}";
    let ok = "responses: {'200': {description: ok}}";
    let found = imported(&format!(
        "  /alerts?lat={{lat}}: {{get: {{parameters: [{{$ref: '#/x-lat'}}], {ok}}}}}\n{ODD}\nx-lat: {lat}"
    ));
    assert!(found.doc.domain.as_ref().unwrap().given.contains_key("lat"), "{:?}", found.doc.domain);
}

const TEXT: &str = "requestBody: {content: {application/json: {schema: {type: object, properties: {value: {type: string}}}}}}";

#[test]
fn a_path_that_ends_with_a_member_sets_it() {
    let found = imported(&format!(
        "  /things: {{get: {LIST}}}\n  /things/{{id}}: {{get: {ONE}}}\n  /things/{{id}}/token: {{put: {{{TEXT}, responses: {{'200': {{description: Done}}}}}}}}\n{ODD}"
    ));
    let put = behaviour(&found, "PUT /things/{id}/token");
    assert_eq!(put.patch.as_deref(), Some("thing"));
    assert_eq!(put.set["token"], "given(args.value) ? args.value : record.token");
}

#[test]
fn names_that_callers_choose_are_unique_below_their_parent_and_change() {
    let body = |members: &str| {
        format!(
            "requestBody: {{content: {{application/json: {{schema: {{type: object, properties: {{{members}}}}}}}}}}}"
        )
    };
    let (post, patch) = (body("name: {type: string}"), body("new_name: {type: string}"));
    let tag = "type: object, properties: {id: {type: integer}, name: {type: string}, colour: {type: string}}";
    let thing = "$ref: '#/components/schemas/Thing'";
    let (all, one) = (LIST.replacen(thing, tag, 1), ONE.replacen(thing, tag, 1));
    let made = one.replacen("200", "201", 1);
    let found = imported(&format!(
        "  /things: {{get: {LIST}}}\n  /things/{{id}}: {{get: {ONE}}}\n  /things/{{id}}/tags: {{get: {all}, post: {{{post}, {}}}}}\n  /things/{{id}}/tags/{{name}}: {{get: {one}, patch: {{{patch}, {}}}}}\n",
        inside(&made),
        inside(&one),
    ));
    let resource = &found.doc.resources["tag"];
    assert_eq!(resource.key, "id");
    let change = behaviour(&found, "PATCH /things/{id}/tags/{name}");
    assert!(change.key.as_deref().unwrap().contains("a.name == args.name"), "{change:?}");
    assert_eq!(change.set["name"], "given(args.new_name) ? args.new_name : record.name");
}

/// Returns the members of an operation that is written in braces.
fn inside(operation: &str) -> String {
    operation.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().to_owned()
}

#[test]
fn ranges_filter_by_their_bounds_and_pages_are_also_numbered() {
    let deep = "{name: weight, in: query, style: deepObject, explode: true, schema: {anyOf: [{type: object, properties: {gte: {type: integer}, lt: {type: integer}}}, {type: integer}]}}";
    let signs = "{name: 'weight>', in: query, schema: {type: integer}}";
    let pages = "{name: page_token, in: query, schema: {type: string}}, {name: page_number, in: query, schema: {type: string}}, {name: page_size, in: query, schema: {type: integer}}";
    let thing = "type: object, properties: {id: {type: string}, weight: {type: integer}}";
    let all = LIST.replacen("$ref: '#/components/schemas/Thing'", thing, 1);
    let reply = "responses: {'200': {description: All, content: {application/json: {schema: {type: object, properties: {page_token: {type: string}, things: {type: array, items: {TYPE}}}}}}}}".replace("TYPE", thing);
    let list = |parameters: &str, reply: &str| {
        format!("  /things: {{get: {{parameters: [{parameters}], {reply}}}}}\n{ODD}")
    };
    let filters = |parameters: &str| {
        let found = imported(&list(parameters, &inside(&all)));
        let api = &found.doc.apis[0];
        let filters: Vec<String> = api.behaviour.filters.keys().cloned().collect();
        let sent = api.parameters.values().filter_map(|known| known.sent_as.clone());
        (filters, sent.collect::<Vec<String>>())
    };
    assert_eq!(
        filters(deep),
        (
            vec!["weight".into(), "weight_gte".into(), "weight_lt".into()],
            vec!["weight[gte]".into(), "weight[lt]".into()]
        )
    );
    assert_eq!(filters(signs), (vec!["weight_gte".into()], vec!["weight>".into()]));
    // Names that are read alike stay two parameters.
    let both = "{name: 'weight[gte]', in: query, schema: {type: integer}}, {name: weight_gte, in: query, schema: {type: integer}}";
    assert_eq!(filters(both), (vec!["weight_ge".into(), "weight_gte".into()], vec!["weight[gte]".into()]));
    let dated = all.replacen(
        "weight: {type: integer}",
        "created: {type: integer, description: Seconds since the epoch.}",
        1,
    );
    let since = behaviour(
        &imported(&list("{name: created_gte, in: query, schema: {type: integer}}", &inside(&dated))),
        "GET /things",
    );
    assert_eq!(
        since.condition.as_deref(),
        Some(
            "(!given(args.created_gte) || (item.created != null && (item.created - datetime('1970-01-01T00:00Z')) / minutes(1) * 60 >= args.created_gte))"
        )
    );
    let page = behaviour(&imported(&list(pages, &reply)), "GET /things").page.unwrap();
    assert_eq!(
        [page.parameter.as_deref(), page.number.as_deref()],
        [Some("page_token"), Some("page_number")]
    );
}

#[test]
fn deep_objects_that_are_read_as_json_are_noted() {
    let noted = |schema: &str| {
        let options =
            format!("{{name: options, in: query, style: deepObject, explode: true, schema: {schema}}}");
        let text = format!(
            "openapi: 3.0.3\ninfo: {{title: Things, version: '1'}}\npaths:\n  /things: {{get: {{parameters: [{options}], {}}}}}\n",
            inside(SILENT)
        );
        let found = import("things", text.as_bytes(), &ImportOptions::default()).unwrap();
        found.notes.iter().any(|note| note.reason.contains("`options` takes an object as JSON"))
    };
    assert!(noted("{type: object}"));
    assert!(noted("{type: object, additionalProperties: {type: string}}"));
    assert!(noted("{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}"));
    assert!(noted("{}"));
    assert!(!noted("{type: object, properties: {a: {type: string}}}"));
    assert!(!noted("{type: string}"));
}

#[test]
fn an_action_that_names_a_change_is_carried_out_on_its_record() {
    let body = "requestBody: {content: {application/json: {schema: {type: object, required: [type], properties: {type: {type: string, enum: [restart, rename]}, name: {type: string}}}}}}";
    let thing = "$ref: '#/components/schemas/Thing'";
    let named = |reply: &str| {
        reply.replacen(thing, "type: object, properties: {id: {type: string}, name: {type: string}}", 1)
    };
    let action = "type: object, properties: {id: {type: integer}, type: {type: string}}";
    let (actions, done) = (LIST.replacen(thing, action, 1), ONE.replacen(thing, action, 1));
    let found = imported(&format!(
        "  /hosts: {{get: {}}}\n  /hosts/{{host_id}}: {{get: {}}}\n  /hosts/{{host_id}}/actions: {{get: {actions}, post: {{{body}, {}}}}}\n  /hosts/{{host_id}}/actions/{{action_id}}: {{get: {done}}}\n",
        named(LIST),
        named(ONE),
        inside(&done.replacen("200", "201", 1)),
    ));
    let also = behaviour(&found, "POST /hosts/{host_id}/actions").also;
    let [effect] = also.as_slice() else { panic!("{also:?}") };
    assert_eq!(effect.update.as_deref(), Some("host"));
    assert_eq!(effect.when.as_deref(), Some("args.type == 'rename' && given(args.name)"));
    assert_eq!(effect.set["name"], "args.name");
}

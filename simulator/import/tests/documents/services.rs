//! Calls of clients of public services, on small documents in the style of those services.

use serde_json::{Value as Json, json};

use super::session::Session;

const BODY: &str =
    "requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/";

fn ok(schema: &str) -> String {
    format!("responses: {{'200': {{description: ok, content: {{application/json: {{schema: {schema}}}}}}}}}")
}

fn one(name: &str) -> String {
    ok(&format!("{{$ref: '#/components/schemas/{name}'}}"))
}

fn list(name: &str) -> String {
    ok(&format!("{{type: array, items: {{$ref: '#/components/schemas/{name}'}}}}"))
}

fn key(name: &str) -> String {
    format!("{{name: {name}, in: path, required: true, schema: {{type: string}}}}")
}

#[test]
fn what_nothing_describes_shows_its_id_and_names_what_is_there() {
    let silent = "responses: {'200': {description: Success}}";
    let paths = format!(
        "  /boards: {{post: {{operationId: addBoard, {BODY}Board'}}}}}}}}, {silent}}}}}
  /boards/{{idBoard}}: {{get: {{operationId: getBoard, parameters: [{board}], {silent}}}}}
  /boards/{{idBoard}}/lists: {{get: {{operationId: getBoardLists, parameters: [{board}], {silent}}}}}
  /lists: {{post: {{operationId: addList, {BODY}List'}}}}}}}}, {silent}}}}}
  /lists/{{idList}}: {{get: {{operationId: getList, parameters: [{list}], {silent}}}}}",
        board = key("idBoard"),
        list = key("idList"),
    );
    let schemas = "Board: {properties: {name: {type: string}, closed: {type: string, description: true or false}}}, \
                   List: {properties: {name: {type: string}, idBoard: {type: string}}}";
    let mut desk = Session::new(&paths, schemas);
    let (_, board) = desk.call("AddBoard", json!({"name": "House"}));
    assert_eq!(board["id"], board["idBoard"]);
    assert_ne!(board["id"], "House");
    let id = board["id"].clone();
    let (_, list) = desk.call("AddList", json!({"name": "Todo", "idBoard": id}));
    let (_, lists) = desk.call("GetBoardLists", json!({"idBoard": id}));
    assert_eq!(lists, json!([list]));
    assert_eq!(desk.call("AddList", json!({"name": "Lost", "idBoard": "nope"})).0, 400);
    let seeded = desk.base.world().resources.iter().find(|resource| &*resource.name == "board").unwrap();
    let closed = seeded.fields.iter().position(|field| &*field.name == "closed").unwrap();
    let id = desk.base.world().resources.iter().position(|resource| &*resource.name == "board").unwrap();
    let records = desk.state.iter(&desk.base, diorama_seeds::model::ResourceId(id as u16));
    let texts: Vec<String> =
        records.filter_map(|record| record[closed].as_str().map(str::to_owned)).collect();
    assert!(!texts.is_empty());
    assert!(texts.iter().all(|text| ["true", "false"].contains(&text.as_str())), "{texts:?}");
}

#[test]
fn lists_are_filtered_by_texts_inside_and_by_states_and_tell_the_next_page() {
    let paths = format!(
        "  /droplets: {{get: {{operationId: listDroplets, parameters: [{{name: tag_name, in: query, schema: {{type: string}}}}, \
             {{name: state, in: query, schema: {{type: string, enum: [open, closed, all], default: open}}}}, \
             {{name: page, in: query, schema: {{type: integer}}}}, {{name: per_page, in: query, schema: {{type: integer}}}}], {}}}, \
           post: {{operationId: addDroplet, {BODY}Droplet'}}}}}}}}, {}}}}}
  /droplets/{{id}}: {{get: {{operationId: getDroplet, parameters: [{}], {}}}}}",
        ok("{type: object, properties: {droplets: {type: array, items: {$ref: '#/components/schemas/Droplet'}}, \
            links: {type: object, properties: {pages: {type: object, properties: {next: {type: string, format: uri, example: 'https://other.example/?page=2'}}}}}, \
            meta: {type: object, required: [total], properties: {total: {type: integer, example: 1}}}}}"),
        one("Droplet"),
        key("id"),
        one("Droplet"),
    );
    let schemas = "Droplet: {type: object, properties: {id: {type: string, readOnly: true}, name: {type: string}, \
                   state: {type: string}, tags: {type: array, items: {type: string}}}}";
    let mut desk = Session::new(&paths, schemas);
    for (name, state) in [("one", "open"), ("two", "closed"), ("three", "open")] {
        desk.call("AddDroplet", json!({"name": name, "state": state, "tags": ["mine"]}));
    }
    let names = |body: &Json| -> Vec<String> {
        let all = body["droplets"].as_array().unwrap().iter();
        let mut names: Vec<String> = all.map(|item| item["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let (_, open) = desk.call("ListDroplets", json!({"tag_name": "mine"}));
    assert_eq!(names(&open), ["one", "three"]);
    let (_, all) = desk.call("ListDroplets", json!({"tag_name": "mine", "state": "all"}));
    assert_eq!(names(&all), ["one", "three", "two"]);
    let reply = desk.reply("ListDroplets", json!({"tag_name": "mine", "per_page": 1}));
    assert_eq!(reply.next.as_deref(), Some("/droplets?per_page=1&tag_name=mine&page=2"));
    let body = reply.json_tree(&desk.base.world().zone);
    assert_eq!(body["meta"]["total"], 2);
    assert_eq!(
        body["links"]["pages"]["next"],
        "https://example.com/droplets?per_page=1&tag_name=mine&page=2"
    );
    assert_eq!(
        reply.next_at("http://here/droplets").unwrap(),
        "http://here/droplets?per_page=1&tag_name=mine&page=2"
    );
}

#[test]
fn changes_merge_forms_follow_json_patches_and_people_are_me() {
    let form = "requestBody: {content: {application/x-www-form-urlencoded: {schema: {$ref: '#/components/schemas/User'}}}}";
    let patch = "requestBody: {required: true, content: {application/json-patch+json: {schema: {type: array, items: {type: object}}}}}";
    let paths = format!(
        "  /users: {{get: {{operationId: listUsers, {}}}, post: {{operationId: addUser, {form}, {}}}}}
  /users/{{id}}: {{parameters: [{}], get: {{operationId: getUser, {}}}, post: {{operationId: changeUser, {form}, {}}}, patch: {{operationId: patchUser, {patch}, {}}}}}",
        list("User"),
        one("User"),
        key("id"),
        one("User"),
        one("User"),
        one("User"),
    );
    let schemas = "User: {type: object, properties: {id: {type: string, readOnly: true}, name: {type: string}, \
                   tags: {type: array, items: {type: string}}, metadata: {type: object, additionalProperties: {type: string}}}}";
    let mut desk = Session::new(&paths, schemas);
    let (_, user) = desk
        .call("AddUser", json!({"name": "Ada", "tags": ["a"], "metadata": {"order": "1", "tier": "gold"}}));
    let id = user["id"].clone();
    desk.call("ChangeUser", json!({"id": id, "metadata": {"order": "2"}}));
    let (_, user) = desk.call("GetUser", json!({"id": id}));
    assert_eq!(user["metadata"], json!({"order": "2", "tier": "gold"}));
    let steps = json!([{"op": "test", "path": "/name", "value": "Ada"}, {"op": "add", "path": "/tags/-", "value": "b"},
        {"op": "replace", "path": "/name", "value": "Ada L"}]);
    assert_eq!(desk.call("PatchUser", json!({"id": id, "body": steps})).0, 200);
    let (_, user) = desk.call("GetUser", json!({"id": id}));
    assert_eq!((&user["name"], &user["tags"]), (&json!("Ada L"), &json!(["a", "b"])));
    let wrong = json!([{"op": "test", "path": "/name", "value": "Ada"}]);
    assert_eq!(desk.call("PatchUser", json!({"id": id, "body": wrong})).0, 409);
    let wrong = json!([{"op": "remove", "path": "/nothing/here"}]);
    assert_eq!(desk.call("PatchUser", json!({"id": id, "body": wrong})).0, 400);
    let (status, me) = desk.call("GetUser", json!({"id": "me"}));
    assert_eq!(status, 200, "{me}");
    assert_eq!(me["id"], desk.call("ListUsers", json!({})).1[0]["id"]);
    assert_eq!(desk.call("GetUser", json!({"id": me["id"]})).1, me);
}

#[test]
fn a_place_of_a_path_has_one_key_and_a_query_is_a_list() {
    let paths = format!(
        "  /game/{{apiKey}}/screens: {{get: {{operationId: listScreens, parameters: [{}], {}}}}}
  /game/{{gameApiKey}}/regions: {{get: {{operationId: listRegions, parameters: [{}], {}}}}}
  /games/deleted: {{get: {{operationId: listDeleted, {}}}}}
  /parcels: {{get: {{operationId: listParcels, {}}}, query: {{operationId: queryParcels, {BODY}Wanted'}}}}}}}}, {}}}}}
  /parcels/{{parcelId}}: {{get: {{operationId: getParcel, parameters: [{}], {}}}}}",
        key("apiKey"),
        list("Screen"),
        key("gameApiKey"),
        list("Region"),
        list("Game"),
        list("Parcel"),
        list("Parcel"),
        key("parcelId"),
        one("Parcel"),
    );
    let schemas = "Screen: {type: object, required: [code], properties: {code: {type: string}}}, \
                   Region: {type: object, required: [region], properties: {region: {type: string}}}, \
                   Game: {type: object, properties: {apiKey: {type: string}, name: {type: string}}}, \
                   Parcel: {type: object, required: [id, state], properties: {id: {type: string}, state: {type: string, enum: [sent, held, lost]}}}, \
                   Wanted: {type: object, additionalProperties: false, properties: {state: {type: string, enum: [sent, held, lost]}}}";
    let mut desk = Session::new(&paths, schemas);
    let value = |name: &str| desk.given[name]["value"].clone();
    let (one, other) = (value("apiKey"), value("gameApiKey"));
    assert!(one.is_string() && one == other, "{}", desk.given);
    assert!(!desk.call("ListScreens", json!({"apiKey": one})).1.as_array().unwrap().is_empty());
    assert!(!desk.call("ListRegions", json!({"gameApiKey": one})).1.as_array().unwrap().is_empty());
    let gone = desk.call("ListDeleted", json!({})).1[0]["apiKey"].clone();
    assert_eq!(desk.call("ListScreens", json!({"apiKey": gone})).0, 404);
    let (_, lost) = desk.call("QueryParcels", json!({"state": "lost"}));
    let lost = lost.as_array().unwrap();
    assert!(!lost.is_empty() && lost.iter().all(|parcel| parcel["state"] == "lost"), "{lost:?}");
    assert_eq!(desk.call("QueryParcels", json!({"state": "eaten"})).0, 400);
}

#[test]
fn resources_have_full_names() {
    let name = |form: &str| {
        format!(
            "{{name: name, in: path, required: true, description: 'The name, `{form}`.', schema: {{type: string}}}}"
        )
    };
    let parent = "{name: parent, in: path, required: true, description: 'The location, `projects/{project}/locations/{location}`.', schema: {type: string}}";
    let instance = "projects/{project}/locations/{location}/instances/{instance}";
    let paths = format!(
        "  /v1/{{name}}: {{get: {{operationId: projects.locations.instances.get, parameters: [{item}], {}}}, delete: {{operationId: projects.locations.instances.delete, parameters: [{item}], {}}}}}
  /v1/{{name}}/locations: {{get: {{operationId: projects.locations.list, parameters: [{root}], {}}}}}
  /v1/{{parent}}/instances: {{parameters: [{parent}], get: {{operationId: projects.locations.instances.list, {}}}, post: {{operationId: projects.locations.instances.create, \
             parameters: [{{name: instanceId, in: query, required: true, schema: {{type: string}}}}], {BODY}Instance'}}}}}}}}, {}}}}}",
        one("Instance"),
        ok("{type: object}"),
        ok("{type: object, properties: {locations: {type: array, items: {$ref: '#/components/schemas/Location'}}}}"),
        ok("{type: object, properties: {instances: {type: array, items: {$ref: '#/components/schemas/Instance'}}}}"),
        one("Instance"),
        item = name(instance),
        root = name("projects/{project}"),
    );
    let schemas = "Location: {type: object, properties: {name: {type: string}, locationId: {type: string}}}, \
                   Instance: {type: object, properties: {name: {type: string}, displayName: {type: string}}}";
    let mut desk = Session::new(&paths, schemas);
    let root = desk.given["name"]["value"].as_str().unwrap().to_owned();
    let project = root.strip_prefix("projects/").unwrap().to_owned();
    let (_, all) = desk.call("ProjectsLocationsList", json!({"projectsId": project}));
    let first = &all["locations"][0];
    let location = first["locationId"].as_str().unwrap().to_owned();
    let whole = format!("{root}/locations/{location}");
    assert_eq!(first["name"], whole.as_str());
    let at = json!({"projectsId": project, "locationsId": location});
    let (_, all) = desk.call("ProjectsLocationsInstancesList", at.clone());
    let all = all["instances"].as_array().unwrap();
    assert!(!all.is_empty());
    assert!(
        all.iter().all(|item| item["name"].as_str().unwrap().starts_with(&format!("{whole}/instances/"))),
        "{all:?}"
    );
    let mut made = at.clone();
    made["instanceId"] = json!("tiny");
    made["displayName"] = json!("Tiny");
    let (_, made) = desk.call("ProjectsLocationsInstancesCreate", made);
    assert_eq!(made["name"], format!("{whole}/instances/tiny").as_str());
    let mut item = at;
    item["instancesId"] = json!("tiny");
    assert_eq!(desk.call("ProjectsLocationsInstancesGet", item.clone()).1["displayName"], "Tiny");
    desk.call("ProjectsLocationsInstancesDelete", item.clone());
    assert_eq!(desk.call("ProjectsLocationsInstancesGet", item).0, 404);
}

//! Owns the tests of the first calls of a developer: list, create, read back, update, delete, page, filter.

use serde_json::{Value as Json, json};

use super::session::{Session, answers, array, document, named, object, parameter, sends};

#[test]
fn what_a_key_of_two_names_opens_by_the_members_that_its_lists_show() {
    let text = json!({"type": "string"});
    let keys =
        |names: &[&str]| names.iter().map(|name| parameter(name, "path", text.clone())).collect::<Json>();
    let get = |id: &str, schema: Json| json!({"operationId": id, "responses": answers("200", schema)});
    let make = |id: &str| json!({"operationId": id, "requestBody": sends(object(json!({"name": text}))), "responses": answers("201", named("Repo"))});
    let paths = json!({
        "/users": {"get": get("listUsers", array(named("User")))},
        "/users/{username}": {"parameters": keys(&["username"]), "get": get("getUser", named("User"))},
        "/users/{username}/repos": {"parameters": keys(&["username"]), "get": get("listRepos", array(named("Repo")))},
        "/user/repos": {"get": get("listMine", array(named("Repo"))), "post": make("addRepo")},
        // The first of these paths has another name for the owner.
        "/repos/{org}/{repo}/rules": {"parameters": keys(&["org", "repo"]), "get": get("getRules", object(json!({"count": {"type": "integer"}})))},
        "/repos/{owner}/{repo}": {"parameters": keys(&["owner", "repo"]), "get": get("getRepo", named("FullRepo")),
            "patch": {"operationId": "changeRepo", "requestBody": sends(object(json!({"description": text}))), "responses": answers("200", named("FullRepo"))},
            "delete": {"operationId": "deleteRepo", "responses": {"204": {"description": "gone"}}}},
        "/teams/{team_id}/repos/{owner}/{repo}": {"parameters": keys(&["team_id", "owner", "repo"]), "get": get("getTeamRepo", named("FullRepo"))},
    });
    let members = json!({"id": {"type": "integer"}, "name": text, "full_name": text, "owner": named("User"), "description": text,
        "allow_update_branch": {"type": "boolean"}, "default_branch": text, "stars": {"type": "integer"}});
    let repo = json!({"type": "object", "required": ["id", "name", "full_name", "owner", "allow_update_branch"], "properties": members});
    let mut full = repo.clone();
    full["properties"]["watchers"] = json!({"type": "integer"});
    let user = json!({"type": "object", "required": ["id", "login"], "properties": {"id": {"type": "integer"}, "login": text, "bio": text}});
    let mut desk = Session::of(&document(paths, json!({"User": user, "Repo": repo, "FullRepo": full})));
    let address = |repo: &Json| json!({"owner": repo["owner"]["login"], "repo": repo["name"]});
    let check = |desk: &mut Session, repo: &Json| {
        let both = format!("{}/{}", repo["owner"]["login"].as_str().unwrap(), repo["name"].as_str().unwrap());
        assert_eq!(repo["full_name"], both.as_str());
        let (status, opened) = desk.call("GetRepo", address(repo));
        assert_eq!((status, &opened["id"], &opened["owner"]), (200, &repo["id"], &repo["owner"]), "{opened}");
    };
    let all = desk.call("ListMine", json!({})).1;
    for repo in all.as_array().unwrap() {
        check(&mut desk, repo);
        let theirs = desk.call("ListRepos", json!({"username": repo["owner"]["login"]})).1;
        assert!(theirs.as_array().unwrap().iter().any(|other| other["id"] == repo["id"]), "{theirs}");
    }
    let (status, made) = desk.call("AddRepo", json!({"name": "engine-notes"}));
    assert_eq!((status, &made["name"]), (201, &json!("engine-notes")));
    check(&mut desk, &made);
    let mut change = address(&made);
    change["description"] = json!("On engines");
    assert_eq!(desk.call("ChangeRepo", change).0, 200);
    assert_eq!(desk.call("GetRepo", address(&made)).1["description"], "On engines");
    let mut other = address(&made);
    other["owner"] = json!("nobody");
    assert_eq!(desk.call("GetRepo", other).0, 404);
    assert_eq!(desk.call("DeleteRepo", address(&made)).0, 204);
    assert_eq!(desk.call("GetRepo", address(&made)).0, 404);
    assert_eq!(desk.call("ListMine", json!({})).1, all);
}

#[test]
fn methods_of_dotted_names_act_on_the_record_that_a_parameter_names_and_on_what_stands_below_it() {
    let (text, ok) = (json!({"type": "string"}), json!({"type": "boolean"}));
    let query =
        |names: &[&str]| names.iter().map(|name| parameter(name, "query", text.clone())).collect::<Json>();
    let reads = |id: &str, names: &[&str], reply: Json| json!({"get": {"operationId": id, "parameters": query(names), "responses": answers("200", object(reply))}});
    let posts = |id: &str, body: Json, reply: Json| json!({"post": {"operationId": id, "requestBody": sends(object(body)), "responses": answers("200", object(reply))}});
    let mut listing = reads(
        "list",
        &["cursor"],
        json!({"ok": ok, "channels": array(named("Channel")), "response_metadata": object(json!({"next_cursor": text}))}),
    );
    let more = [
        parameter("limit", "query", json!({"type": "integer"})),
        parameter("exclude_archived", "query", json!({"type": "boolean"})),
    ];
    listing["get"]["parameters"].as_array_mut().unwrap().extend(more);
    let number = json!({"type": "number"});
    let paths = json!({
        "/channels.list": listing,
        "/channels.info": reads("info", &["room"], json!({"ok": ok, "room": named("Channel")})),
        "/channels.create": posts("create", json!({"name": text}), json!({"ok": ok, "room": named("Channel")})),
        "/channels.rename": posts("rename", json!({"room": text, "name": text}), json!({"ok": ok, "room": named("Channel")})),
        "/channels.archive": posts("archive", json!({"room": text}), json!({"ok": ok})),
        "/channels.history": reads("history", &["room"], json!({"ok": ok, "messages": array(named("Message"))})),
        "/chat.postMessage": posts("post", json!({"room": text, "text": text}), json!({"ok": ok, "room": text, "ts": text, "message": named("Message")})),
        "/chat.update": posts("update", json!({"room": text, "ts": text, "text": text}), json!({"ok": ok, "ts": text, "text": text})),
        "/chat.delete": posts("delete", json!({"room": text, "ts": number}), json!({"ok": ok, "room": text, "ts": text})),
    });
    let channel = json!({"type": "object", "required": ["id", "name", "is_archived"], "properties": {"id": text, "name": text, "is_archived": {"type": "boolean"}}});
    let message = json!({"type": "object", "required": ["ts", "text"], "properties": {"ts": {"type": "string", "pattern": "^\\d{10}\\.\\d{6}$"}, "text": text}});
    let mut desk = Session::of(&document(paths, json!({"Channel": channel, "Message": message})));
    let listed = desk.call("List", json!({})).1["channels"].clone();
    for channel in listed.as_array().unwrap() {
        assert_eq!(desk.call("Info", json!({"room": channel["id"]})).1["room"], *channel);
    }
    let made = desk.call("Create", json!({"name": "engines"})).1["room"].clone();
    let room = made["id"].clone();
    assert_eq!((&made["name"], &made["is_archived"]), (&json!("engines"), &json!(false)));
    assert_eq!(desk.call("Rename", json!({"room": room, "name": "motors"})).1["room"]["name"], "motors");
    assert_eq!(desk.call("Info", json!({"room": room})).1["room"]["name"], "motors");
    let (status, posted) = desk.call("Post", json!({"room": room, "text": "hello"}));
    assert_eq!((status, &posted["room"], &posted["message"]["text"]), (200, &room, &json!("hello")));
    let ts = posted["ts"].clone();
    let texts = |desk: &mut Session| -> Vec<Json> {
        let history = desk.call("History", json!({"room": room})).1;
        history["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["ts"] == ts)
            .map(|one| one["text"].clone())
            .collect()
    };
    assert_eq!(texts(&mut desk), ["hello"]);
    assert_eq!(desk.call("Update", json!({"room": room, "ts": ts, "text": "hello all"})).0, 200);
    assert_eq!(texts(&mut desk), ["hello all"]);
    assert_eq!(desk.call("Delete", json!({"room": room, "ts": ts})).0, 200);
    assert!(texts(&mut desk).is_empty());
    assert_eq!(desk.call("Archive", json!({"room": room})).1["ok"], true);
    assert_eq!(desk.call("Info", json!({"room": room})).1["room"]["is_archived"], true);
    let shown = |desk: &mut Session, arguments: Json| {
        let all = desk.call("List", arguments).1["channels"].clone();
        all.as_array().unwrap().iter().any(|channel| channel["id"] == room)
    };
    assert!(shown(&mut desk, json!({})));
    assert!(!shown(&mut desk, json!({"exclude_archived": true})));
    assert_eq!(desk.call("Info", json!({"room": "nope"})).0, 404);
}

#[test]
fn bodies_in_envelopes_are_the_record_and_keys_that_are_sent_are_shown_as_records() {
    let text = json!({"type": "string"});
    let key = |name: &str| json!([parameter(name, "path", text.clone())]);
    let wrapped = |schema: Json| object(json!({"data": schema}));
    let one = |name: &str| wrapped(named(name));
    let all = |name: &str| wrapped(array(named(name)));
    let get = |id: &str, schema: Json| json!({"operationId": id, "responses": answers("200", schema)});
    let tasks = json!([parameter("archived", "query", json!({"type": "boolean"})), parameter("limit", "query", json!({"type": "integer"})),
        {"name": "offset", "in": "query", "description": "The token of the next page.", "schema": text}]);
    let mut listing = get("listTasks", all("Task"));
    listing["parameters"] = tasks;
    let new = object(
        json!({"name": text, "notes": text, "archived": {"type": "boolean"}, "projects": array(text.clone())}),
    );
    let paths = json!({
        "/projects": {"get": get("listProjects", all("Project"))},
        "/projects/{project_gid}": {"parameters": key("project_gid"), "get": get("getProject", one("Project"))},
        "/projects/{project_gid}/tasks": {"parameters": key("project_gid"), "get": get("listTasksOf", all("Task"))},
        "/tasks": {"get": listing, "post": {"operationId": "addTask", "requestBody": sends(wrapped(new.clone())), "responses": answers("201", one("Task"))}},
        "/tasks/{task_gid}": {"parameters": key("task_gid"), "get": get("getTask", one("Task")),
            "put": {"operationId": "changeTask", "requestBody": sends(wrapped(new)), "responses": answers("200", one("Task"))}},
        "/people": {"get": get("listPeople", array(named("Person"))), "post": {"operationId": "addPerson", "responses": answers("201", named("Person")),
            "requestBody": sends(object(json!({"action": {"type": "string", "enum": ["create"]}, "details": object(json!({"email": text, "first_name": text}))})))}},
        "/people/{person_id}": {"parameters": key("person_id"), "get": get("getPerson", named("Person"))},
    });
    let project = object(json!({"gid": text, "name": text}));
    let task = object(
        json!({"gid": text, "name": text, "notes": text, "archived": {"type": "boolean"}, "projects": array(named("Project"))}),
    );
    let person = object(json!({"id": text, "email": text, "first_name": text, "type": {"type": "integer"}}));
    let mut desk = Session::of(&document(paths, json!({"Project": project, "Task": task, "Person": person})));
    let project = desk.call("ListProjects", json!({})).1["data"][0].clone();
    let new = json!({"name": "Paint", "notes": "the door", "archived": true, "projects": [project["gid"]]});
    let made = desk.call("AddTask", json!({"data": new})).1["data"].clone();
    assert_eq!((&made["name"], &made["projects"]), (&json!("Paint"), &json!([project])));
    let gid = made["gid"].clone();
    desk.call("ChangeTask", json!({"task_gid": gid, "data": {"name": "Paint twice"}}));
    let task = desk.call("GetTask", json!({"task_gid": gid})).1["data"].clone();
    assert_eq!(
        (&task["name"], &task["notes"], &task["projects"]),
        (&json!("Paint twice"), &json!("the door"), &json!([project]))
    );
    let gids = |desk: &mut Session, api: &str, arguments: Json| -> Vec<Json> {
        let all = desk.call(api, arguments).1;
        all["data"].as_array().unwrap().iter().map(|task| task["gid"].clone()).collect()
    };
    assert!(gids(&mut desk, "ListTasksOf", json!({"project_gid": project["gid"]})).contains(&gid));
    assert!(gids(&mut desk, "ListTasks", json!({"archived": true})).contains(&gid));
    assert!(!gids(&mut desk, "ListTasks", json!({"archived": false})).contains(&gid));
    // No member of the reply gives the next page. The `Link` header does, with a token.
    let first = desk.reply("ListTasks", json!({"limit": 2}));
    let token = first.next.as_deref().and_then(|next| next.rsplit_once("offset=")).unwrap().1.to_owned();
    let whole = gids(&mut desk, "ListTasks", json!({}));
    assert_eq!(gids(&mut desk, "ListTasks", json!({"limit": 2, "offset": token})), whole[2..4]);
    let listed = desk.base.world().apis.iter().find(|api| &*api.name == "ListTasks").unwrap();
    assert!(listed.contract.as_ref().unwrap().headers.iter().any(|(name, _)| name == "Link"));
    let person = desk
        .call(
            "AddPerson",
            json!({"action": "create", "details": {"email": "ada@example.org", "first_name": "Ada"}}),
        )
        .1;
    assert_eq!((&person["email"], &person["first_name"]), (&json!("ada@example.org"), &json!("Ada")));
    assert_eq!(desk.call("GetPerson", json!({"person_id": person["id"]})).1["email"], "ada@example.org");
}

#[test]
fn words_choose_what_is_listed_and_whoever_makes_something_has_it() {
    let text = json!({"type": "string"});
    let key = |name: &str| json!([parameter(name, "path", text.clone())]);
    let silent = json!({"200": {"description": "Success"}});
    let get = |id: &str| json!({"operationId": id, "responses": silent});
    let add = |id: &str, schema: &str| json!({"operationId": id, "requestBody": sends(named(schema)), "responses": silent});
    let mut lists = get("getLists");
    lists["parameters"] = json!([{"name": "filter", "in": "query", "description": "One of: all, closed, none or open", "schema": text}]);
    let paths = json!({
        "/members/{idMember}": {"parameters": key("idMember"), "get": get("getMember")},
        "/members/{idMember}/boards": {"parameters": key("idMember"), "get": get("getBoardsOf")},
        "/cards/{idCard}/membersVoted": {"parameters": key("idCard"), "get": get("getVoters"), "post": add("vote", "Vote")},
        "/boards": {"post": add("addBoard", "Board")},
        "/boards/{idBoard}": {"parameters": key("idBoard"), "get": get("getBoard")},
        "/boards/{idBoard}/lists": {"parameters": key("idBoard"), "get": lists},
        "/boards/{idBoard}/lists/{filter}": {"parameters": json!([parameter("idBoard", "path", text.clone()), parameter("filter", "path", text.clone())]), "get": get("getSomeLists")},
        "/lists": {"post": add("addList", "List")},
        "/lists/{idList}": {"parameters": key("idList"), "get": get("getList"), "put": add("changeList", "List")},
    });
    let list = object(
        json!({"name": text, "idBoard": text, "closed": {"type": "string", "description": "true or false"}}),
    );
    let mut desk = Session::of(&document(
        paths,
        json!({"Board": object(json!({"name": text})), "List": list, "Vote": object(json!({"value": text}))}),
    ));
    let board = desk.call("AddBoard", json!({"name": "House"})).1;
    let mine = desk.call("GetBoardsOf", json!({"idMember": "me"})).1;
    assert!(mine.as_array().unwrap().iter().any(|known| known["id"] == board["id"]), "{mine}");
    let ids: Vec<Json> = ["one", "two", "three"]
        .map(|name| desk.call("AddList", json!({"name": name, "idBoard": board["id"]})).1["id"].clone())
        .to_vec();
    desk.call("ChangeList", json!({"idList": ids[1], "closed": "true"}));
    let lists = |desk: &mut Session, filter: &str| -> Vec<Json> {
        let all = desk.call("GetLists", json!({"idBoard": board["id"], "filter": filter})).1;
        all.as_array().unwrap().iter().map(|list| list["id"].clone()).collect()
    };
    assert_eq!(lists(&mut desk, "closed"), [ids[1].clone()]);
    assert_eq!(lists(&mut desk, "open"), [ids[0].clone(), ids[2].clone()]);
    assert_eq!(lists(&mut desk, "all"), ids);
    assert_eq!(lists(&mut desk, "none"), Vec::<Json>::new());
    assert_eq!(
        desk.call("GetSomeLists", json!({"idBoard": board["id"], "filter": "all"}))
            .1
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

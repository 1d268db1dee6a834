use super::{shop, small};
use crate::{Base, never_succeeding};

fn names(base: &Base) -> Vec<&str> {
    never_succeeding(base).into_iter().map(|api| &*base.world().api(api).name).collect()
}

#[test]
fn every_api_of_the_shop_can_succeed() {
    assert_eq!(names(&shop()), [""; 0]);
}

#[test]
fn apis_that_no_initial_record_lets_succeed_are_found() {
    let base = small(
        r"
resources:
  door:
    key: door_id
    fields: {door_id: {type: integer}, state: {enum: [open, shut, locked]}, width: {type: integer}}
    records: [{door_id: 1, state: open, width: 80}, {door_id: 2, state: shut, width: 90}]
  key:
    key: key_id
    fields: {key_id: {type: integer}, door_id: {ref: door}}
    records: []
apis:
  - name: Unlock
    method: POST
    path: /doors/{door_id}/unlock
    description: Unlocks.
    parameters: {door_id: {ref: door}}
    behaviour:
      action: door
      require: [{that: record.state == 'locked', else: {status: 409, message: not locked}}]
      also: [{update: door, key: args.door_id, set: {state: '''shut'''}}]
  - name: Open
    method: POST
    path: /doors/{door_id}/open
    description: Opens.
    parameters: {door_id: {ref: door}, width: {type: integer}}
    behaviour:
      action: door
      require: [{that: record.state == 'shut', else: {status: 409, message: not shut}}, {that: record.width == args.width, else: {status: 422, message: wrong width}}]
      also: [{update: door, key: args.door_id, set: {state: '''open'''}}]
  - {name: GetKey, method: GET, path: '/keys/{key_id}', description: Gets., parameters: {key_id: {ref: key}}, behaviour: {get: key}}
  - {name: Broken, method: GET, path: /broken, description: Fails., behaviour: {compute: {x: '1 / 0'}}}
  - {name: Odd, method: GET, path: /odd, description: Takes what cannot be guessed., parameters: {code: {type: string, pattern: '[0-9]{12}-Q'}}, behaviour: {compute: {x: args.code}}}
",
    );
    assert_eq!(names(&base), ["Unlock", "GetKey", "Broken"]);
}

//! Requests to a served test, and a small world to make them to.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end this way")]

use diorama_agents::cli::Done;
use serde_json::Value as Json;

use crate::server::Server;

/// Starts `diorama serve` on a free port.
///
/// # Panics
/// When it does not start.
#[must_use]
pub fn serve(arguments: &[&str]) -> Server {
    Server::start(arguments).unwrap()
}

impl Server {
    /// The status, the content type and the body of a response, or why there is none. `line` is a method and a path or
    /// URL.
    ///
    /// # Errors
    /// When the connection ends without a response.
    pub fn try_send(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: &Json,
    ) -> Result<(u16, String, Json), reqwest::Error> {
        let (method, path) = line.split_once(' ').unwrap();
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.url) };
        let mut request = self.client.request(method.parse().unwrap(), url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let response = request.header("content-type", "application/json").body(body).send()?;
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let text = response.text().unwrap();
        let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
        Ok((status, kind.unwrap_or_default(), json))
    }

    /// A request that is answered.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn send(&self, line: &str, headers: &[(&str, &str)], body: &Json) -> (u16, String, Json) {
        self.try_send(line, headers, body).unwrap()
    }

    /// A POST that succeeds.
    ///
    /// # Panics
    /// When it does not.
    pub fn post(&self, path: &str, body: Json) -> Json {
        let (status, _, reply) = self.send(&format!("POST {path}"), &[], &body);
        assert!((200..300).contains(&status), "POST {path} {body}: {status} {reply}");
        reply
    }

    /// A GET that succeeds.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn get(&self, path: &str) -> Json {
        let (status, _, reply) = self.send(&format!("GET {path}"), &[], &Json::Null);
        assert_eq!(status, 200, "GET {path}: {reply}");
        reply
    }

    /// Ends the server and waits for it.
    ///
    /// # Panics
    /// When it does not end well.
    pub fn stop(mut self) {
        assert!(matches!(self.end(), Some(Ok(Done::Met))));
    }
}

/// A small world: users who sign in, and their notes.
pub const NOTES: &str = "
world: 1
name: notes
clock: 2026-03-02T09:00
domain: {name: notes, auth: {user: user, login: name, secret: pin}}
resources:
  user:
    key: user_id
    fields:
      user_id: {type: integer}
      name: {type: string, unique: true}
      pin: {type: string}
    records:
      - {user_id: 1, name: ann, pin: '1234'}
  note:
    key: note_id
    fields:
      note_id: {type: integer}
      title: {type: string}
      stars: {type: integer, min: 0, default: 0}
    records:
      - {note_id: 1, title: Milk}
apis:
  - {name: SignIn, method: POST, path: /sign-in, parameters: {name: {type: string}, pin: {type: string}}, behaviour: {sign_in: true}}
  - {name: ListNotes, method: GET, path: /notes, behaviour: {list: note}}
  - {name: AddNote, method: POST, path: /notes, parameters: {title: {type: string}, stars: {type: integer, min: 0, optional: true}}, behaviour: {create: note}}
  - {name: DeleteNote, method: DELETE, path: '/notes/{note_id}', auth: true, parameters: {note_id: {ref: note}}, behaviour: {delete: note}}
";

//! Owns the requests to a server in tests, and a small world to serve.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end this way")]

use diorama_agents::cli::CommandEnd;
use serde_json::Value as Json;

use crate::server::Server;

/// Starts `diorama serve` on a free port.
///
/// # Panics
/// Panics if the server does not start.
#[must_use]
pub fn serve(arguments: &[&str]) -> Server {
    Server::start(arguments).unwrap()
}

impl Server {
    /// Sends a request, and returns the status, the content type and the body of the response. `line` is a
    /// method and a path or URL.
    ///
    /// # Errors
    /// Returns an error if the connection ends without a response.
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

    /// Sends a request, and returns its response.
    ///
    /// # Panics
    /// Panics if no response arrives.
    #[must_use]
    pub fn send(&self, line: &str, headers: &[(&str, &str)], body: &Json) -> (u16, String, Json) {
        self.try_send(line, headers, body).unwrap()
    }

    /// Sends a POST, and returns its body.
    ///
    /// # Panics
    /// Panics if the request fails.
    pub fn post(&self, path: &str, body: Json) -> Json {
        let (status, _, reply) = self.send(&format!("POST {path}"), &[], &body);
        assert!((200..300).contains(&status), "POST {path} {body}: {status} {reply}");
        reply
    }

    /// Sends a GET, and returns its body.
    ///
    /// # Panics
    /// Panics if the request fails.
    #[must_use]
    pub fn get(&self, path: &str) -> Json {
        let (status, _, reply) = self.send(&format!("GET {path}"), &[], &Json::Null);
        assert_eq!(status, 200, "GET {path}: {reply}");
        reply
    }

    /// Stops the server and waits for its end.
    ///
    /// # Panics
    /// Panics if the server ends with an error.
    pub fn stop(mut self) {
        assert!(matches!(self.end(), Some(Ok(CommandEnd::Met))));
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

//! WebSockets: each has one episode, which ends when the socket closes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use diorama_sessions::quoted;
use serde_json::{Map, Value as Json, json};
use tokio::time::timeout;

use super::env::OpenEnv;
use super::playing::{Playing, step_without_episode};
use super::rpc::{Origin, RpcError};
use super::wire::{Action, ErrorCode, SocketError, State};
use crate::gym::RequestRefusal;

/// A socket of `/ws`.
struct Socket {
    env: Arc<OpenEnv>,
    /// The name of the session that the socket has joined.
    joined: Option<String>,
    playing: Option<Playing>,
}

/// The answer to a message.
enum Answer {
    Frame(Json),
    Close,
}

/// Serves `/ws` until the client leaves.
pub(super) async fn serve(env: Arc<OpenEnv>, mut socket: WebSocket, session: Option<String>) {
    let Ok(_place) = env.sockets.try_acquire() else {
        let full = SocketError::full(env.gym.episodes.capacity());
        return end(socket, Some(full.frame())).await;
    };
    let mut state = match Socket::join(Arc::clone(&env), session).await {
        Ok(state) => state,
        Err(error) => return end(socket, Some(error.frame())).await,
    };
    while let Some(text) = receive(&mut socket, env.gym.lease_seconds).await {
        let answer = state.answer(&text).await.unwrap_or_else(|error| Answer::Frame(error.frame()));
        match answer {
            Answer::Frame(frame) if send(&mut socket, &frame).await => {}
            _ => break,
        }
    }
    let left = state.leave().await;
    end(socket, left.err().map(|error| error.frame())).await;
}

/// Serves the `/mcp` socket: JSON-RPC with a session of its own.
pub(super) async fn serve_mcp(env: Arc<OpenEnv>, mut socket: WebSocket) {
    let Ok(_place) = env.sockets.try_acquire() else {
        let full = RpcError::full(env.gym.episodes.capacity());
        return end(socket, Some(full.reply(&Json::Null))).await;
    };
    let playing = match Playing::reset(&env.gym, &Map::new(), None).await {
        Ok((playing, _)) => playing,
        Err(error) => return end(socket, Some(RpcError::from(error).reply(&Json::Null))).await,
    };
    while let Some(text) = receive(&mut socket, env.gym.lease_seconds).await {
        let origin = Origin::Socket { session: Some(&playing.id), playing: Some(&playing) };
        let reply = env.answer_rpc(text.as_bytes(), origin).await;
        if !send(&mut socket, &reply).await {
            break;
        }
    }
    let closed = env.gym.episodes.close(&playing.id).await;
    end(socket, closed.err().map(|problem| RpcError::from(problem).reply(&Json::Null))).await;
}

/// Returns the next message. Returns none after the client has left, or after a silence of `lease_seconds`. A
/// ping ends a silence.
async fn receive(socket: &mut WebSocket, lease_seconds: u64) -> Option<String> {
    loop {
        let received = match lease_seconds {
            0 => socket.recv().await,
            seconds => timeout(Duration::from_secs(seconds), socket.recv()).await.ok().flatten(),
        };
        match received?.ok()? {
            Message::Text(text) => return Some(text.to_string()),
            Message::Binary(bytes) => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            Message::Close(_) => return None,
            Message::Ping(_) | Message::Pong(_) => {}
        }
    }
}

/// Sends a frame. Returns false if the client has left.
async fn send(socket: &mut WebSocket, frame: &Json) -> bool {
    socket.send(Message::Text(frame.to_string().into())).await.is_ok()
}

/// Closes a socket, after a last frame if there is one.
async fn end(mut socket: WebSocket, last: Option<Json>) {
    if let Some(frame) = last {
        send(&mut socket, &frame).await;
    }
    let _ = socket.send(Message::Close(None)).await;
}

impl Socket {
    /// Makes a socket without an episode, or joins the named session.
    async fn join(env: Arc<OpenEnv>, session: Option<String>) -> Result<Self, SocketError> {
        let Some(name) = session else { return Ok(Self { env, joined: None, playing: None }) };
        let refused = |message: String| SocketError::new(ErrorCode::SessionError, message);
        let shown: String = name.chars().take(60).collect();
        let id = env.gym.named(&name).ok_or_else(|| refused(format!("Unknown session_id: {shown}")))?;
        if !env.attachments.attach(&name) {
            return Err(refused(format!("Session {shown} already has an attached WebSocket")));
        }
        let playing = Playing::join(&env.gym, id, None).await;
        let mut socket = Self { env, joined: Some(name), playing: None };
        match playing {
            Ok(playing) => socket.playing = Some(playing),
            Err(problem) => {
                socket.detach();
                return Err(refused(problem.detail().to_owned()));
            }
        }
        Ok(socket)
    }

    async fn answer(&mut self, text: &str) -> Result<Answer, SocketError> {
        let message: Json = serde_json::from_str(text)
            .map_err(|error| SocketError::new(ErrorCode::InvalidJson, format!("Invalid JSON: {error}")))?;
        let invalid = |message: String| SocketError::new(ErrorCode::ValidationError, message);
        let Json::Object(mut message) = message else {
            return Err(invalid("expected an object with `type` and `data`, found another value".to_owned()));
        };
        let kind =
            message.remove("type").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
        let data = match message.remove("data") {
            None => None,
            Some(Json::Object(data)) => Some(data),
            Some(_) => return Err(invalid("`data`: expected an object, found another value".to_owned())),
        };
        if let Some(name) = message.keys().next() {
            return Err(invalid(format!(
                "found the member {}, expected `type` and `data`",
                quoted(name, 60)
            )));
        }
        let needed =
            |data: Option<Map<String, Json>>| data.ok_or_else(|| invalid(format!("`{kind}` needs `data`")));
        match kind.as_str() {
            "reset" => self.reset(&data.unwrap_or_default()).await,
            "step" => {
                let action = Action::read(needed(data)?).map_err(invalid)?;
                self.step(action).await
            }
            "state" => {
                let state = self.playing.as_ref().map_or_else(State::default, Playing::state);
                Ok(Answer::Frame(json!({"type": "state", "data": state})))
            }
            "mcp" => {
                let request = Json::Object(needed(data)?);
                let session = self.joined.as_deref().or(self.playing.as_ref().map(|playing| &*playing.id));
                let origin = Origin::Socket { session, playing: self.playing.as_ref() };
                let reply = self.env.answer_rpc_value(request, origin).await;
                Ok(Answer::Frame(json!({"type": "mcp", "data": reply})))
            }
            "close" => Ok(Answer::Close),
            other => {
                let shown: String = other.chars().take(60).collect();
                let message =
                    format!("Unknown message type: {shown}; expected reset, step, state, mcp or close");
                Err(SocketError::new(ErrorCode::UnknownType, message))
            }
        }
    }

    /// Starts another episode. The previous one ends first, so that a socket never uses two places and its
    /// name never refers to the previous episode.
    async fn reset(&mut self, data: &Map<String, Json>) -> Result<Answer, SocketError> {
        if let Some(before) = &self.playing {
            self.env.gym.episodes.close(&before.id).await.map_err(RequestRefusal::from)?;
            self.playing = None;
        }
        let (playing, outcome) = Playing::reset(&self.env.gym, data, self.joined.as_deref()).await?;
        self.playing = Some(playing);
        Ok(Answer::Frame(json!({"type": "observation", "data": outcome})))
    }

    async fn step(&mut self, action: Action) -> Result<Answer, SocketError> {
        let stepped = match &mut self.playing {
            Some(playing) => playing.step(&self.env.gym, action).await,
            None => step_without_episode(&action),
        };
        let outcome =
            stepped.map_err(|problem| SocketError::new(ErrorCode::ExecutionError, problem.detail()))?;
        Ok(Answer::Frame(json!({"type": "observation", "data": outcome})))
    }

    /// Ends the episode. The episode of a joined session stays, unless it was closed meanwhile. If closing
    /// fails, the lease ends it.
    async fn leave(mut self) -> Result<(), SocketError> {
        let joined = self.joined.is_some();
        let ends = self.detach() || !joined;
        if let Some(playing) = self.playing.take().filter(|_| ends) {
            self.env.gym.episodes.close(&playing.id).await.map_err(RequestRefusal::from)?;
        }
        Ok(())
    }

    /// Leaves the joined session. Returns true if the session must end now.
    fn detach(&mut self) -> bool {
        self.joined.take().is_some_and(|name| self.env.attachments.detach(&name))
    }
}

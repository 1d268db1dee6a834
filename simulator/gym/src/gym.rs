//! Owns the part that all protocols share: the tasks of a server, and its episodes by the callers' names for
//! them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRef, FromRequest};
use axum::http::Request;
use diorama_seeds::agent_tools::CALL_API;
use diorama_sessions::{CallReply, Capacity, Episodes, GradeReply, Kind, NewEpisode, Problem, SessionKey};
use diorama_simulator::http::App;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::body::{Bodies, MAX_EPISODE_BYTES};
use crate::protocol::Protocol;
use crate::setup::Start;
use crate::tasks::Tasks;
use crate::tools::Tool;

/// A server's tasks and episodes, as one protocol uses them.
pub(crate) struct Gym {
    protocol: Protocol,
    pub(crate) app: Arc<App>,
    pub(crate) episodes: Episodes,
    pub(crate) tasks: Tasks,
    bodies: Bodies,
    /// Seconds without a request until an episode is closed. 0 means never.
    pub(crate) lease_seconds: u64,
}

/// The reason for which a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestRefusal {
    /// The server has reached its maximum number of sessions.
    #[error("{}", .problem.detail())]
    Full { capacity: Capacity, problem: Problem },
    /// Any other problem.
    #[error("{}", .0.detail())]
    Because(Problem),
}

impl From<Problem> for RequestRefusal {
    fn from(problem: Problem) -> Self {
        Self::Because(problem)
    }
}

/// The arguments of the tool `call_api`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallApi {
    name: String,
    arguments: Map<String, Json>,
}

impl Gym {
    pub(crate) fn new(protocol: Protocol, app: Arc<App>, lease_seconds: u64) -> Self {
        let episodes = Episodes::new(app.sessions());
        let tasks = Tasks::new(episodes.tasks());
        Self { protocol, tasks, app, episodes, bodies: Bodies::default(), lease_seconds }
    }

    /// Reads the body of a request as JSON. An empty body is an empty object.
    ///
    /// # Errors
    /// 413 or 408 if the body is too large or late. 400 or 422 if it is malformed or of another type.
    pub(crate) async fn read<T: DeserializeOwned>(&self, request: Request<Body>) -> Result<T, Problem> {
        self.bodies.read(request.into_body(), self.app.max_body_bytes()).await
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    /// 413 or 408 if the body is too large or late.
    pub(crate) async fn read_bytes(&self, body: Body) -> Result<Vec<u8>, Problem> {
        self.bodies.read_bytes(body, self.app.max_body_bytes()).await
    }

    /// Reads a body that contains an episode or the metrics of many.
    ///
    /// # Errors
    /// As [`Gym::read`].
    pub(crate) async fn read_episode<T: DeserializeOwned>(
        &self,
        request: Request<Body>,
    ) -> Result<T, Problem> {
        self.bodies.read(request.into_body(), MAX_EPISODE_BYTES).await
    }

    /// Returns the id of the episode with the caller's name.
    pub(crate) fn named(&self, name: &str) -> Option<String> {
        self.episodes.named(&self.key(name))
    }

    /// Starts or forks an episode. With a caller's name, the same request returns the same episode.
    pub(crate) async fn begin(
        &self,
        start: Start,
        name: Option<&str>,
        request: &[u8],
    ) -> Result<String, RequestRefusal> {
        let key = name.map(|name| self.key(name));
        let began = match start {
            Start::Task { task, seed, faults } => {
                let (request, lease_seconds) = (request.to_vec(), self.lease_seconds);
                self.episodes.open(NewEpisode { task, seed, faults, key, request, lease_seconds }).await
            }
            Start::Fork { of, at } => {
                let origin = self.named(&of).unwrap_or(of);
                self.episodes.fork(&origin, at, key, request).await
            }
        };
        began.map_err(|problem| match problem.kind() {
            Kind::TooMany => RequestRefusal::Full { capacity: self.episodes.capacity(), problem },
            _ => RequestRefusal::Because(problem),
        })
    }

    /// Makes a call by name. A call of `call_api` becomes the call that it names.
    pub(crate) async fn call(
        &self,
        id: &str,
        name: &str,
        arguments: Map<String, Json>,
    ) -> Result<CallReply, Problem> {
        if name != CALL_API || self.episodes.has_tool(id, CALL_API)? {
            return self.episodes.call(id, name, arguments).await;
        }
        match CallApi::deserialize(Json::Object(arguments)) {
            Ok(CallApi { name, arguments }) => self.episodes.call(id, &name, arguments).await,
            Err(error) => {
                let detail = format!("found {error}, expected `name` and `arguments` of an API");
                let body = Problem::new(Kind::Invalid, detail).body().to_string();
                Ok(CallReply { status: 422, body, over: false })
            }
        }
    }

    /// Returns true if a name is a tool or an API of the episode's world.
    pub(crate) fn has_tool(&self, id: &str, name: &str) -> Result<bool, Problem> {
        Ok(name == CALL_API || self.episodes.has_tool(id, name)?)
    }

    /// Returns the tools that an episode's agent may call now.
    pub(crate) async fn tools(&self, id: &str) -> Result<Vec<Tool>, Problem> {
        Ok(self.episodes.tools(id).await?.iter().filter_map(Tool::of).collect())
    }

    /// Grades an episode if its user has nothing more to say.
    pub(crate) async fn grade_if_over(
        &self,
        id: &str,
        called: &CallReply,
    ) -> Result<Option<GradeReply>, Problem> {
        if called.over { self.episodes.grade(id).await.map(Some) } else { Ok(None) }
    }

    fn key(&self, name: &str) -> SessionKey {
        SessionKey::new(self.protocol.name(), name)
    }
}

/// Extracts the body of a request as JSON. An empty body is an empty object.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T>
where
    Arc<Gym>: FromRef<S>,
{
    type Rejection = RequestRefusal;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, RequestRefusal> {
        Ok(Self(Arc::<Gym>::from_ref(state).read(request).await?))
    }
}

/// Returns the reward of an episode, or none if it is excluded.
pub(crate) fn reward(grade: &GradeReply) -> Option<f64> {
    (!grade.excluded).then_some(grade.reward)
}

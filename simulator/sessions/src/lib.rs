//! Sessions of worlds: creates, calls, forks, grades and ends them, and journals them so that they survive a
//! restart.
//!
//! Owns the permissions and the journal of a session. It knows nothing of HTTP. The engine executes calls,
//! the user simulator answers messages, and the grader judges tasks. Protocols translate their requests into
//! calls of [`Sessions`] or [`Episodes`].

mod after;
mod blocking;
mod creation;
mod episode;
mod episodes;
mod live;
mod metrics;
mod named_call;
mod node;
mod own_tools;
mod pace;
mod problem;
mod random;
mod registry;
mod replies;
mod requests;
mod sessions;
mod settings;
mod step;
mod store;
mod tasks;
mod weight;
mod worlds;

pub use self::after::PendingSteps;
pub use self::blocking::run_blocking;
pub use self::creation::{Creation, SessionKey};
pub use self::episodes::{CallReply, Capacity, Episodes, NewEpisode, Prompt};
pub use self::live::Live;
pub use self::metrics::Metrics;
pub use self::named_call::NamedCall;
pub use self::node::{MAX_NODE_CHARS, NoNode, Node, shortened};
pub use self::own_tools::function_parts;
pub use self::problem::{KEY_HEADER, Kind, Problem, quoted};
pub use self::random::unguessable;
pub use self::registry::Slot;
pub use self::replies::{GradeReply, Hindrance, MessageReply};
pub use self::requests::{CreateRequest, ForkRequest, MAX_LEASE_SECONDS, or_null};
pub use self::sessions::{OpenError, Sessions};
pub use self::settings::{
    MAX_BYTES, MAX_CALLS, MAX_REPLY_BYTES, MAX_SESSION_BYTES, MAX_SESSIONS, Settings, StateFolder,
};
pub use self::step::Room;
pub use self::store::StoreError;
pub use self::store::restore::LeftOut;
pub use self::tasks::{TaskError, TaskSource, TaskSpec, TaskSummary};
pub use self::weight::{Scale, UnsentReply};
pub use self::worlds::{Ready, SameName, ServedWorld, WorldSource, Worlds};

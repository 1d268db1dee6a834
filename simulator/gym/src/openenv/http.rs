//! Reset, step and state over HTTP. Every episode has a name here, from the caller or the server, by which
//! steps find it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Request, Uri};
use diorama_sessions::{Kind, Problem, quoted};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json, json};

use super::env::OpenEnv;
use super::playing::{Playing, episode_id, step_without_episode};
use super::wire::{Action, State};
use crate::reply::{self, Answer};

pub(super) async fn reset(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Answer {
    let gym = &env.gym;
    let mut data: Map<String, Json> = gym.read(request).await?;
    let name = match episode_id(&data)? {
        Some(name) => name,
        None => env.new_name()?,
    };
    if let Some(before) = gym.named(&name) {
        gym.episodes.close(&before).await?;
    }
    data.insert("episode_id".to_owned(), json!(name));
    let (_, outcome) = Playing::reset(gym, &data, Some(&name)).await?;
    Ok(reply::json(&outcome))
}

pub(super) async fn step(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Answer {
    let gym = &env.gym;
    let mut body: Map<String, Json> = gym.read(request).await?;
    let Some(Json::Object(action)) = body.remove("action") else {
        let detail = "found no `action`, expected an object: see GET /schema";
        return Err(Problem::new(Kind::Invalid, detail).into());
    };
    let action = Action::read(action).map_err(|message| Problem::new(Kind::Invalid, message))?;
    let outcome = match playing(&env, episode_id(&body)?).await? {
        Some(mut playing) => playing.step(gym, action).await?,
        None => step_without_episode(&action).map_err(|_| {
            Problem::new(Kind::Conflict, "found no `episode_id` of a reset, expected one beside `action`: HTTP has no session otherwise; or use /ws")
        })?,
    };
    Ok(reply::json(&outcome))
}

pub(super) async fn state(Shared(env): Shared<Arc<OpenEnv>>, uri: Uri) -> Answer {
    let query = uri.query().unwrap_or_default();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("episode_id="));
    let name = named.map(|name| percent_decode_str(name).decode_utf8_lossy().into_owned());
    let playing = playing(&env, name).await?;
    Ok(reply::json(&playing.map_or_else(State::default, |playing| playing.state())))
}

/// Returns the episode with a name. Returns none without a name.
async fn playing(env: &OpenEnv, name: Option<String>) -> Result<Option<Playing>, Problem> {
    let Some(name) = name else { return Ok(None) };
    let gone = || {
        let found = quoted(&name, 60);
        let detail = format!("found no episode {found}, expected one of a reset; or its time is over");
        Problem::new(Kind::NotFound, detail)
    };
    let id = env.gym.named(&name).ok_or_else(gone)?;
    Playing::join(&env.gym, id, Some(name)).await.map(Some)
}

pub(super) async fn mcp(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Answer {
    let body = env.gym.read_bytes(request.into_body()).await?;
    Ok(reply::json(&env.answer_rpc(&body, super::rpc::Origin::Http).await))
}

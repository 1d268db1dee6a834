//! Reset, step and state over HTTP. Every episode has a name here, the caller's or the server's, by which steps find it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Request, Response, Uri};
use diorama_sessions::{Kind, Problem};
use percent_encoding::percent_decode_str;
use serde_json::{Value as Json, json};

use super::env::OpenEnv;
use super::playing::{Playing, episode_id, step_without_episode};
use super::wire::{Action, Outcome, State};
use crate::gym::NoEpisode;
use crate::reply::{self, at_capacity, refuse};

pub(super) async fn reset(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Response<Body> {
    match begin(&env, request).await {
        Ok(outcome) => reply::json(&outcome),
        Err(NoEpisode::Full { problem, .. }) => at_capacity(&problem),
        Err(NoEpisode::Refused(problem)) => refuse(&problem),
    }
}

async fn begin(env: &OpenEnv, request: Request<Body>) -> Result<Outcome, NoEpisode> {
    let gym = &env.gym;
    let mut data = gym.bodies.object(request, gym.app.max_body_bytes()).await?;
    let name = match episode_id(&data)? {
        Some(name) => name,
        None => env.new_name()?,
    };
    if let Some(before) = gym.named(&name) {
        gym.episodes.close(&before).await?;
    }
    data.insert("episode_id".to_owned(), json!(name));
    Ok(Playing::reset(gym, &data, Some(&name)).await?.1)
}

pub(super) async fn step(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Response<Body> {
    match take_step(&env, request).await {
        Ok(outcome) => reply::json(&outcome),
        Err(problem) => refuse(&problem),
    }
}

async fn take_step(env: &OpenEnv, request: Request<Body>) -> Result<Outcome, Problem> {
    let gym = &env.gym;
    let mut body = gym.bodies.object(request, gym.app.max_body_bytes()).await?;
    let Some(Json::Object(action)) = body.remove("action") else {
        return Err(Problem::new(Kind::Invalid, "found no `action`, expected an object: see GET /schema"));
    };
    let action = Action::read(action).map_err(|message| Problem::new(Kind::Invalid, message))?;
    match playing(env, episode_id(&body)?).await? {
        Some(mut playing) => playing.step(gym, action).await,
        None => step_without_episode(&action).map_err(|_| {
            Problem::new(Kind::Conflict, "found no `episode_id` of a reset, expected one beside `action`: HTTP has no session otherwise; or use /ws")
        }),
    }
}

pub(super) async fn state(Shared(env): Shared<Arc<OpenEnv>>, uri: Uri) -> Response<Body> {
    let query = uri.query().unwrap_or_default();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("episode_id="));
    let name = named.map(|name| percent_decode_str(name).decode_utf8_lossy().into_owned());
    match playing(&env, name).await {
        Ok(playing) => reply::json(&playing.map_or_else(State::default, |playing| playing.state())),
        Err(problem) => refuse(&problem),
    }
}

/// The episode of a name, where one is given.
async fn playing(env: &OpenEnv, name: Option<String>) -> Result<Option<Playing>, Problem> {
    let Some(name) = name else { return Ok(None) };
    let gone = || {
        let shown: String = name.chars().take(60).collect();
        Problem::new(
            Kind::NotFound,
            format!("found no episode `{shown}`, expected one of a reset; or its time is over"),
        )
    };
    let id = env.gym.named(&name).ok_or_else(gone)?;
    Playing::join(&env.gym, id, Some(name)).await.map(Some)
}

pub(super) async fn mcp(Shared(env): Shared<Arc<OpenEnv>>, request: Request<Body>) -> Response<Body> {
    let limit = env.gym.app.max_body_bytes();
    let reply = match axum::body::to_bytes(request.into_body(), limit).await {
        Ok(body) => env.answer_rpc(&body, super::rpc::Origin::Http).await,
        Err(error) => return refuse(&Problem::new(Kind::BodyTooLarge, format!("the body: {error}"))),
    };
    reply::json(&reply)
}

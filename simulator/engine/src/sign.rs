//! Authentication: sign-in, sign-out, and the check of tokens.

use diorama_seeds::expr::Slot;
use diorama_seeds::model::{Auth, ParameterId, Record};
use diorama_seeds::value::{Instant, Str, Value};

use super::eval::SlotContent;
use super::index::{Form, same_folded};
use super::refusal::{Outcome, Refusal};
use super::reply::Body;
use super::run::Run;
use super::state::Token;

impl Run<'_> {
    /// Checks the token of an API that needs one, and binds `me`.
    pub(super) fn authorise(&mut self) -> Outcome<()> {
        let Some(parameter) = self.api.token else { return Ok(()) };
        let name = self.parameter_name(parameter);
        let refuse = |detail: String| Err(Refusal::new(401, detail).about(name));
        let hint = self.sign_in_hint();
        let Value::String(text) = self.argument(parameter) else {
            return refuse(format!("this needs a token; {hint}"));
        };
        let key = match self.draft.state.token(text) {
            Some(token) if token.domain == self.api.domain => {
                if self.draft.state.clock() >= token.expires {
                    return refuse(format!("the token has expired; {hint}"));
                }
                token.user.clone()
            }
            _ => match self.base.standing().user(self.api.domain, text) {
                Some(user) => user.clone(),
                None => return refuse(format!("the token is not known; {hint}")),
            },
        };
        let user = self.auth().and_then(|auth| self.draft.record(auth.user, &key));
        let Some(user) = user.cloned() else { return refuse(format!("the token's user is gone; {hint}")) };
        self.me = Some(key);
        self.bind(Slot::ME, SlotContent::Record(user));
        Ok(())
    }

    /// Issues a token to the user with this name and secret.
    pub(super) fn sign_in(&mut self, login: ParameterId, secret: ParameterId) -> Outcome<Body> {
        let Some(auth) = self.auth() else {
            return Err(Refusal::new(500, "the domain says nothing about how its users sign in"));
        };
        let Some(user) = self.user(auth, login, secret) else {
            let names =
                [login, secret].map(|parameter| self.parameter_name(parameter).map_or("", |name| &**name));
            return Err(Refusal::new(401, format!("no user has this {} and {}", names[0], names[1])));
        };
        let key = user[self.resource(auth.user).key.index()].clone();
        self.bind(Slot::ME, SlotContent::Record(user.clone()));
        self.bind_record(auth.user, &user);
        self.prepare()?;
        let state = &mut self.draft.state;
        let text = token_text(state.seed(), state.tokens_issued());
        let expires = Instant(state.clock().0.saturating_add(i64::from(auth.expires_in_s)));
        state.issue(text.clone(), Token { domain: self.api.domain, user: key, expires });
        self.effects()?;
        self.show_members(vec![
            ("token".into(), Body::computed(Value::String(text))),
            ("expires_at".into(), Body::computed(Value::DateTime(expires))),
        ])
    }

    /// Revokes the call's token.
    pub(super) fn sign_out(&mut self) -> Outcome<Body> {
        let token = self.api.token.and_then(|parameter| self.argument(parameter).as_str());
        if token.is_some_and(|token| self.base.standing().user(self.api.domain, token).is_some()) {
            return Err(Refusal::new(403, "a standing token is the operator's and cannot be signed out"));
        }
        self.prepare()?;
        self.effects()?;
        if let Some(Value::String(text)) = self.api.token.map(|parameter| self.argument(parameter).clone()) {
            self.draft.state.revoke(&text);
        }
        self.show_members(vec![("signed_out".into(), Body::constant(Value::Bool(true)))])
    }

    fn user(&self, auth: &Auth, login: ParameterId, secret: ParameterId) -> Option<Record> {
        let (login, secret) = (self.argument(login), self.argument(secret));
        if login.is_missing() || secret.is_missing() {
            return None;
        }
        let fits = |record: &&Record| {
            record.get(auth.login.index()).is_some_and(|value| same_folded(value, login))
                && record.get(auth.secret.index()).is_some_and(|value| value.loosely_equals(secret))
        };
        let found = match self.draft.candidates(auth.user, auth.login, Form::Folded, login) {
            Some(mut candidates) => candidates.find(fits),
            None => self.draft.state.iter(self.base, auth.user).find(fits),
        };
        found.cloned()
    }

    fn sign_in_hint(&self) -> String {
        match self.base.sign_in_api(self.api.domain) {
            Some(api) => format!("get one from {}", self.base.world().api(api).name),
            None => "sign in first".to_owned(),
        }
    }
}

/// Returns the n-th token of a session.
fn token_text(seed: u64, n: u64) -> Str {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"diorama token/1");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&n.to_le_bytes());
    hasher.finalize().to_hex()[..20].into()
}

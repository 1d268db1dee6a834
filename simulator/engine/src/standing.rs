//! Standing tokens: an operator gives them to an assistant that acts for a signed-in user.
//!
//! Each user of the initial records has one. It depends on the keys and secrets of all users of the domain.
//! So it is the same in every session of a world, and one user's secret does not reveal it. It does not
//! expire.

use std::collections::HashMap;

use diorama_seeds::model::{DomainId, World};
use diorama_seeds::value::{Str, Value};

/// Number of hexadecimal digits of a token, as for tokens from sign-ins.
const TOKEN_DIGITS: usize = 20;

/// The standing tokens of a world.
#[derive(Debug, Default)]
pub struct StandingTokens {
    users: HashMap<Str, (DomainId, Value)>,
    tokens: HashMap<(DomainId, Value), Str>,
}

impl StandingTokens {
    pub(super) fn new(world: &World) -> Self {
        let mut standing = Self::default();
        for (position, domain) in world.domains.iter().enumerate() {
            let Some(auth) = &domain.auth else { continue };
            let resource = world.resource(auth.user);
            // Users without a secret cannot sign in and have no token.
            let secrets = resource.records.iter().filter_map(|record| {
                let key = record.get(resource.key.index())?;
                let secret = record.get(auth.secret.index()).filter(|secret| !secret.is_missing())?;
                Some((key, key.to_text(&world.zone), secret.to_text(&world.zone)))
            });
            let secrets: Vec<_> = secrets.collect();
            // All secrets enter the hash, so a known or guessable one reveals no token.
            let mut hasher = blake3::Hasher::new();
            hasher.update(b"diorama standing token/1");
            hasher.update(domain.name.as_bytes());
            for (_, key, secret) in &secrets {
                for part in [key, secret] {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part.as_bytes());
                }
            }
            let of_domain = *hasher.finalize().as_bytes();
            for (key, text, _) in secrets {
                let hash = blake3::keyed_hash(&of_domain, text.as_bytes());
                let token: Str = hash.to_hex()[..TOKEN_DIGITS].into();
                let user = (DomainId(position as u16), key.clone());
                standing.tokens.insert(user.clone(), token.clone());
                standing.users.insert(token, user);
            }
        }
        standing
    }

    /// Returns the user with a token in a domain.
    #[must_use]
    pub fn user(&self, domain: DomainId, token: &str) -> Option<&Value> {
        self.users.get(token).filter(|(own, _)| *own == domain).map(|(_, key)| key)
    }

    /// Returns the token of a user in a domain.
    #[must_use]
    pub fn token(&self, domain: DomainId, key: &Value) -> Option<&str> {
        self.tokens.get(&(domain, key.clone())).map(|token| &**token)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use diorama_seeds::model::DomainId;
    use diorama_seeds::value::Value;

    use crate::session::{Session, SessionOptions};
    use crate::tests::shared::{call, shop};

    #[test]
    fn a_standing_token_acts_for_its_user_in_every_session_and_is_not_signed_out() {
        let base = shop();
        let domain = DomainId(0);
        let token = |key: i64| base.standing().token(domain, &Value::Integer(key)).unwrap().to_string();
        assert_ne!(token(101), token(102));
        for seed in [0, 7] {
            let options = SessionOptions { seed, ..SessionOptions::default() };
            let mut session = Session::new(Arc::clone(&base), options);
            let status = |session: &mut Session, made: String| session.call(&call(&made)).reply.status;
            let me = format!("Me {{\"token\": \"{}\"}}", token(101));
            assert_eq!(status(&mut session, me.clone()), 200);
            assert_eq!(status(&mut session, format!("SignOut {{\"token\": \"{}\"}}", token(101))), 403);
            assert_eq!(status(&mut session, me), 200);
            // A deleted user's token is no longer valid.
            assert_eq!(status(&mut session, "DeleteCustomer {\"customer_id\": 102}".to_owned()), 200);
            assert_eq!(status(&mut session, format!("Me {{\"token\": \"{}\"}}", token(102))), 401);
        }
    }
}

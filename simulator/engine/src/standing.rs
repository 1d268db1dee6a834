//! Standing tokens: what an operator gives an assistant that acts for a user who is signed in already.
//!
//! Each user of the initial records has one. It follows from the keys and secrets of all users of the domain, so that it is the
//! same in every session of a world and cannot be worked out from one user's. It does not expire.

use std::collections::HashMap;

use diorama_seeds::model::{DomainId, World};
use diorama_seeds::value::{Str, Value};

/// Hexadecimal digits of a token, as many as those that sign-ins issue have.
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
            // Records without a secret cannot sign in, and have no token.
            let secrets = resource.records.iter().filter_map(|record| {
                let key = record.get(resource.key.index())?;
                let secret = record.get(auth.secret.index()).filter(|secret| !secret.is_missing())?;
                Some((key, key.to_text(&world.zone), secret.to_text(&world.zone)))
            });
            let secrets: Vec<_> = secrets.collect();
            // All secrets go in: one that is known, or short enough to try, gives no token away.
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

    /// The user whose token this is, in a domain.
    #[must_use]
    pub fn user(&self, domain: DomainId, token: &str) -> Option<&Value> {
        self.users.get(token).filter(|(own, _)| *own == domain).map(|(_, key)| key)
    }

    /// The token of a user of a domain.
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
            // A user who is gone has no token any more.
            assert_eq!(status(&mut session, "DeleteCustomer {\"customer_id\": 102}".to_owned()), 200);
            assert_eq!(status(&mut session, format!("Me {{\"token\": \"{}\"}}", token(102))), 401);
        }
    }
}

//! Owns the errors at the start of a server.

use std::net::IpAddr;

use diorama_sessions::OpenError;

use crate::search::SearchError;

/// Reasons for which a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The admin API would be open to a network.
    #[error("{0} is not a loopback address: set a control token, or bind to 127.0.0.1")]
    Unprotected(IpAddr),
    /// The index of APIs cannot be made.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The sessions cannot be served.
    #[error(transparent)]
    Sessions(#[from] OpenError),
}

/// Refuses to open the admin API to a network.
///
/// # Errors
/// Returns [`StartError::Unprotected`] if there is no token and the address is not a loopback address.
pub const fn check_exposure(address: IpAddr, control_token: Option<&str>) -> Result<(), StartError> {
    if control_token.is_none() && !address.is_loopback() {
        return Err(StartError::Unprotected(address));
    }
    Ok(())
}

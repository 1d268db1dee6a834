//! Why a server cannot start.

use std::net::IpAddr;

use diorama_sessions::OpenError;

use crate::search::SearchError;

/// Why a server cannot start.
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
/// [`StartError::Unprotected`] without a token anywhere but on loopback.
pub const fn check_exposure(address: IpAddr, control_token: Option<&str>) -> Result<(), StartError> {
    if control_token.is_none() && !address.is_loopback() {
        return Err(StartError::Unprotected(address));
    }
    Ok(())
}

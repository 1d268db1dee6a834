//! Unguessable ids and tokens.

/// Returns 128 random bits from the system in hexadecimal. They are the server's only randomness, and no
/// reply of a world depends on them.
///
/// # Errors
/// Returns an I/O error if the system provides none.
pub fn unguessable() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

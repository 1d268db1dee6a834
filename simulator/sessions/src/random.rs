//! Ids and tokens that cannot be guessed.

/// 128 bits from the machine, in hexadecimal. The only randomness of the server, and no reply of a world depends on it.
///
/// # Errors
/// When the machine gives none.
pub fn unguessable() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

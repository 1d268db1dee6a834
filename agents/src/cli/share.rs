//! Owns the parser of shares on the command line.

/// Parses a share.
///
/// # Errors
/// Returns a message that names the text found, if it is not a number from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("found `{text}`, expected a share from 0 to 1, such as 0.9"))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn a_share_is_from_0_to_1() {
        assert_eq!(share("0.5"), Ok(0.5));
        assert_eq!((share("0"), share("1")), (Ok(0.0), Ok(1.0)));
        for wrong in ["90", "-0.1", "NaN", "x", ""] {
            assert!(share(wrong).unwrap_err().contains("from 0 to 1"), "{wrong}");
        }
    }
}

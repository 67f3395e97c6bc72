//! Shares, as options and the policy file have them.

/// Parses a share: `2%` or `0.02`.
///
/// # Errors
/// If it is not a share, or not in the range from 0 to below 1.
pub fn share(text: &str) -> Result<f64, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .map_err(|_| "a share is written 2% or 0.02".to_owned())
    };
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    if (0.0..1.0).contains(&share) {
        Ok(share)
    } else {
        Err("a share is from 0% to under 100%".to_owned())
    }
}

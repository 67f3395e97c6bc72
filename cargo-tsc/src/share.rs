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
    let text = text.trim();
    match share {
        0.0..1.0 => Ok(share),
        1.0..100.0 if !text.ends_with('%') => Err(format!(
            "a share without % is from 0 to under 1; for {text} per cent, write {text}%"
        )),
        _ => Err("a share is from 0% to under 100%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn per_cent_without_their_sign_are_not_taken_for_more_than_everything() {
        assert_eq!((share("2%"), share("0.02")), (Ok(0.02), Ok(0.02)));
        assert!(share("5").unwrap_err().ends_with("write 5%"));
        for wrong in ["100%", "-1%", "500", "nan"] {
            assert!(share(wrong).unwrap_err().ends_with("under 100%"), "{wrong}");
        }
    }
}

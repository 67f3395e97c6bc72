//! The values of variables that are on or off. It is also compiled where nothing is measured.

#![cfg(not(target_os = "none"))]

/// Parses `1`, `on`, `true`, `yes`, or `0`, `off`, `false`, `no`, in letters of any case.
pub(crate) fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_on_off_or_wrong() {
        for on in ["1", "on", "true", "yes", "ON", "Yes"] {
            assert_eq!(switch(on), Some(true), "{on}");
        }
        for off in ["0", "off", "false", "no", "Off"] {
            assert_eq!(switch(off), Some(false), "{off}");
        }
        for wrong in ["", "2", "onn", "y", " on"] {
            assert_eq!(switch(wrong), None, "{wrong}");
        }
    }
}

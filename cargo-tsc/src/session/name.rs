//! Names of sessions, which are names of folders.

use std::time::{Duration, SystemTime};

/// Whether a session may have this name.
pub(super) fn is_file_name(name: &str) -> bool {
    let allowed = |byte: char| byte.is_alphanumeric() || matches!(byte, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// The time as a name that can be sorted: `20261121-193000`.
pub(super) fn now() -> String {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The Gregorian date this many days after 1970-01-01.
fn date(mut days: u64) -> (u64, usize, u64) {
    let mut year = 1970;
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [
            31,
            28 + u64::from(leap),
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
        ];
        for (month, length) in lengths.into_iter().enumerate() {
            if days < length {
                return (year, month + 1, days + 1);
            }
            days -= length;
        }
        year += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_the_calendars() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_778), (2026, 11, 21));
    }

    #[test]
    fn names_do_not_leave_the_folder() {
        for name in ["", "..", "a/b", ".hidden", "a b"] {
            assert!(!is_file_name(name), "{name}");
        }
        assert!(is_file_name("base-1.2_x"));
    }
}

//! Formats times in UTC.

/// Formats nanoseconds since 1970 as `2026-11-21T19:31:12.000000123Z`.
///
/// The date is Howard Hinnant's `civil_from_days`: a year begins in March, so that the leap day is its last day.
pub(super) fn rfc3339(unix_ns: u64) -> String {
    let (seconds, ns) = (unix_ns / 1_000_000_000, unix_ns % 1_000_000_000);
    let (days, seconds) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let month = (months_since_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ns:09}Z")
}

/// Formats nanoseconds since 1970 as `20261121T193112.000000123Z`, for the name of a file.
pub(in crate::live) fn compact(unix_ns: u64) -> String {
    rfc3339(unix_ns).replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // The expected texts are those of `date -u -d @…`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (951_782_399, "2000-02-28T23:59:59.000000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000000Z"),
            (951_868_800, "2000-03-01T00:00:00.000000000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000000Z"),
            (1_795_289_472, "2026-11-21T19:31:12.000000000Z"),
        ] {
            assert_eq!(rfc3339(seconds * 1_000_000_000), text);
        }
        let compact = compact(1_795_289_472_000_000_007);
        assert_eq!(compact, "20261121T193112.000000007Z");
        assert_eq!(rfc3339(1_000_000_007), "1970-01-01T00:00:01.000000007Z");
    }
}

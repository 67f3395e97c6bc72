//! Finds the call from which on the ticks of consecutive calls are constant.

/// The article says to repeat a measurement at least this often, and to use the value on which the last ones agree.
pub(crate) const LEAST_REPEATS: usize = 5;

/// The index of the call from which on all calls agree. `None` if the last [`LEAST_REPEATS`] calls do not agree.
///
/// Two calls agree if they differ by at most 1 %, or by at most two steps of the counter.
pub(crate) fn begin(ticks: &[i64], step: i64) -> Option<usize> {
    let agree = |calls: &[i64]| {
        let least = calls.iter().min().copied().unwrap_or(0);
        let most = calls.iter().max().copied().unwrap_or(0);
        most - least <= (least / 100).max(2 * step)
    };
    let begin = (0..ticks.len()).find(|begin| agree(&ticks[*begin..]))?;
    (ticks.len() - begin >= LEAST_REPEATS).then_some(begin)
}

/// The median of the calls that agree. 0 if there are none.
pub(crate) fn median(ticks: &[i64]) -> i64 {
    let mut sorted = ticks.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// The mark after the call with this index, as in the article.
pub(crate) fn mark(ticks: &[i64], begin: Option<usize>, call: usize) -> &'static str {
    if begin == Some(call) {
        "<== constant"
    } else if call == 0 && ticks.iter().skip(1).all(|later| *later < ticks[0]) {
        "<== cache warm-up"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The article's run.
    const ARTICLE: [i64; 11] = [
        1489, 1041, 1041, 1034, 1013, 1019, 1019, 1019, 1019, 1019, 1019,
    ];

    #[test]
    fn constant_run_is_found_at_the_end() {
        assert_eq!(begin(&[300, 100, 101, 100, 100, 100], 1), Some(1));
        assert_eq!(begin(&[100, 100, 100, 100, 300], 1), None);
        assert_eq!(begin(&[300, 200, 100, 100, 100, 100], 1), None);
        assert_eq!(begin(&[], 1), None);
        // In the article, the constant begins at the sixth call. The fifth one agrees with it to within 1 %.
        assert_eq!(begin(&ARTICLE, 1), Some(4));
    }

    #[test]
    fn result_of_the_works_run_is_the_works() {
        assert_eq!(median(&ARTICLE[4..]), 1019);
        assert_eq!(median(&[]), 0);
    }

    #[test]
    fn first_call_is_marked_only_if_it_was_slow() {
        assert_eq!(mark(&ARTICLE, Some(4), 0), "<== cache warm-up");
        assert_eq!(mark(&ARTICLE, Some(4), 4), "<== constant");
        assert_eq!(mark(&ARTICLE, Some(4), 2), "");
        assert_eq!(mark(&[100, 300, 100], None, 0), "");
    }
}

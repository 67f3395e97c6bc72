//! Median and quartiles.

/// Of several rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// None of no values.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        (!values.is_empty()).then(|| Self {
            low: at(0.25),
            median: at(0.5),
            high: at(0.75),
        })
    }
}

/// `12.3 (11.9–12.6)`, or a dash.
pub(crate) fn cell(spread: Option<Spread>, places: usize) -> String {
    spread.map_or_else(dash, |Spread { low, median, high }| {
        format!("{median:.places$} ({low:.places$}–{high:.places$})")
    })
}

/// The median alone, or a dash.
pub(crate) fn median(spread: Option<Spread>, places: usize) -> String {
    spread.map_or_else(dash, |spread| format!("{:.places$}", spread.median))
}

fn dash() -> String {
    "–".to_owned()
}

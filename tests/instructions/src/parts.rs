//! What is counted, and how finely it can be.

use crate::{callgrind, workload};

/// One figure: instructions a call, or a callsite.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) instructions: f64,
    /// By how much it may be above the blessed one, as a share of that.
    pub(crate) margin: f64,
}

/// The calls', less those of a call that is not annotated.
const CALLS: [(&str, &str); 3] = [
    ("fenced", "a call, default fence"),
    ("unfenced", "a call, fence = \"none\""),
    ("nested", "a call in a call"),
];

/// From run to run they differ by a hundredth of an instruction: in a few calls of 20 000, a histogram makes room.
const CALL_MARGIN: f64 = 0.01;

/// The ticks of a call under callgrind are any, and how many buckets they fall into is how much a report has to add up.
const REPORT_MARGIN: f64 = 0.2;
const REPORT_RUNS: usize = 5;

/// Left out of the report, for how long it measures the probes and the counter's rate depends on the time it is given.
const LEFT_OUT: [&str; 2] = ["*overhead*recalibrate*", "*calibration*rate*"];

/// Takes some seconds.
pub(crate) fn measure() -> Result<Vec<Figure>, String> {
    let bare = each("bare", &[])?;
    let mut figures = Vec::new();
    for (part, name) in CALLS {
        figures.push(Figure {
            name,
            instructions: each(part, &[])? - bare,
            margin: CALL_MARGIN,
        });
    }
    let reports: Result<Vec<_>, _> = (0..REPORT_RUNS)
        .map(|_| each("report", &LEFT_OUT))
        .collect();
    let least = reports?.into_iter().fold(f64::INFINITY, f64::min);
    figures.push(Figure {
        name: "a report, each of 256 callsites",
        instructions: least,
        margin: REPORT_MARGIN,
    });
    Ok(figures)
}

fn each(part: &str, left_out: &[&str]) -> Result<f64, String> {
    Ok(callgrind::instructions(part, left_out)? as f64 / workload::count(part) as f64)
}

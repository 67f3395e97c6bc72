//! The parts whose instructions are counted.

use crate::{callgrind, workload};

/// One figure: instructions a call, a sample or a callsite.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) instructions: f64,
    /// By how much it may be above the blessed one, as a share of that.
    pub(crate) margin: f64,
}

/// Calls of a function, and the same without the attribute, which is subtracted. Then the name of the figure, and its margin.
const CALLS: [(&str, &str, &str, f64); 4] = [
    ("fenced", "bare", "a call, default fence", CALL_MARGIN),
    ("unfenced", "bare", "a call, fence = \"none\"", CALL_MARGIN),
    ("nested", "bare nested", "a call in a call", CALL_MARGIN),
    (
        "loop",
        "bare loop",
        "a call with a loop over slices",
        LOOP_MARGIN,
    ),
];

/// From run to run they are the same to a tenth of an instruction.
const CALL_MARGIN: f64 = 0.01;
/// How the compiler lets a loop begin differs from build to build. One that does not compute with vectors takes thirty times as many.
const LOOP_MARGIN: f64 = 0.5;
/// A report is made once.
const REPORT_MARGIN: f64 = 0.1;

/// Left out of the calls: each 64th one folds the samples of all, and how much there is to do depends on how they spread. A figure of
/// its own has that, of scripted samples.
const FOLDING: &str = "::add_slowly";

/// Left out of the report: how long it measures the probes and the counter's rate depends on the time it is given.
const TIMED: [&str; 2] = ["overhead::recalibrate", "calibration::rate"];

/// Reports of which the least is taken: how much is said about the machine and the clock differs a little.
const REPORTS: usize = 5;

/// Takes some seconds.
pub(crate) fn measure() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (part, bare, name, margin) in CALLS {
        let bare = Part::run(bare)?.without(&[])?;
        figures.push(Figure {
            name,
            instructions: Part::run(part)?.without(&[FOLDING])? - bare,
            margin,
        });
    }
    figures.push(Figure {
        name: "a light call",
        instructions: Part::run("light")?.without(&[])? - Part::run("bare")?.without(&[])?,
        margin: CALL_MARGIN,
    });
    figures.push(Figure {
        name: "folding a sample",
        instructions: Part::run("scripted")?.only(FOLDING)?,
        margin: CALL_MARGIN,
    });
    let reports: Result<Vec<_>, _> = (0..REPORTS)
        .map(|_| Part::run("report")?.without(&TIMED))
        .collect();
    figures.push(Figure {
        name: "a report, each of 256 callsites",
        instructions: reports?.into_iter().fold(f64::INFINITY, f64::min),
        margin: REPORT_MARGIN,
    });
    Ok(figures)
}

/// A part of the workload that was run.
struct Part {
    profile: callgrind::Profile,
    /// How many calls or callsites were counted.
    count: f64,
}

impl Part {
    fn run(part: &str) -> Result<Self, String> {
        Ok(Self {
            profile: callgrind::profile(part)?,
            count: workload::count(part) as f64,
        })
    }

    /// All but what is in these functions.
    fn without(&self, functions: &[&str]) -> Result<f64, String> {
        let mut instructions = self.profile.instructions()?;
        for function in functions {
            instructions -= self.profile.instructions_in(function)?;
        }
        Ok(instructions as f64 / self.count)
    }

    fn only(&self, function: &str) -> Result<f64, String> {
        Ok(self.profile.instructions_in(function)? as f64 / self.count)
    }
}

//! Latencies that are whole numbers of core cycles on every core of the same kind.

use std::fmt;
use std::time::Duration;

use examples::catalogue;

use super::Check;
use super::competitor::Competitor;

const TIMES: usize = 20;
/// Of these, so many beside a thread that wants the same CPU.
const CONTENDED: usize = 10;
const TOLERANCE: f64 = 0.005;

/// The catalogue's name and the latencies that cores have.
const KNOWN: [(&str, &str, &[f64]); 3] = [
    ("imul", "r64,r64", &[3.0]),
    ("mulsd", "xmm,xmm", &[3.0, 4.0, 5.0]),
    ("mov", "r64,[m64] (L1 chase)", &[4.0, 5.0]),
];

pub(crate) fn twenty_times(cpu: Option<usize>) -> Check {
    let mut found = [const { Found::NOTHING }; KNOWN.len()];
    let mut details = Vec::new();
    for time in 0..TIMES {
        let _competitor = (time >= TIMES - CONTENDED).then(|| Competitor::start(cpu));
        for (known, found) in KNOWN.iter().zip(&mut found) {
            let (name, operands, integers) = known;
            match cycles(name, operands) {
                Ok(cycles) if found.add(cycles, integers) <= TOLERANCE => {}
                Ok(cycles) => details.push(format!("{name} {operands}, time {time}: {cycles:.4}")),
                Err(why) => {
                    found.without += 1;
                    details.push(format!("{name} {operands}, time {time}: {why}"));
                }
            }
        }
    }
    let measured: Vec<String> = KNOWN
        .iter()
        .zip(&found)
        .map(|((name, ..), found)| format!("{name} {found}"))
        .collect();
    Check {
        must: "imul, mulsd and the load chase in additions: integers within 0.5 %, 20 times, 10 of them contended",
        measured: measured.join(", "),
        holds: Some(
            found
                .iter()
                .all(|found| found.without == 0 && found.worst <= TOLERANCE),
        ),
        details,
    }
}

/// The latency in core cycles, or why there is none.
fn cycles(name: &str, operands: &str) -> Result<f64, String> {
    let instruction = catalogue::find(name, operands).ok_or("not in the catalogue")?;
    let timing = instruction
        .measure_within(Duration::from_millis(500))
        .map_err(|why| why.to_string())?;
    let latency = timing.latency().ok_or("it has no latency")?;
    Ok(latency.cycles())
}

/// What was found of one instruction.
struct Found {
    /// The integer that the last figure was nearest to; `None` without a figure.
    integer: Option<f64>,
    /// The greatest distance of a figure from its integer, as a share of it.
    worst: f64,
    /// How often there was no figure.
    without: usize,
}

impl Found {
    const NOTHING: Self = Self {
        integer: None,
        worst: 0.0,
        without: 0,
    };

    /// Takes a figure in; returns its distance from the nearest integer, as a share of that.
    fn add(&mut self, cycles: f64, integers: &[f64]) -> f64 {
        let distances = integers
            .iter()
            .map(|integer| (*integer, (cycles / integer - 1.0).abs()));
        let (integer, distance) = distances
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .expect("an instruction has a latency");
        self.integer = Some(integer);
        self.worst = self.worst.max(distance);
        distance
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.integer {
            Some(integer) => write!(f, "{integer} within {:.2} %", 100.0 * self.worst)?,
            None => write!(f, "unknown")?,
        }
        match self.without {
            0 => Ok(()),
            times => write!(f, ", without a figure {times} times"),
        }
    }
}

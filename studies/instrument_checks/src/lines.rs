//! Figures that must increase linearly: with the number of RDTSC, and of NOPs.

use examples::catalogue;
use examples::routines::{Cost, Way};
use examples::{ladder, routines};
use tsc_runtime::instruction::InstructionError;

use super::Check;

pub(crate) fn ladder() -> Check {
    let means: Vec<f64> = ladder::climb_with_fences()
        .iter()
        .map(|rung| rung.mean_ticks())
        .collect();
    let line = ladder::fit(&means);
    Check {
        must: "0 … 16 RDTSC, each with an LFENCE, between the fences: R² ≥ 0.999, intercept within ± 4 ticks of 0",
        measured: format!(
            "R² {:.6}, intercept {:+.2}, {:.2} ticks each",
            line.r_squared, line.intercept, line.slope
        ),
        holds: Some(line.r_squared >= 0.999 && line.intercept.abs() <= 4.0),
        details: Vec::new(),
    }
}

/// The ways in which a call is made. After them comes PUSH and POP, without a call.
const CALLS: [&str; 3] = ["between fences", "in a stream", "one after the other"];
const PUSH_AND_POP: usize = CALLS.len();

/// How often the routines and the NOP are measured before there is no figure. Another thread of the same core, which another machine may
/// use, often takes part of its front end for a second or two.
const ATTEMPTS: usize = 10;

type Rows = Vec<(u32, [Cost; Way::ALL.len()])>;

/// What the routines cost, and a NOP.
fn measure() -> Result<(Rows, f64), InstructionError> {
    let nop = catalogue::find("nop", "1 byte").expect("the catalogue has a NOP of 1 byte");
    let attempt = || {
        let cycles = nop
            .measure()?
            .throughput()
            .map_or(f64::NAN, |it| it.cycles());
        Ok((routines::costs()?, cycles))
    };
    (1..ATTEMPTS).fold(attempt(), |measured, _| measured.or_else(|_| attempt()))
}

pub(crate) fn nops() -> Check {
    let must = "64 … 256 NOPs and RET, called in three ways: each NOP within 0.05 cycles of the catalogue's, by the median of the rows";
    let (rows, nop) = match measure() {
        Ok(measured) => measured,
        Err(why) => {
            return Check {
                must,
                measured: format!("not measured: {why}"),
                holds: Some(false),
                details: Vec::new(),
            };
        }
    };
    let column = |way: usize| -> Vec<(u32, f64)> {
        let long = rows.iter().filter(|row| routines::LONG.contains(&row.0));
        long.map(|row| (row.0, row.1[way].cycles)).collect()
    };
    let each = [0, 1, 2].map(|way| routines::each_nop(&column(way)));
    let mut details: Vec<String> = CALLS
        .iter()
        .enumerate()
        .flat_map(|(way, name)| {
            routines::jumps(&column(way), nop)
                .into_iter()
                .map(move |jump| format!("{name}: {jump}"))
        })
        .collect();
    if !details.is_empty() {
        let without_a_call = routines::jumps(&column(PUSH_AND_POP), nop);
        details.extend(
            without_a_call
                .into_iter()
                .map(|jump| format!("PUSH, NOPs and POP between fences, without a call: {jump}")),
        );
        details.push(
            "a jump that PUSH and POP have, too, is of the value's way through the stack, and not of the NOPs".to_owned(),
        );
    }
    Check {
        must,
        measured: format!(
            "between fences {:.3}, in a stream {:.3}, one after the other {:.3}; nop {nop:.3}",
            each[0], each[1], each[2]
        ),
        holds: Some(each.iter().all(|each| (each - nop).abs() <= 0.05)),
        details,
    }
}

//! Figures that must increase linearly: with the number of RDTSC, and of NOPs.

use examples::{ladder, routines};
use tsc_runtime::instruction::catalogue;

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

pub(crate) fn nops() -> Check {
    let must =
        "0 … 18 NOPs and RET: monotone, increments within 0.05 cycles of the catalogue's nop";
    let nop = catalogue::find("nop", "1 byte").map(|nop| nop.measure());
    let (Ok(rows), Some(Ok(nop))) = (routines::costs(), nop) else {
        return Check {
            must,
            measured: "not measured".to_owned(),
            holds: Some(false),
            details: Vec::new(),
        };
    };
    let rows: Vec<f64> = rows.iter().map(|[_, stream]| *stream).collect();
    let nop = nop.throughput().map_or(f64::NAN, |it| it.cycles());
    let increments: Vec<f64> = rows.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (least, greatest) = increments.iter().fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, greatest), it| (least.min(*it), greatest.max(*it)),
    );
    Check {
        must,
        measured: format!("increments {least:.3} … {greatest:.3}, nop {nop:.3}"),
        holds: Some(
            increments
                .iter()
                .all(|increment| *increment > 0.0 && (increment - nop).abs() <= 0.05),
        ),
        details: Vec::new(),
    }
}

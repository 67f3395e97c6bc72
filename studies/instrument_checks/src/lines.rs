//! Figures that must increase linearly: with the number of RDTSC, and of NOPs.

use examples::catalogue;
use examples::{ladder, routines};

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
    let must = "64 … 192 NOPs and RET, called in three ways: each NOP within 0.05 cycles of the catalogue's";
    let nop = catalogue::find("nop", "1 byte").map(|nop| nop.measure());
    let (Ok(rows), Some(Ok(nop))) = (routines::costs(), nop) else {
        return Check {
            must,
            measured: "not measured".to_owned(),
            holds: Some(false),
            details: Vec::new(),
        };
    };
    let nop = nop.throughput().map_or(f64::NAN, |it| it.cycles());
    let of = |nops: u32| rows.iter().find(|row| row.0 == nops).map(|row| row.1);
    let (Some(few), Some(many)) = (of(64), of(192)) else {
        unreachable!("the table has rows of 64 and 192 NOPs");
    };
    let each = [0, 1, 2].map(|way| (many[way].cycles - few[way].cycles) / 128.0);
    Check {
        must,
        measured: format!(
            "between fences {:.3}, in a stream {:.3}, one after the other {:.3}; nop {nop:.3}",
            each[0], each[1], each[2]
        ),
        holds: Some(each.iter().all(|each| (each - nop).abs() <= 0.05)),
        details: Vec::new(),
    }
}

//! NOPs and a RET, called in three ways.

use tsc_runtime::instruction;
use tsc_runtime::instruction::{Instruction, InstructionError};

use super::{Cost, cost};

/// How the routine is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each call between two LFENCE, whose time is subtracted. No other instruction runs in parallel with the call.
    BetweenFences,
    /// Each call between 48 NOPs of four bytes, whose time is subtracted, as between other instructions in programs.
    InAStream,
    /// Calls one after the other. A call then costs what the branches of CALL and RET cost, or more if the NOPs take longer.
    OneAfterTheOther,
    /// No call, but a PUSH and a POP with the NOPs between them, between two LFENCE: what a value's way through the stack takes, which a
    /// call's return address also has.
    PushAndPop,
}

impl Way {
    /// The ways in the order of [`NOPS`].
    pub const ALL: [Self; 4] = [
        Self::BetweenFences,
        Self::InAStream,
        Self::OneAfterTheOther,
        Self::PushAndPop,
    ];
}

macro_rules! nops {
    ($($k:literal)*) => {[$(
        // SAFETY: the routines execute NOPs, and PUSH and POP write below the stack's end what they take from there.
        ($k, unsafe { [
            instruction!("call", "NOPs and RET between fences", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                setup "lfence", listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET in a stream", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                setup ".rept 48; .byte 0x0f,0x1f,0x40,0; .endr", listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                listing "call rcx", chain none, copies 1),
            instruction!("push+pop", "with NOPs between them", setup "lfence",
                listing concat!("push rcx; .rept ", $k, "; nop; .endr; pop rdx"), chain none, copies 1),
        ] })
    ),*]};
}

/// 0 … 18 NOPs and a RET, as in PROFILE's table, and more NOPs than a call can hide, in each [`Way`].
pub static NOPS: [(u32, [Instruction; Way::ALL.len()]); 30] = nops!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 24 32 40 48 64 96 128 160 192 224 256
);

/// How many times each routine is measured. Another thread of the same core may use its front end for a while.
const TIMES: usize = 5;

/// What a call of each of [`NOPS`] costs in each [`Way`].
///
/// # Errors
///
/// If one of them could not be measured even once.
pub fn costs() -> Result<Vec<(u32, [Cost; Way::ALL.len()])>, InstructionError> {
    NOPS.iter()
        .map(|(nops, ways)| {
            let mut costs = [Cost::default(); Way::ALL.len()];
            for (way, costs) in ways.iter().zip(&mut costs) {
                *costs = cost(way, TIMES)?;
            }
            Ok((*nops, costs))
        })
        .collect()
}

/// The rows from which each NOP's cost is computed: more than a call hides, at even distances.
pub const LONG: std::ops::RangeInclusive<u32> = 64..=256;

/// What a NOP costs in a column: the median of the increments between the rows of [`LONG`]. A return address takes several cycles more
/// through the stack from some number of NOPs on, so that one row jumps, whatever a NOP costs.
pub fn each_nop(column: &[(u32, f64)]) -> f64 {
    let rows: Vec<_> = column.iter().filter(|row| LONG.contains(&row.0)).collect();
    let mut increments: Vec<f64> = rows
        .windows(2)
        .map(|pair| (pair[1].1 - pair[0].1) / f64::from(pair[1].0 - pair[0].0))
        .collect();
    increments.sort_unstable_by(f64::total_cmp);
    let Some(last) = increments.len().checked_sub(1) else {
        return f64::NAN;
    };
    f64::midpoint(increments[last / 2], increments[last.div_ceil(2)])
}

/// A row that costs so many cycles more or less than the NOPs since the row before is a jump.
const JUMP: f64 = 4.0;

/// Where a row of a column, the number of NOPs and their cost, costs more or less than its NOPs, each `nop` cycles.
pub fn jumps(column: &[(u32, f64)], nop: f64) -> Vec<String> {
    column
        .windows(2)
        .filter_map(|pair| {
            let [(from, before), (to, after)] = [pair[0], pair[1]];
            let jump = after - before - nop * f64::from(to - from);
            (jump.abs() >= JUMP)
                .then(|| format!("{jump:+.1} core cycles between {from} and {to} NOPs"))
        })
        .collect()
}

/// Whether a column for 0 … n NOPs shows that each NOP costs time: at its end it is at least half of what n NOPs cost in a row, each `nop`
/// core cycles, and no row is below one before it by more than a fifth of that rise. Rows scatter by a tenth of a cycle, so a limit in
/// cycles would find the same column visible in one run and hidden in the next.
pub fn is_visible(column: &[f64], nop: f64) -> bool {
    const FALL: f64 = 0.2;
    let (Some(first), Some(last)) = (column.first(), column.last()) else {
        return false;
    };
    let rise = last - first;
    let mut highest = *first;
    let falls = column.iter().any(|row| {
        highest = highest.max(*row);
        highest - row > FALL * rise
    });
    !falls && rise >= 0.5 * nop * (column.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured between fences on a Zen 3 core: a sixth of a cycle each, and seven cycles at once between 64 and 96.
    const ZEN3: [(u32, f64); 7] = [
        (64, 2.72),
        (96, 14.72),
        (128, 20.68),
        (160, 25.71),
        (192, 30.69),
        (224, 36.20),
        (256, 41.64),
    ];
    /// On a Zen 4 core: a twelfth of a cycle each, and six cycles at once between 128 and 160. The row of 48 is not used.
    const ZEN4: [(u32, f64); 8] = [
        (48, -3.16),
        (64, -2.14),
        (96, 0.87),
        (128, 3.84),
        (160, 12.84),
        (192, 15.82),
        (224, 19.16),
        (256, 20.83),
    ];

    #[test]
    fn jump_is_no_cost_of_a_nop() {
        assert!((each_nop(&ZEN3) - 1.0 / 6.0).abs() < 0.02);
        assert!((each_nop(&ZEN4) - 1.0 / 12.0).abs() < 0.02);
        assert!(each_nop(&[]).is_nan());
    }

    #[test]
    fn jump_is_named() {
        assert_eq!(
            jumps(&ZEN3, 1.0 / 6.0),
            ["+6.7 core cycles between 64 and 96 NOPs"]
        );
        let even = ZEN3.map(|(nops, _)| (nops, f64::from(nops) / 6.0));
        assert_eq!(jumps(&even, 1.0 / 6.0), Vec::<String>::new());
    }

    #[test]
    fn nops_that_cost_more_are_found() {
        let dear: Vec<(u32, f64)> = ZEN3
            .iter()
            .map(|&(nops, cycles)| (nops, cycles + 0.08 * f64::from(nops)))
            .collect();
        assert!((each_nop(&dear) - 1.0 / 6.0).abs() > 0.05);
    }

    #[test]
    fn cost_of_nops_is_visible_or_hidden() {
        let column = |cost: fn(f64) -> f64| -> Vec<f64> {
            (0..=18).map(|nops| cost(f64::from(nops))).collect()
        };
        // A sixth of a cycle each, with some noise.
        assert!(is_visible(
            &column(|nops| nops / 6.0 + 0.04 * (nops % 3.0)),
            1.0 / 6.0
        ));
        // In whole cycles, as PROFILE's.
        assert!(is_visible(&column(|nops| (nops / 3.0).ceil()), 1.0 / 3.0));
        // Nothing, with bumps.
        let bumps = column(|nops| if nops % 5.0 == 4.0 { 0.2 } else { 0.0 });
        assert!(!is_visible(&bumps, 0.125));
        // Between fences on a Zen 4 core, in whole cycles, and in a stream on a Zen 5 core: both scatter by more than a tenth of a cycle.
        assert!(is_visible(
            &[0.0, 0.01, -0.11, 0.87, 0.89, 0.92, 0.87, 1.87, 1.88],
            0.086
        ));
        assert!(is_visible(&[0.0, 0.09, -0.01, 2.97, 3.17, 2.97], 0.125));
        // Between fences on a Zen 5 core: the last call's return address takes another way.
        assert!(!is_visible(&[0.0, 2.62, 2.48, 3.49, 3.48, -3.52], 0.125));
        // It rises, and then it falls.
        assert!(!is_visible(&column(|nops| nops % 18.0), 0.125));
        assert!(!is_visible(&[], 0.125));
    }
}

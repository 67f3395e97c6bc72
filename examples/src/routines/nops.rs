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
        ($k, [
            instruction!("call", "NOPs and RET between fences", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                setup "lfence", listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET in a stream", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                setup ".rept 48; .byte 0x0f,0x1f,0x40,0; .endr", listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                listing "call rcx", chain none, copies 1),
            instruction!("push+pop", "with NOPs between them", setup "lfence",
                listing concat!("push rcx; .rept ", $k, "; nop; .endr; pop rdx"), chain none, copies 1),
        ])
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

/// Whether a column for 0 … n NOPs shows that each NOP costs time: it never falls by more than a tenth of a cycle, and at its end it is at
/// least half of what n NOPs cost in a row, each `nop` core cycles.
pub fn is_visible(column: &[f64], nop: f64) -> bool {
    const FALL: f64 = 0.1;
    let (Some(first), Some(last)) = (column.first(), column.last()) else {
        return false;
    };
    let rises = column.windows(2).all(|pair| pair[1] - pair[0] >= -FALL);
    rises && last - first >= 0.5 * nop * (column.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // It rises, and then it falls.
        assert!(!is_visible(&column(|nops| nops % 18.0), 0.125));
        assert!(!is_visible(&[], 0.125));
    }
}

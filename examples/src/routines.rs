//! The routines of the two tables that PROFILE 2.0 came with: NOPs and a RET, and a loop of DEC and JNZ behind a LEA.

use std::arch::global_asm;

use tsc_runtime::instruction;
use tsc_runtime::instruction::{Instruction, InstructionError};

// Each routine begins on a page of its own, as PROFILE demanded: where code lies must not decide what it costs.
global_asm!(
    ".pushsection .text.tsc_example_routines,\"ax\",@progbits",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18",
    ".p2align 12",
    ".globl tsc_example_nops_\\k",
    ".hidden tsc_example_nops_\\k",
    "tsc_example_nops_\\k:",
    ".rept \\k",
    "nop",
    ".endr",
    "ret",
    ".endr",
    // The LEA sets the counter and stands before the loop. PROFILE's author took it instead of a MOV for the alignment of the branch.
    ".irp turns, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80, 96, 112, 128, 160, 192, 256, 320",
    ".p2align 12",
    ".globl tsc_example_loop_\\turns",
    ".hidden tsc_example_loop_\\turns",
    "tsc_example_loop_\\turns:",
    "lea edx, [\\turns]",
    "2:",
    "dec edx",
    "jnz 2b",
    "ret",
    ".endr",
    ".popsection",
);

macro_rules! nops {
    ($($k:literal)*) => {[$(
        [
            instruction!("call", "NOPs and RET", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET in a stream", init concat!("lea rcx, [rip + tsc_example_nops_", $k, "]"),
                setup ".rept 48; .byte 0x0f,0x1f,0x40,0; .endr", listing "call rcx", chain none, copies 1),
        ]
    ),*]};
}

/// For 0 … 18 NOPs and a RET: calls one after the other, and calls between 48 NOPs of four bytes each, which are subtracted.
///
/// One after the other, a call costs what the branches of CALL and RET cost, and the NOPs hide behind them. Between other
/// instructions, as calls stand in programs, each NOP takes its place among what the core can issue.
pub static NOPS: [[Instruction; 2]; 19] = nops!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);

/// How often each routine is measured: another thread of the same core may share its front end for a while.
const TIMES: usize = 9;
/// The loops stand still less often: it is the predictor that they ask.
const TIMES_PER_TURN: usize = 3;

/// The core cycles of a call of each of [`NOPS`], one after the other and in a stream: the medians of several measurements.
///
/// # Errors
///
/// An instruction could not be measured even once.
pub fn costs() -> Result<Vec<[f64; 2]>, InstructionError> {
    let mut costs = vec![[const { Vec::new() }; 2]; NOPS.len()];
    for time in 1..=TIMES {
        for (routine, costs) in NOPS.iter().zip(&mut costs) {
            for (way, costs) in routine.iter().zip(costs) {
                match way.measure() {
                    Ok(timing) => costs.extend(timing.throughput().map(|it| it.cycles())),
                    Err(why) if time == TIMES && costs.is_empty() => return Err(why),
                    Err(_) => {}
                }
            }
        }
    }
    Ok(costs.into_iter().map(|ways| ways.map(median)).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

macro_rules! turns {
    ($($n:literal)*) => {[$(
        ($n, instruction!("call", "LEA, DEC, JNZ", init concat!("lea rcx, [rip + tsc_example_loop_", $n, "]"),
            listing "call rcx", chain none, copies 1))
    ),*]};
}

/// The loop by its turns: the 1 … 18 of PROFILE's table, and on to where today's branch predictors give up.
pub static TURNS: [(u32, Instruction); 42] = turns!(
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
    20 22 24 26 28 30 32 36 40 44 48 52 56 60 64 72 80 96 112 128 160 192 256 320
);

/// PROFILE's own figures, in cycles: what its author measured on a Pentium and on an Athlon.
pub mod profile {
    /// A routine of 0 … 18 NOPs and a RET, the RET's cost subtracted.
    pub const NOPS: [[u32; 2]; 19] = [
        [0, 0],
        [1, 1],
        [1, 1],
        [2, 1],
        [2, 2],
        [3, 2],
        [3, 2],
        [4, 3],
        [4, 3],
        [5, 3],
        [5, 4],
        [6, 4],
        [6, 4],
        [7, 5],
        [7, 5],
        [8, 5],
        [8, 6],
        [9, 6],
        [9, 6],
    ];

    /// The loop of 1 … 18 turns.
    pub const TURNS: [[u32; 2]; 18] = [
        [2, 1],
        [10, 2],
        [11, 3],
        [16, 4],
        [21, 5],
        [26, 6],
        [31, 7],
        [36, 8],
        [41, 9],
        [46, 24],
        [51, 25],
        [56, 26],
        [61, 27],
        [66, 28],
        [71, 29],
        [76, 30],
        [81, 31],
        [86, 32],
    ];
}

/// The core cycles of a call by the loop's turns: the median of several measurements of each.
///
/// # Errors
///
/// An instruction could not be measured even once.
pub fn turns() -> Result<Vec<(u32, f64)>, InstructionError> {
    TURNS
        .iter()
        .map(|(turns, routine)| {
            let mut cycles = Vec::with_capacity(TIMES_PER_TURN);
            let mut failed = None;
            for _ in 0..TIMES_PER_TURN {
                match routine.measure() {
                    Ok(timing) => cycles.extend(timing.throughput().map(|it| it.cycles())),
                    Err(why) => failed = Some(why),
                }
            }
            match failed {
                Some(why) if cycles.is_empty() => Err(why),
                _ => Ok((*turns, median(cycles))),
            }
        })
        .collect()
}

/// The number of turns from which on the loop's end is no longer foreseen: each call from there on costs at least `penalty` cycles
/// more than the line through the calls before it lets expect.
pub fn knee(rows: &[(u32, f64)], penalty: f64) -> Option<u32> {
    (1..rows.len())
        .find(|&knee| {
            let (slope, intercept) = typical_line(&rows[..knee]);
            rows[knee..]
                .iter()
                .all(|(turns, cycles)| cycles - slope * f64::from(*turns) - intercept >= penalty)
        })
        .map(|knee| rows[knee].0)
}

/// Cycles a turn, and beside all turns: medians, so that a few rows that are out of line do not bend it.
fn typical_line(rows: &[(u32, f64)]) -> (f64, f64) {
    /// Of fewer rows the slope is not known, and a cycle a turn is what a loop of one branch takes at best.
    const ENOUGH: usize = 4;
    let slope = if rows.len() < ENOUGH {
        1.0
    } else {
        let step = |pair: &[(u32, f64)]| (pair[1].1 - pair[0].1) / f64::from(pair[1].0 - pair[0].0);
        median(rows.windows(2).map(step).collect())
    };
    let intercept = rows
        .iter()
        .map(|(turns, cycles)| cycles - slope * f64::from(*turns))
        .collect();
    (slope, median(intercept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knee_is_where_the_penalty_begins() {
        let row = |turns: u32, extra: f64| (turns, 5.0 + 1.02 * f64::from(turns) + extra);
        let smooth: Vec<_> = (1..=18).map(|turns| row(turns, 0.0)).collect();
        assert_eq!(knee(&smooth, 8.0), None);
        let bent: Vec<_> = (1..=18)
            .map(|turns| row(turns, if turns >= 12 { 15.0 } else { 0.0 }))
            .collect();
        assert_eq!(knee(&bent, 8.0), Some(12));
        let bump: Vec<_> = (1..=18)
            .map(|turns| row(turns, if turns == 5 { 15.0 } else { 0.0 }))
            .collect();
        assert_eq!(knee(&bump, 8.0), None);
        assert_eq!(knee(&[], 8.0), None);
    }

    #[test]
    fn knees_of_profiles_own_figures() {
        let column = |cpu: usize| -> Vec<(u32, f64)> {
            (1..)
                .zip(profile::TURNS)
                .map(|(turns, cycles)| (turns, f64::from(cycles[cpu])))
                .collect()
        };
        // The Pentium mispredicts from the second turn on, the Athlon from the tenth.
        assert_eq!(knee(&column(0), 6.0), Some(2));
        assert_eq!(knee(&column(1), 6.0), Some(10));
    }
}

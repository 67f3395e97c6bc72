//! The routines of the two tables of PROFILE 2.0: NOPs and a RET, and a loop of DEC and JNZ after a LEA.

use std::arch::global_asm;

use tsc_runtime::instruction;
use tsc_runtime::instruction::{Instruction, InstructionError};

// Each routine begins on a page of its own, as PROFILE requires, so that its cost does not depend on its address.
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
    // The LEA sets the loop counter before the loop. PROFILE's author used it instead of a MOV for the alignment of the branch.
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

/// For 0 … 18 NOPs and a RET: calls one after the other, and calls between 48 NOPs of four bytes each, whose time is subtracted.
///
/// One after the other, a call costs what the branches of CALL and RET cost, and the NOPs run in parallel with them. Between other
/// instructions, as in programs, each NOP takes one of the places for instructions that the core has in each cycle.
pub static NOPS: [[Instruction; 2]; 19] = nops!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18);

/// How many times each routine is measured. Another thread of the same core may use its front end for a while.
const TIMES: usize = 9;
/// The loops are measured less often, because they depend on the branch predictor and not on the front end.
const TIMES_PER_TURN: usize = 3;

/// The core cycles of a call for each of [`NOPS`], one after the other and in a stream: medians of several measurements.
///
/// # Errors
///
/// If an instruction could not be measured even once.
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

/// The loop with 1 … 18 iterations (turns), as in PROFILE's table, and with more, up to where today's branch predictors fail.
pub static TURNS: [(u32, Instruction); 42] = turns!(
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
    20 22 24 26 28 30 32 36 40 44 48 52 56 60 64 72 80 96 112 128 160 192 256 320
);

/// PROFILE's own figures in cycles, which its author measured on a Pentium and an Athlon.
pub mod profile {
    /// A routine of 0 … 18 NOPs and a RET, minus the cost of the RET.
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

    /// The loop with 1 … 18 iterations.
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

/// The core cycles of a call by the loop's number of iterations: the median of several measurements of each.
///
/// # Errors
///
/// If an instruction could not be measured even once.
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

/// The number of iterations from which on the loop's end is no longer predicted: from there on, each call takes at least `penalty` cycles
/// more than the line through the calls before it.
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

/// The cycles per iteration, and those of the rest of a call. They are medians, so that a few unusual rows do not change them.
fn typical_line(rows: &[(u32, f64)]) -> (f64, f64) {
    /// With fewer rows than this, the slope is not known, and is taken to be one cycle per iteration, which is the best that a loop with
    /// one branch can do.
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
        // The Pentium mispredicts from two iterations on, and the Athlon from ten.
        assert_eq!(knee(&column(0), 6.0), Some(2));
        assert_eq!(knee(&column(1), 6.0), Some(10));
    }
}

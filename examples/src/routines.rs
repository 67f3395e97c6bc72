//! The routines of the table that PROFILE's author measured: NOPs and a RET, and a loop of LEA, DEC and JNZ.

use std::arch::global_asm;

use tsc_runtime::instruction;
use tsc_runtime::instruction::{Instruction, InstructionError};

// Routine k begins k pages behind the symbol, so that no two of them share a line of any cache but by their number.
global_asm!(
    ".pushsection .text.tsc_example_routines,\"ax\",@progbits",
    ".p2align 12",
    ".globl tsc_example_nops, tsc_example_loop",
    ".hidden tsc_example_nops, tsc_example_loop",
    "tsc_example_nops:",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18",
    ".p2align 12",
    ".rept \\k",
    "nop",
    ".endr",
    "ret",
    ".endr",
    ".p2align 12",
    "tsc_example_loop:",
    "2:",
    "lea rax, [rax + 1]",
    "dec rdx",
    "jnz 2b",
    "ret",
    ".popsection",
);

macro_rules! nops {
    ($($k:literal)*) => {[$(
        [
            instruction!("call", "NOPs and RET", init concat!("lea rcx, [rip + tsc_example_nops + ", $k, " * 4096]"),
                listing "call rcx", chain none, copies 1),
            instruction!("call", "NOPs and RET in a stream", init concat!("lea rcx, [rip + tsc_example_nops + ", $k, " * 4096]"),
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
        ($n, instruction!("call", "LEA, DEC, JNZ", init concat!("lea rcx, [rip + tsc_example_loop]; mov r9d, ", $n),
            listing "mov edx, r9d; call rcx", chain none, copies 1))
    ),*]};
}

/// The loop of LEA, DEC and JNZ by its turns: the 1 … 18 of the old table, and on to where today's branch predictors give up.
pub static TURNS: [(u32, Instruction); 42] = turns!(
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
    20 22 24 26 28 30 32 36 40 44 48 52 56 60 64 72 80 96 112 128 160 192 256 320
);

/// The first number of turns at which the loop's end is no longer foreseen: from there on each call costs at least `penalty`
/// cycles more than the calls before it let expect.
pub fn knee(rows: &[(u32, f64)], penalty: f64) -> Option<u32> {
    let (&(first, base), rest) = rows.split_first()?;
    let mut slope = 1.0;
    let mut seen = 0.0;
    for &(turns, cycles) in rest {
        let expected = base + slope * f64::from(turns - first);
        if cycles - expected > penalty {
            return Some(turns);
        }
        // The slope of the rows so far, once there are enough of them to tell.
        seen += 1.0;
        if seen >= 4.0 {
            slope = (cycles - base) / f64::from(turns - first);
        }
    }
    None
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
        assert_eq!(knee(&[], 8.0), None);
    }
}

//! The routines of the two tables of PROFILE 2.0: NOPs and a RET, and a loop of DEC and JNZ after a LEA.

mod nops;
pub mod profile;
mod turns;

use std::arch::global_asm;

use tsc_runtime::instruction::{Instruction, InstructionError};

pub use nops::{LONG, NOPS, Way, costs, each_nop, is_visible, jumps};
pub use turns::{TURNS, excess, knee, turns};

// Each routine begins on a page of its own, as PROFILE requires, so that its cost does not depend on its address.
global_asm!(
    ".pushsection .text.tsc_example_routines,\"ax\",@progbits",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 24, 32, 40, 48, 64, 96, 128, 160, 192, 224, 256",
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

/// The median of several measurements of a call, and how many of their rounds were left out because they were disturbed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// The core cycles of a call.
    pub cycles: f64,
    /// The rounds that were used.
    pub rounds: usize,
    /// The rounds that were left out.
    pub dropped: usize,
}

/// Measures a call `times` times.
///
/// # Errors
///
/// If it could not be measured even once.
fn cost(call: &Instruction, times: usize) -> Result<Cost, InstructionError> {
    let mut cost = Cost::default();
    let mut cycles = Vec::with_capacity(times);
    let mut failed = None;
    for _ in 0..times {
        match call.measure() {
            Ok(timing) => {
                let Some(estimate) = timing.throughput() else {
                    continue;
                };
                cycles.push(estimate.cycles());
                cost.rounds += estimate.rounds();
                cost.dropped += estimate.dropped();
            }
            Err(why) => failed = Some(why),
        }
    }
    match failed {
        Some(why) if cycles.is_empty() => Err(why),
        _ => {
            cost.cycles = median(cycles);
            Ok(cost)
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

//! The loop of DEC and JNZ, by its number of iterations (turns).

use tsc_runtime::instruction;
use tsc_runtime::instruction::{Instruction, InstructionError};

use super::{Cost, cost, median};

macro_rules! turns {
    ($($n:literal)*) => {[$(
        // SAFETY: the routine changes one register that a listing may change.
        ($n, unsafe { instruction!("call", "LEA, DEC, JNZ", init concat!("lea rcx, [rip + tsc_example_loop_", $n, "]"),
            listing "call rcx", chain none, copies 1) })
    ),*]};
}

/// The loop with 1 … 18 turns, as in PROFILE's table, and with more, up to where today's branch predictors fail.
pub static TURNS: [(u32, Instruction); 42] = turns!(
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
    20 22 24 26 28 30 32 36 40 44 48 52 56 60 64 72 80 96 112 128 160 192 256 320
);

/// How many times each loop is measured.
const TIMES: usize = 3;

/// What a call costs, by the number of turns.
///
/// # Errors
///
/// If one of them could not be measured even once.
pub fn turns() -> Result<Vec<(u32, Cost)>, InstructionError> {
    TURNS
        .iter()
        .map(|(turns, routine)| Ok((*turns, cost(routine, TIMES)?)))
        .collect()
}

/// The number of turns from which on the loop's end is no longer predicted: the first row that takes at least `penalty` cycles more than the
/// line through the rows before it, as do three of four of the rows from it on. A predictor remembers some longer loops by chance.
pub fn knee(rows: &[(u32, f64)], penalty: f64) -> Option<u32> {
    (1..rows.len())
        .find(|&knee| {
            let excess = excess(&rows[..knee], &rows[knee..]);
            let above = excess.iter().filter(|excess| **excess >= penalty).count();
            excess[0] >= penalty && 4 * above >= 3 * excess.len()
        })
        .map(|knee| rows[knee].0)
}

/// How many cycles more than the line through the calls `before` each of these calls takes.
pub fn excess(before: &[(u32, f64)], rows: &[(u32, f64)]) -> Vec<f64> {
    let (slope, intercept) = typical_line(before);
    rows.iter()
        .map(|(turns, cycles)| cycles - slope * f64::from(*turns) - intercept)
        .collect()
}

/// The cycles per turn, and those of the rest of a call. They are medians, so that a few unusual rows do not change them.
fn typical_line(rows: &[(u32, f64)]) -> (f64, f64) {
    /// With fewer rows than this, the slope is not known, and is taken to be one cycle per turn, which is the best that a loop with one
    /// branch can do.
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
    use crate::routines::profile;

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
        let excess = excess(&smooth, &bump);
        assert!((excess[4] - 15.0).abs() < 1e-9 && excess[3].abs() < 1e-9);
    }

    #[test]
    fn knee_is_the_same_in_every_run() {
        // On a Zen 5 core, in two runs: in each, the end of some longer loops is predicted.
        let before = (1..=28).map(|turns| (turns, f64::from(turns) - 2.0));
        let runs = [
            [
                34.55, 36.5, 47.66, 54.06, 38.43, 70.56, 44.93, 101.12, 118.18, 166.63,
            ],
            [
                34.36, 37.16, 44.3, 53.19, 65.28, 71.65, 78.8, 104.54, 80.57, 171.33,
            ],
        ];
        for run in runs {
            let after = [30, 32, 40, 48, 60, 64, 72, 80, 112, 128]
                .into_iter()
                .zip(run);
            let rows: Vec<_> = before.clone().chain(after).collect();
            assert_eq!(knee(&rows, 6.0), Some(30));
        }
    }

    #[test]
    fn knees_of_profiles_own_figures() {
        let column = |cpu: usize| -> Vec<(u32, f64)> {
            (1..)
                .zip(profile::TURNS)
                .map(|(turns, cycles)| (turns, f64::from(cycles[cpu])))
                .collect()
        };
        // The Pentium mispredicts from two turns on, and the Athlon from ten.
        assert_eq!(knee(&column(0), 6.0), Some(2));
        assert_eq!(knee(&column(1), 6.0), Some(10));
    }
}

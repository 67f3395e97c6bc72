//! Measures how much of a probe's bookkeeping runs in parallel with RDTSC. The more of it does, the less a record costs in addition to the
//! bare pair of reads.

#[cfg(target_arch = "x86_64")]
pub(crate) fn run() {
    use overhead::table::{heading, quartiles, row};

    const ROUNDS: usize = 201;
    let rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|_| [reads(), instructions(), both()])
        .collect();
    let column = |index: usize| quartiles(rounds.iter().map(|round| round[index]).collect());
    let hidden =
        |[read, instructions, both]: &[f64; 3]| (read + instructions - both) / instructions;
    heading(
        "RDTSC beside 64 independent instructions (NOPs)",
        &["what", "median", "quartiles"],
    );
    let rows = [
        ("an RDTSC, ticks", column(0)),
        ("64 instructions, ticks", column(1)),
        ("both, ticks", column(2)),
        (
            "share of the instructions that RDTSC hides",
            quartiles(rounds.iter().map(hidden).collect()),
        ),
    ];
    for (name, [low, middle, high]) in rows {
        row(&[
            name.to_owned(),
            format!("{middle:.2}"),
            format!("{low:.2}–{high:.2}"),
        ]);
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run() {}

/// Ticks for one turn of a loop over the instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! turn {
    ($name:ident, $($instruction:literal),+) => {
        fn $name() -> f64 {
            use tsc_runtime::tsc::{Lfence, FencePolicy, elapsed};
            const TURNS: u32 = 2_000;
            let start = Lfence::start();
            // SAFETY: counts a register down, reads the counter and does nothing else.
            unsafe {
                std::arch::asm!(
                    "2:", $($instruction),+, "dec {turns:e}", "jnz 2b",
                    turns = inout(reg) TURNS => _, out("eax") _, out("edx") _, options(nostack),
                );
            }
            elapsed(start, Lfence::stop()) as f64 / f64::from(TURNS)
        }
    };
}

#[cfg(target_arch = "x86_64")]
turn!(reads, "rdtsc");
#[cfg(target_arch = "x86_64")]
turn!(instructions, ".rept 64", "nop", ".endr");
#[cfg(target_arch = "x86_64")]
turn!(both, "rdtsc", ".rept 64", "nop", ".endr");

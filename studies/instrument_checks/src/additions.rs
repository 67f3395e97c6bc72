//! Tests `measure` with chains of additions, whose length in core cycles is their number.

use std::arch::asm;
use std::time::Duration;

use tsc_runtime::measure::{Measure, Measurement};

use super::Check;
use super::competitor::Competitor;

macro_rules! chains {
    ($($length:literal)*) => {[$(
        ($length, (|limit| {
            Measure::new(concat!($length, " additions")).precision(0.0005).time_limit(limit).run(|| {
                // SAFETY: integer arithmetic on declared registers.
                unsafe {
                    asm!(
                        concat!(".rept ", $length), "add {x}, {y}", ".endr",
                        x = inout(reg) 1_u64 => _, y = in(reg) 3_u64, options(nostack),
                    );
                }
            })
        }) as fn(Duration) -> Measurement)
    ),*]};
}

/// How often each length is measured.
const TIMES: usize = 5;
const LIMIT: Duration = Duration::from_millis(300);

pub(crate) fn known_lengths() -> Check {
    let chains = chains!(1 2 4 8 16 32 64 128 256 512 1024 2048 4096);
    let (mut holds, mut details, mut worst) = (true, Vec::new(), (0.0_f64, 0));
    for (length, chain) in chains {
        let length = f64::from(length);
        let errors: Vec<f64> = (0..TIMES)
            .map(|_| {
                chain(LIMIT)
                    .core_cycles()
                    .map_or(f64::NAN, |cycles| cycles - length)
            })
            .collect();
        let most = errors.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let share = most / (1.0 + 0.005 * length);
        if length >= 8.0 {
            holds &= errors
                .iter()
                .all(|error| error.abs() <= 1.0 + 0.005 * length);
            worst = if share > worst.0 {
                (share, length as u32)
            } else {
                worst
            };
        }
        let errors: Vec<String> = errors.iter().map(|error| format!("{error:+.2}")).collect();
        details.push(format!(
            "{length} additions: off by {} core cycles",
            errors.join(" ")
        ));
    }
    Check {
        must: "k = 8 … 4096 dependent additions: k core cycles within ± (1 + 0.5 %), five times each",
        measured: format!(
            "at most {:.0} % of what is allowed, at k = {}",
            100.0 * worst.0,
            worst.1
        ),
        holds: Some(holds),
        details,
    }
}

/// How often the default options are tried, and how often of these beside a thread that wants the same CPU.
const DEFAULTS: usize = 20;
const CONTENDED: usize = 10;

pub(crate) fn by_default(cpu: Option<usize>) -> Check {
    let shares: Vec<(f64, f64)> = (0..DEFAULTS)
        .map(|time| {
            let _competitor = (time >= DEFAULTS - CONTENDED).then(|| Competitor::start(cpu));
            let measured = tsc_runtime::measure("4000 additions", || {
                // SAFETY: integer arithmetic on declared registers.
                unsafe {
                    asm!(
                        ".rept 4000", "add {x}, {y}", ".endr",
                        x = inout(reg) 1_u64 => _, y = in(reg) 3_u64, options(nostack),
                    );
                }
            });
            let share = |cycles: Option<f64>| cycles.map_or(f64::NAN, |it| it / 4000.0);
            let off = share(measured.core_cycles()) - 1.0;
            (off.abs(), share(measured.std_error_core_cycles()))
        })
        .collect();
    let greatest = |of: fn(&(f64, f64)) -> f64| shares.iter().map(of).fold(0.0, f64::max);
    Check {
        must: "4000 dependent additions with the default options, 20 times, 10 of them contended: within 0.3 %",
        measured: format!(
            "at most {:.2} % off, standard errors of at most {:.2} %",
            100.0 * greatest(|share| share.0),
            100.0 * greatest(|share| share.1)
        ),
        holds: Some(shares.iter().all(|(off, _)| *off <= 0.003)),
        details: Vec::new(),
    }
}

pub(crate) fn beside_a_competitor(cpu: Option<usize>) -> Check {
    // So precise that each takes all of its time, in which the other thread wants its share.
    let measure = || {
        Measure::new("1024 additions")
            .precision(1e-6)
            .time_limit(Duration::from_millis(50))
            .run(|| {
                // SAFETY: integer arithmetic on declared registers.
                unsafe {
                    asm!(
                        ".rept 1024", "add {x}, {y}", ".endr",
                        x = inout(reg) 1_u64 => _, y = in(reg) 3_u64, options(nostack),
                    );
                }
            })
    };
    let beside: Vec<Measurement> = {
        let _competitor = Competitor::start(cpu);
        (0..40).map(|_| measure()).collect()
    };
    let interrupted: usize = beside.iter().map(Measurement::interrupted).sum();
    let told = beside.iter().any(Measurement::interruptions_detected);
    // A run that was given no time slice says nothing, and says so.
    let cycles: Vec<f64> = beside.iter().filter_map(Measurement::core_cycles).collect();
    let off = cycles
        .iter()
        .map(|cycles| (cycles / 1024.0 - 1.0).abs())
        .fold(0.0, f64::max);
    Check {
        must: "1024 additions beside a thread that wants the same CPU, 40 times: within 1 %, interruptions detected",
        measured: format!(
            "{} runs within {:.2} %, {interrupted} samples interrupted and taken again",
            cycles.len(),
            100.0 * off
        ),
        holds: Some(off <= 0.01 && 2 * cycles.len() >= beside.len() && (!told || interrupted > 0)),
        details: Vec::new(),
    }
}

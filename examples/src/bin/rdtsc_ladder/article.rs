//! The article's own macros and lines: an overhead that is measured once; then no, one, two and three RDTSC; and "Hello World".

use std::io::{self, Write};

use examples::command::Outcome;
use examples::rdtscs;
use tsc_runtime::tsc::{Cpuid, CpuidStart, FencePolicy, Lfence, elapsed};

/// How often the article's program is run.
const RUNS: usize = 6;

/// The article's `StartPerfCounter` … `StopPerfCounter` around a piece of code: its ticks, nothing subtracted.
macro_rules! ticks {
    ($fence:ident, $($code:expr)?) => {{
        let start = $fence::start();
        $($code;)?
        elapsed(start, $fence::stop())
    }};
}

/// The lines that the article's program prints.
const LINES: [&str; 5] = [
    "The overhead is",
    "No operation costs",
    "1 rdtsc instruction costs",
    "2 rdtsc instructions cost",
    "3 rdtsc instructions cost",
];

/// The article's program in one of its forms.
type Run = fn() -> [i64; LINES.len()];

/// How many empty pairs are read for the overhead of a run. The article reads one. But if the counter takes a step in two parts between
/// its two reads, all lines of the run would be wrong.
const OVERHEADS: usize = 101;

/// One run: the overhead, and the ticks of each line.
fn run<P: FencePolicy>() -> [i64; LINES.len()] {
    let mut overheads: [i64; OVERHEADS] = std::array::from_fn(|_| ticks!(P,));
    overheads.sort_unstable();
    [
        overheads[OVERHEADS / 2],
        ticks!(P,),
        ticks!(P, rdtscs!(1)),
        ticks!(P, rdtscs!(2)),
        ticks!(P, rdtscs!(3)),
    ]
}

/// The ticks of writing "Hello World" to the output, which the article measures last.
fn hello_world<P: FencePolicy>(out: &mut dyn Write) -> io::Result<i64> {
    out.flush()?;
    let ticks = ticks!(P, {
        writeln!(out, "Hello World")?;
        out.flush()?;
    });
    Ok(ticks)
}

/// Prints the runs with CPUID only at the start, as in the article; with CPUID on both sides, which the article warns against; and with
/// LFENCE.
pub(crate) fn print(out: &mut dyn Write) -> Outcome {
    writeln!(
        out,
        "The article's lines, {RUNS} runs of each. The overhead is the median of {OVERHEADS} empty pairs before each run, and is\n\
         subtracted from the run's other lines, each of which is a single reading. The article had \"a consistent 80 CPU\n\
         cycles increment\" for each RDTSC, and on a Pentium 3 and 4 an inconsistent overhead with a CPUID before the second\n\
         RDTSC."
    )?;
    let forms: [(&str, Run); 3] = [
        ("cpuid-start, the article's", run::<CpuidStart>),
        ("cpuid, on both sides", run::<Cpuid>),
        ("lfence, the default here", run::<Lfence>),
    ];
    for (form, run) in forms {
        let runs: [_; RUNS] = std::array::from_fn(|_| run());
        writeln!(out, "\n{form}, ticks:")?;
        for (line, name) in LINES.into_iter().enumerate() {
            let overhead = |run: &[i64; LINES.len()]| if line == 0 { 0 } else { run[0] };
            print_line(out, name, runs.map(|run| run[line] - overhead(&run)))?;
        }
    }
    writeln!(out)?;
    let overhead = run::<CpuidStart>()[0];
    let mut costs = [0; RUNS];
    for cost in &mut costs {
        *cost = hello_world::<CpuidStart>(out)? - overhead;
    }
    print_line(out, "Hello World costs", costs)?;
    writeln!(out)?;
    Ok(())
}

fn print_line(out: &mut dyn Write, name: &str, ticks: [i64; RUNS]) -> Outcome {
    write!(out, "{name:<26}")?;
    ticks
        .iter()
        .try_for_each(|ticks| write!(out, "{ticks:>9}"))?;
    writeln!(out)?;
    Ok(())
}

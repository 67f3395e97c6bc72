//! The tables for 0 to 16 RDTSC.

use std::io::Write;

use examples::command::Outcome;
use examples::ladder;
use tsc_runtime::measure::Measurement;

/// Measures the ladders, and prints them with the lines through their rows.
pub(crate) fn print(out: &mut dyn Write) -> Outcome {
    writeln!(
        out,
        "0 ... 16 RDTSC between lfence's reads; the same code without an RDTSC is subtracted:\n"
    )?;
    let rungs = ladder::climb();
    print_table(out, &rungs)?;
    writeln!(
        out,
        "core cycles of an RDTSC by InstLatx64: Skylake 25.2, Ice Lake 27.0, Zen 3 36.0, Zen 4 35.3, Zen 5 37.8\n"
    )?;
    writeln!(
        out,
        "The same with an LFENCE after each RDTSC, so that each begins only when the one before it is complete:\n"
    )?;
    print_table(out, &ladder::climb_with_fences())?;
    writeln!(
        out,
        "subtracted from each: {:.1} ticks; the counter's step: {}",
        rungs[0].baseline_ticks(),
        rungs[0].resolution_ticks()
    )?;
    Ok(())
}

fn print_table(out: &mut dyn Write, rungs: &[Measurement]) -> Outcome {
    writeln!(
        out,
        "rdtsc   ticks, mean ± s.e.     added   least read   core cycles     added"
    )?;
    let mut before = None;
    for (count, rung) in rungs.iter().enumerate() {
        let ticks = rung.mean_ticks();
        let cycles = rung.core_cycles();
        let added = |now: Option<f64>, before: Option<f64>| {
            now.zip(before).map_or_else(
                || "-".to_owned(),
                |(now, before)| format!("{:.1}", now - before),
            )
        };
        writeln!(
            out,
            "{count:>5} {ticks:>12.2} ± {:<5.2} {:>9} {:>12.0} {:>13} {:>9}",
            rung.std_error_ticks(),
            added(Some(ticks), before.map(|(ticks, _)| ticks)),
            rung.min_ticks() + rung.baseline_ticks(),
            cycles.map_or_else(|| "-".to_owned(), |cycles| format!("{cycles:.1}")),
            added(cycles, before.and_then(|(_, cycles)| cycles)),
        )?;
        before = Some((ticks, cycles));
    }
    let ticks: Vec<f64> = rungs.iter().map(|rung| rung.mean_ticks()).collect();
    print_line(out, &ticks, "ticks")?;
    let cycles: Option<Vec<f64>> = rungs.iter().map(|rung| rung.core_cycles()).collect();
    if let Some(cycles) = cycles {
        print_line(out, &cycles, "core cycles")?;
    }
    Ok(())
}

fn print_line(out: &mut dyn Write, values: &[f64], unit: &str) -> Outcome {
    let line = ladder::fit(values);
    Ok(writeln!(
        out,
        "each RDTSC adds {:.2} {unit}; the line meets 0 at {:+.2} {unit}; R² = {:.6}",
        line.slope, line.intercept, line.r_squared
    )?)
}

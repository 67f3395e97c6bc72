
// After what all programs have: what an annotated one says of itself, without the feature `json`, whose crates the program does not know.

/// The clock's rate and the probe's cost in the first line, and then a line a row.
fn rows() {
    let report = tsc_runtime::snapshot();
    let clock = report.clock();
    let probe = clock.overheads().first();
    println!(
        "{} {}",
        clock.hz().unwrap_or(f64::NAN),
        probe.map_or(f64::NAN, tsc_runtime::FenceOverhead::total_ticks)
    );
    for row in report.callsites() {
        println!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            row.name(),
            row.file(),
            row.line(),
            row.calls(),
            row.on_cpu_ticks().unwrap_or(row.total_ticks()),
            row.self_on_cpu_ticks().unwrap_or(row.self_ticks()),
            row.overhead_ticks(),
            row.total_error_ticks().unwrap_or(f64::NAN),
            row.total_std_error_ticks().unwrap_or(0.0),
        );
    }
}

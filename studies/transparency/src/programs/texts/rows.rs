
// After what all programs have: what an annotated one says of itself, without the feature `json`, whose crates the program does not know.

/// In the first line the counter's rate and the CPU time of the clock of light probes. Then a line a row and a line a context.
fn rows() {
    let report = tsc_runtime::snapshot();
    let hz = report.clock().hz().unwrap_or(f64::NAN);
    println!("{hz}\t{}", report.tick_clock().map_or(0, |clock| clock.cpu_ns()));
    for row in report.callsites() {
        println!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            row.module(),
            row.name(),
            row.file(),
            row.line(),
            row.calls(),
            row.self_on_cpu_ticks().unwrap_or(row.self_ticks()),
            row.clock_ticks().unwrap_or(0),
            row.self_std_error_ticks().unwrap_or(f64::NAN),
            row.subtracted_ticks(),
            row.self_error_ticks().unwrap_or(f64::NAN),
        );
    }
    let path = |index: Option<u64>| {
        let row = index.and_then(|index| report.callsites().get(index as usize));
        row.map_or_else(|| "\t".to_owned(), |row| format!("{}\t{}", row.module(), row.name()))
    };
    for context in report.contexts() {
        let caller = context.parent().and_then(|parent| report.contexts()[parent as usize].callsite());
        let (caller, callee) = (path(caller), path(context.callsite()));
        println!("context\t{caller}\t{callee}\t{}\t{}", context.calls().unwrap_or(0), context.total_ticks());
    }
}

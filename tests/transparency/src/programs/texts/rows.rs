
// After what all programs have: what an annotated one says of itself, without the feature `json`, whose crates the program does not know.

/// In the first line the clock's rate and what a call costs. Then a line a row.
fn rows() {
    let report = tsc_runtime::snapshot();
    let clock = report.clock();
    let probe = clock.overheads().first();
    let figures = [clock.hz(), probe.map(|probe| probe.total_ticks())];
    println!("{}", figures.map(|figure| figure.unwrap_or(f64::NAN).to_string()).join(" "));
    for row in report.callsites() {
        println!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            row.module(),
            row.name(),
            row.file(),
            row.line(),
            row.calls(),
            row.on_cpu_ticks().unwrap_or(row.total_ticks()),
            row.self_on_cpu_ticks().unwrap_or(row.self_ticks()),
            row.total_error_ticks().unwrap_or(f64::NAN),
            row.self_error_ticks().unwrap_or(f64::NAN),
        );
    }
    let path = |index: Option<u64>| {
        let row = index.and_then(|index| report.callsites().get(index as usize));
        row.map_or_else(|| "\t".to_owned(), |row| format!("{}\t{}", row.module(), row.name()))
    };
    for context in report.contexts() {
        let caller = context.parent().and_then(|parent| report.contexts()[parent as usize].callsite());
        println!("context\t{}\t{}\t{}", path(caller), path(context.callsite()), context.calls());
    }
}

//! 0, 1, 2, 3 … RDTSC between the fences: if the instrument is any good, each adds the same.
//!
//! `cargo run --release -p examples --bin rdtsc_ladder`

#[cfg(target_arch = "x86_64")]
fn main() {
    use examples::ladder;
    use tsc_runtime::affinity;

    let _pinned = affinity::cpus()
        .ok()
        .and_then(|cpus| affinity::pin(*cpus.last()?).ok());
    let rungs = ladder::climb();
    println!("rdtsc   ticks (mean ± s.e.)   least   added   core cycles");
    let mut before = None;
    for (count, rung) in rungs.iter().enumerate() {
        let added = before.map_or_else(
            || "-".to_owned(),
            |before: f64| format!("{:.1}", rung.mean_ticks() - before),
        );
        let cycles = rung
            .core_cycles()
            .map_or_else(|| "-".to_owned(), |cycles| format!("{cycles:.1}"));
        println!(
            "{count:>5} {:>12.2} ± {:<6.2} {:>7.0} {added:>7} {cycles:>13}",
            rung.mean_ticks(),
            rung.std_error_ticks(),
            rung.min_ticks(),
        );
        before = Some(rung.mean_ticks());
    }
    let means: Vec<f64> = rungs.iter().map(|rung| rung.mean_ticks()).collect();
    let line = ladder::fit(&means);
    println!(
        "each RDTSC adds {:.2} ticks; the line meets 0 at {:+.2} ticks; R² = {:.6}",
        line.slope, line.intercept, line.r_squared
    );
    println!(
        "core cycles of an RDTSC by InstLatx64: Skylake 25.2, Ice Lake 27.0, Zen 3 36.0, Zen 4 35.3"
    );
    println!(
        "subtracted from each: {:.1} ticks, what an empty pair of fenced reads sees",
        rungs[0].baseline_ticks()
    );
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("RDTSC is an instruction of x86");
}

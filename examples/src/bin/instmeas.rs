//! What instmeas prints: the processors, its instructions; then, with `--all`, the whole catalogue, and with `--csv` that as CSV.
//!
//! `cargo run --release -p examples --bin instmeas -- --all`

#[cfg(target_arch = "x86_64")]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;
    use tsc_runtime::affinity;
    use tsc_runtime::instruction::catalogue;
    use tsc_runtime::machine::machine;

    /// instmeas' names, ours, and what instmeas printed for a Xeon W-2135 at 3.7 GHz, in ticks of the counter.
    const LISTINGS: [(&str, &str, &str, f64); 11] = [
        ("IDIV_R64", "idiv", "r64 39916801/5039", 35.47),
        ("XOR_R64", "xor", "r64,r64 same", 0.27),
        ("XOR_I32_R64", "xor", "r64,imm32", 0.86),
        ("MOV_R_I64", "mov", "r64,imm64", 0.54),
        ("INC_R64", "inc", "r64", 0.87),
        ("DEC_R64", "dec", "r64", 0.87),
        ("INC_M64", "inc", "[m64]", 4.58),
        ("DEC_M64", "dec", "[m64]", 4.64),
        ("INC_M32", "inc", "[m32]", 4.71),
        ("DEC_M32", "dec", "[m32]", 4.60),
        ("FMUL_ST_ST", "fmul", "st,st(1)", 324.62),
    ];

    let (mut all, mut csv) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--all" => all = true,
            "--csv" => csv = true,
            other => {
                eprintln!("instmeas: {other} is not known; there are --all and --csv");
                return ExitCode::FAILURE;
            }
        }
    }
    let cpus = affinity::cpus().unwrap_or_default();
    let _pinned = cpus.last().and_then(|cpu| affinity::pin(*cpu).ok());
    if csv {
        print!("{}", catalogue::measure().to_csv());
        return ExitCode::SUCCESS;
    }
    for cpu in &cpus {
        println!(
            "Processor #{cpu} model name: {}",
            machine().cpu.as_deref().unwrap_or("not known")
        );
    }
    println!("Beginning measurement...\n");
    println!(
        "{:<12} {:>9} {:>16} {:>18}",
        "", "latency", "per instruction", "instmeas, W-2135"
    );
    for (listing, name, operands, then) in LISTINGS {
        let timing =
            catalogue::find(name, operands).map(tsc_runtime::instruction::Instruction::measure);
        match timing {
            Some(Ok(timing)) => {
                let figure = |it: Option<tsc_runtime::instruction::Estimate>| {
                    it.map_or_else(|| "-".to_owned(), |it| format!("{:.2}", it.cycles()))
                };
                println!(
                    "{listing:<12} {:>9} {:>16} {then:>18.2}",
                    figure(timing.latency()),
                    figure(timing.throughput())
                );
            }
            Some(Err(reason)) => println!("{listing:<12} skipped: {reason}"),
            None => println!("{listing:<12} not in the catalogue"),
        }
    }
    println!("\nFinished measurement!");
    if all {
        println!("\n{}", catalogue::measure());
    }
    ExitCode::SUCCESS
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the instructions are x86-64's");
}

//! PROFILE's two tables: 0 … 18 NOPs and a RET, and a loop of LEA, DEC and JNZ by its turns.
//!
//! `cargo run --release -p examples --bin profile_table`

#[cfg(target_arch = "x86_64")]
fn main() -> Result<(), tsc_runtime::instruction::InstructionError> {
    use examples::routines::{TURNS, costs, knee};
    use tsc_runtime::affinity;
    use tsc_runtime::instruction::catalogue;

    /// A mispredicted branch costs more than this on every core of the last twenty years.
    const PENALTY: f64 = 6.0;

    let _pinned = affinity::cpus()
        .ok()
        .and_then(|cpus| affinity::pin(*cpus.last()?).ok());
    let cycles = |instruction: &tsc_runtime::instruction::Instruction| {
        instruction
            .measure()
            .map(|timing| timing.throughput().map_or(f64::NAN, |it| it.cycles()))
    };

    println!("core cycles of a call, without the empty one's");
    println!("NOPs   in a stream   added   one after the other");
    let rows = costs()?;
    let empty = rows[0];
    for (k, [alone, stream]) in rows.iter().enumerate() {
        let added = if k == 0 {
            "-".to_owned()
        } else {
            format!("{:.3}", stream - rows[k - 1][1])
        };
        println!(
            "{k:>4} {:>13.3} {added:>7} {:>21.2}",
            stream - empty[1],
            alone - empty[0]
        );
    }
    println!(
        "the empty call: {:.2} in a stream, {:.2} one after the other",
        empty[1], empty[0]
    );
    if let Some(nop) = catalogue::find("nop", "1 byte") {
        println!("the catalogue's nop: {:.3}", cycles(nop)?);
    }

    println!("\ncore cycles of a call of LEA, DEC, JNZ");
    println!("turns    cycles   a turn");
    let mut turns = Vec::new();
    for (count, instruction) in &TURNS {
        turns.push((*count, cycles(instruction)?));
    }
    let knee = knee(&turns, PENALTY);
    for (count, cycles) in &turns {
        let mark = if Some(*count) == knee {
            "   <== the end is no longer foreseen"
        } else {
            ""
        };
        println!(
            "{count:>5} {cycles:>9.2} {:>8.3}{mark}",
            cycles / f64::from(*count)
        );
    }
    match knee {
        Some(count) => println!("knee at {count} turns"),
        None => println!("no knee up to {} turns", TURNS[TURNS.len() - 1].0),
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the routines are x86-64's");
}

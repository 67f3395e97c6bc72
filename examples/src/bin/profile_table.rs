//! PROFILE's two tables: 0 … 18 NOPs and a RET, and a loop of DEC and JNZ by its number of iterations.
//!
//! `cargo run --release -p examples --bin profile_table`

use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Outcome};

const EXAMPLE: Example = Example {
    name: "profile_table",
    about: "Measures the routines of PROFILE v2.0 (Fabio Bizzetti, 2002): NOPs and a RET, and LEA R,[n]; L: DEC R; JNZ L; RET,\n\
            and shows PROFILE's own figures for a Pentium and an Athlon beside them.",
    flags: &[],
};

fn main() -> ExitCode {
    EXAMPLE.run(|_, out| tables::print(out))
}

#[cfg(all(target_arch = "x86_64", not(any(windows, target_vendor = "apple"))))]
mod tables {
    use std::arch::x86_64::__cpuid;

    use super::{Outcome, Write};
    use examples::catalogue;
    use examples::routines::{
        Cost, LONG, Way, costs, each_nop, excess, is_visible, knee, profile, turns,
    };
    use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

    /// A mispredicted branch costs more than this on every core of the last twenty years.
    const PENALTY: f64 = 6.0;
    /// The rows of PROFILE's tables, which have 0 or 1 to 18 NOPs or turns.
    const PROFILES: u32 = 18;

    pub(super) fn print(out: &mut dyn Write) -> Outcome {
        let _pinned = examples::stay_on_one_cpu();
        print_cpuid(out)?;
        let ret = print_nops(out)?;
        writeln!(out)?;
        print_turns(out, ret)
    }

    /// PROFILE's text says that CPUID has different execution times the first two times it is executed.
    fn print_cpuid(out: &mut dyn Write) -> Outcome {
        let ticks: [i64; 6] = std::array::from_fn(|_| {
            let start = Lfence::start();
            std::hint::black_box(__cpuid(0));
            elapsed(start, Lfence::stop())
        });
        let ticks = ticks.map(|ticks| ticks.to_string());
        Ok(writeln!(
            out,
            "CPUID, six times in a row, ticks: {}\n",
            ticks.join(" ")
        )?)
    }

    /// Returns the core cycles of a call of just a RET, one after the other.
    fn print_nops(out: &mut dyn Write) -> Result<f64, Box<dyn std::error::Error>> {
        writeln!(out, "k NOPs and a RET, the RET's cost subtracted\n")?;
        let rows = costs()?;
        let empty = rows[0].1.map(|cost| cost.cycles);
        writeln!(
            out,
            "      {:^20} {:^67}",
            "PROFILE's, cycles", "here, core cycles"
        )?;
        writeln!(
            out,
            "NOPs    Pentium   Athlon   between fences   in a stream   one after the other   PUSH, NOPs, POP"
        )?;
        let net = |costs: &[Cost; Way::ALL.len()], way: usize| costs[way].cycles - empty[way];
        for (k, costs) in &rows {
            let [pentium, athlon] = row_of(&profile::NOPS, *k as usize);
            writeln!(
                out,
                "{k:>4} {pentium:>10} {athlon:>8} {:>16.2} {:>13.2} {:>21.2} {:>17.2}",
                net(costs, 0),
                net(costs, 1),
                net(costs, 2),
                net(costs, 3)
            )?;
        }
        writeln!(
            out,
            "just a RET: {:.2} core cycles between fences, {:.2} in a stream, {:.2} one after the other; PUSH and POP: {:.2}",
            empty[0], empty[1], empty[2], empty[3]
        )?;
        print_repairs(out, rows.iter().flat_map(|(_, costs)| costs))?;
        let Some(nop) = catalogue::find("nop", "1 byte") else {
            return Ok(empty[2]);
        };
        let nop = nop
            .measure()?
            .throughput()
            .map_or(f64::NAN, |it| it.cycles());
        writeln!(
            out,
            "the catalogue's nop: {nop:.3} core cycles, {:.1} in a cycle\n",
            1.0 / nop
        )?;
        for (way, name) in ["between fences", "in a stream", "one after the other"]
            .into_iter()
            .enumerate()
        {
            let column: Vec<(u32, f64)> = rows
                .iter()
                .map(|(k, costs)| (*k, net(costs, way)))
                .collect();
            print_visibility(out, name, &column, nop)?;
        }
        writeln!(
            out,
            "CALL and RET, one after the other, take as long as {:.0} NOPs, which this core can execute meanwhile",
            empty[2] / nop
        )?;
        Ok(empty[2])
    }

    /// Says whether the column shows that each NOP costs time.
    fn print_visibility(
        out: &mut dyn Write,
        name: &str,
        column: &[(u32, f64)],
        nop: f64,
    ) -> Outcome {
        let of = |nops: u32| {
            column
                .iter()
                .find(|row| row.0 == nops)
                .map_or(f64::NAN, |row| row.1)
        };
        let shown: Vec<f64> = column
            .iter()
            .filter(|row| row.0 <= PROFILES)
            .map(|row| row.1)
            .collect();
        let short = if is_visible(&shown, nop) {
            format!("visible, 18 NOPs cost {:.2}", of(PROFILES))
        } else {
            "hidden or not monotone up to 18 NOPs".to_owned()
        };
        Ok(writeln!(
            out,
            "{name:<20} {short}; from {} to {} NOPs, each costs {:.3}, by the median of the rows",
            LONG.start(),
            LONG.end(),
            each_nop(column)
        )?)
    }

    /// How many rounds were disturbed: PROFILE detects and repairs such results, too.
    fn print_repairs<'a>(
        out: &mut dyn Write,
        costs: impl Iterator<Item = &'a Cost> + Clone,
    ) -> Outcome {
        let dropped: usize = costs.clone().map(|cost| cost.dropped).sum();
        let rounds: usize = costs.map(|cost| cost.rounds).sum();
        Ok(writeln!(
            out,
            "repaired: {dropped} of {} rounds were disturbed and left out",
            dropped + rounds
        )?)
    }

    /// PROFILE's figures for a row, or nothing.
    fn row_of(table: &[[u32; 2]], row: usize) -> [String; 2] {
        table
            .get(row)
            .map_or_else(Default::default, |row| row.map(|cycles| cycles.to_string()))
    }

    fn print_turns(out: &mut dyn Write, ret: f64) -> Outcome {
        writeln!(
            out,
            "LEA R,[n]; L: DEC R; JNZ L; RET, by n, the turns of the loop, the RET's cost subtracted\n"
        )?;
        let costs = turns()?;
        let here: Vec<(u32, f64)> = costs
            .iter()
            .map(|(turns, cost)| (*turns, cost.cycles - ret))
            .collect();
        writeln!(
            out,
            "      {:^20} {:^26}",
            "PROFILE's, cycles", "here, core cycles"
        )?;
        writeln!(out, "turns   Pentium   Athlon        a call   above line")?;
        let column = |cpu: usize| -> Vec<(u32, f64)> {
            (1..)
                .zip(profile::TURNS)
                .map(|(turns, cycles)| (turns, f64::from(cycles[cpu])))
                .collect()
        };
        let knees = [
            ("Pentium", knee(&column(0), PENALTY)),
            ("Athlon", knee(&column(1), PENALTY)),
            ("this CPU", knee(&here, PENALTY)),
        ];
        let first = here.partition_point(|row| row.0 <= PROFILES);
        let above = excess(&here[..first], &here);
        for (i, ((turns, cycles), above)) in here.iter().zip(above).enumerate() {
            let [pentium, athlon] = row_of(&profile::TURNS, i);
            let mut marks: Vec<String> = knees
                .iter()
                .filter(|(_, knee)| *knee == Some(*turns))
                .map(|(cpu, _)| format!("<== knee: {cpu}"))
                .collect();
            if *turns == PROFILES {
                marks.push("PROFILE: on the Athlon then in steps of 2 cycles".to_owned());
            }
            let line = format!(
                "{turns:>5} {pentium:>9} {athlon:>8} {cycles:>13.2} {above:>12.2}   {}",
                marks.join("; ")
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        print_repairs(out, costs.iter().map(|(_, cost)| cost))?;
        writeln!(
            out,
            "above line: above the line through the rows of 1 to {PROFILES} turns, by medians\n\
             knee: the first row that is {PENALTY:.0} cycles or more above the line through the rows before it, as are three of four from it on"
        )?;
        for (cpu, knee) in knees {
            match knee {
                Some(turns) => writeln!(
                    out,
                    "{cpu}: the loop's end is no longer predicted from {turns} turns on"
                )?,
                None => writeln!(
                    out,
                    "{cpu}: no knee up to {} turns",
                    here.last().map_or(0, |(turns, _)| *turns)
                )?,
            }
        }
        Ok(())
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(windows, target_vendor = "apple")))))]
mod tables {
    use super::{Outcome, Write};

    pub(super) fn print(out: &mut dyn Write) -> Outcome {
        Ok(writeln!(out, "the routines are x86-64's")?)
    }
}

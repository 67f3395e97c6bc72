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
    use super::{Outcome, Write};
    use examples::routines::{costs, knee, profile, turns};
    use tsc_runtime::instruction::{Instruction, InstructionError, catalogue};

    /// A mispredicted branch costs more than this on every core of the last twenty years.
    const PENALTY: f64 = 6.0;

    pub(super) fn print(out: &mut dyn Write) -> Outcome {
        let _pinned = examples::stay_on_one_cpu();
        print_nops(out)?;
        writeln!(out)?;
        print_turns(out)
    }

    fn print_nops(out: &mut dyn Write) -> Outcome {
        writeln!(out, "k NOPs and a RET, the RET's cost subtracted\n")?;
        let rows = costs()?;
        let empty = rows[0];
        writeln!(
            out,
            "      {:^20} {:^50}",
            "PROFILE's, cycles", "here, core cycles"
        )?;
        writeln!(
            out,
            "NOPs    Pentium   Athlon       in a stream      added   one after the other"
        )?;
        for (k, [alone, stream]) in rows.iter().enumerate() {
            let added = if k == 0 {
                "-".to_owned()
            } else {
                format!("{:.3}", stream - rows[k - 1][1])
            };
            let [pentium, athlon] = profile::NOPS[k];
            writeln!(
                out,
                "{k:>4} {pentium:>10} {athlon:>8} {:>17.3} {added:>10} {:>21.2}",
                stream - empty[1],
                alone - empty[0]
            )?;
        }
        writeln!(
            out,
            "a call of just a RET: {:.2} core cycles in a stream, {:.2} one after the other",
            empty[1], empty[0]
        )?;
        if let Some(nop) = catalogue::find("nop", "1 byte") {
            writeln!(out, "the catalogue's nop: {:.3} core cycles", cycles(nop)?)?;
        }
        Ok(())
    }

    fn print_turns(out: &mut dyn Write) -> Outcome {
        writeln!(
            out,
            "LEA R,[n]; L: DEC R; JNZ L; RET, by n, the turns of the loop\n"
        )?;
        let here = turns()?;
        writeln!(
            out,
            "      {:^20} {:^24}",
            "PROFILE's, cycles", "here, core cycles"
        )?;
        writeln!(out, "turns   Pentium   Athlon        a call     a turn")?;
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
        for (i, (turns, cycles)) in here.iter().enumerate() {
            let [pentium, athlon] = profile::TURNS.get(i).map_or_else(
                || ["", ""].map(str::to_owned),
                |cycles| cycles.map(|cycles| cycles.to_string()),
            );
            let at: Vec<&str> = knees
                .iter()
                .filter(|(_, knee)| *knee == Some(*turns))
                .map(|(cpu, _)| *cpu)
                .collect();
            let mark = if at.is_empty() {
                String::new()
            } else {
                format!("   <== knee: {}", at.join(", "))
            };
            writeln!(
                out,
                "{turns:>5} {pentium:>9} {athlon:>8} {cycles:>13.2} {:>10.3}{mark}",
                cycles / f64::from(*turns)
            )?;
        }
        for (cpu, knee) in knees {
            match knee {
                Some(turns) => writeln!(
                    out,
                    "{cpu}: the loop's end is no longer predicted from {turns} turns on"
                )?,
                None => writeln!(
                    out,
                    "{cpu}: the loop's end is foreseen up to {} turns",
                    here.last().map_or(0, |(turns, _)| *turns)
                )?,
            }
        }
        Ok(())
    }

    fn cycles(instruction: &Instruction) -> Result<f64, InstructionError> {
        let timing = instruction.measure()?;
        Ok(timing.throughput().map_or(f64::NAN, |it| it.cycles()))
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(windows, target_vendor = "apple")))))]
mod tables {
    use super::{Outcome, Write};

    pub(super) fn print(out: &mut dyn Write) -> Outcome {
        Ok(writeln!(out, "the routines are x86-64's")?)
    }
}

//! Compares the catalogue with a table of instructions that others have measured.

use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

use examples::catalogue::{self, Row};
use tsc_runtime::instruction::microarchitecture;
use tsc_runtime::machine::machine;

use super::Check;

/// InstLatx64's figures for some cores, with their source in the last column.
const TABLE: &str = include_str!("instructions.csv");
const SHARE: f64 = 0.015;
const CYCLES: f64 = 0.03;

/// For how long rows that differ are measured again: another thread of the same core, which another machine may use, makes instructions
/// dearer for seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two measurements of such a row.
const PAUSE: Duration = Duration::from_secs(1);

/// What the table calls an instruction where the catalogue, which has more of them, must say which it means.
const ALIASES: &[(&str, &str, &str, &str)] = &[
    ("nop", "", "nop", "1 byte"),
    ("sub", "r64,r64", "sub", "r64,r64 same"),
    ("xor", "r64,r64", "xor", "r64,r64 same"),
];

/// A figure of a core that the table has otherwise: name, operands, core, what it is here, and why.
type Explanation = (
    &'static str,
    &'static str,
    &'static str,
    RangeInclusive<f64>,
    &'static str,
);

const EXPLANATIONS: &[Explanation] = &[
    (
        "lea",
        "r64,[r64+r64*8+disp8]",
        "ZEN5",
        0.41..=0.51,
        "it depends on the registers: see the row `(to itself)`",
    ),
    (
        "add",
        "[m64],r64",
        "ZEN5",
        0.49..=0.93,
        "it depends on the operands and their number: see the row `[m64],imm8`",
    ),
    (
        "div",
        "r64 128/64b full",
        "ZEN5",
        12.8..=13.5,
        "it depends on the instructions that load the operands",
    ),
    (
        "idiv",
        "r64 126/63b full",
        "ZEN5",
        12.8..=13.5,
        "it depends on the instructions that load the operands",
    ),
    (
        "lock add",
        "[m64],r64",
        "ZEN5",
        19.9..=20.1,
        "the table's whole latencies are 0.3 to 0.7 % too low, and its figures of this row differ by more: 18.34 and 17.016 of one core (RWC)",
    ),
    (
        "add",
        "[m64],r64",
        "ZEN4",
        0.79..=0.87,
        "it depends on how many words there are: see the row `eight words`",
    ),
    (
        "divsd",
        "xmm,xmm",
        "ZEN4",
        4.95..=5.05,
        "InstLatx64 has 4.941, and 5.000 for vdivsd, of a Threadripper with this core (A10F81)",
    ),
    (
        "lfence",
        "",
        "ZEN4",
        16.9..=17.1,
        "inferred, not shown: each published 10 is of older microcode than hosts have (0A101121, 0A108105, 0A601203), and 0.20 and 17.00 are published of one stepping of Zen (810F10)",
    ),
    (
        "add",
        "[m64],r64",
        "ZEN3",
        0.79..=0.87,
        "it depends on how many words there are: see the row `eight words`",
    ),
    (
        "divsd",
        "xmm,xmm",
        "ZEN3",
        4.45..=4.55,
        "InstLatx64 has 4.500 of a later stepping of this core (A20F12), and so has GCC's model of it",
    ),
    (
        "add",
        "[m64],r64",
        "ZEN3",
        7.92..=8.16,
        "InstLatx64 has 8.04 of a later stepping of this core (A20F12)",
    ),
    (
        "mfence",
        "",
        "ZEN3",
        60.2..=62.2,
        "InstLatx64 has 61.15 and 61.251 of a later stepping of this core (A20F12)",
    ),
    (
        "add",
        "[m64],r64",
        "GLC",
        0.76..=0.87,
        "it depends on how many words there are: see the row `eight words`",
    ),
    (
        "cmovnz",
        "r64,r64",
        "GLC",
        0.49..=1.01,
        "uops.info has 0.50 in a loop and 1.00 in code without one, which is decoded each time, of this core (Alder Lake-P): it depends on how much is decoded again",
    ),
    (
        "cmovnz",
        "r64,r64",
        "GLC",
        1.03..=1.09,
        "inferred: only one of this core's decoders takes it (uops.info, Alder Lake-P), so each turn of the loop takes some cycles more",
    ),
    (
        "rdtsc",
        "",
        "GLC",
        44.0..=48.0,
        "in a virtual machine it may also multiply and add (Intel, Software Developer's Manual 3C, `use TSC scaling`)",
    ),
    (
        "lfence",
        "",
        "GLC",
        12.0..=13.1,
        "inferred: it takes 12 or 13 cycles by turns; InstLatx64 has 12.11 and 12.37 of another processor with this core (D0670)",
    ),
    (
        "mfence",
        "",
        "ZEN5",
        75.0..=85.0,
        "it has several values: 81.66 and 83.42 in the table, 76.2 and 79.1 here in turn, whatever the core's clock",
    ),
];

/// Cores in the order in which they are one another's nearest relatives, the host's own first.
fn relatives(core: &str) -> &'static [&'static str] {
    match core {
        "RWC" => &["RWC", "GLC", "ICX"],
        "GLC" => &["GLC", "RWC", "ICX"],
        "ICX" => &["ICX"],
        "SKL" | "SKX" => &["SKL"],
        "ZEN5" => &["ZEN5", "ZEN4"],
        "ZEN4" => &["ZEN4"],
        "ZEN3" => &["ZEN3"],
        _ => &[],
    }
}

/// A row of the table: name, operands, core, latency, reciprocal throughput.
type Entry = (String, String, String, Option<Figure>, Option<Figure>);

/// A figure and half a unit of its last digit.
#[derive(Clone, Copy)]
struct Figure {
    cycles: f64,
    rounding: f64,
}

pub(crate) fn time() -> Check {
    let started = Instant::now();
    let rows: Vec<Row> = catalogue::instructions().map(Row::of).collect();
    let seconds = started.elapsed().as_secs_f64();
    let measured = rows.iter().filter(|row| row.outcome.is_ok()).count();
    Check {
        must: "at least 60 instructions in less than 60 s",
        measured: format!("{measured} of {} in {seconds:.1} s", rows.len()),
        holds: Some(seconds < 60.0 && measured >= 60),
        details: Vec::new(),
    }
}

pub(crate) fn against_table(file: Option<&str>) -> Check {
    let must = "95 % of the rows of this core within 1.5 % or 0.03 cycles, and the table's rounding, or the others for a known reason";
    let failed = |measured: String| Check {
        must,
        measured,
        holds: Some(false),
        details: Vec::new(),
    };
    let text = match file.map(std::fs::read_to_string).transpose() {
        Ok(text) => text.unwrap_or_else(|| TABLE.to_owned()),
        Err(why) => return failed(format!("{}: {why}", file.unwrap_or_default())),
    };
    let entries: Vec<Entry> = text.lines().skip(1).filter_map(entry).collect();
    let Some(core) = microarchitecture() else {
        return failed("a core that is not known here".to_owned());
    };
    let Some(relative) = relatives(core)
        .iter()
        .find(|name| entries.iter().any(|entry| entry.2 == **name))
    else {
        return failed(format!("the table has no rows for {core}"));
    };
    let rows: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.2 == *relative)
        .collect();
    let (compared, again) = compare_patiently(&rows, core);
    let count = |kind: fn(&Compared) -> bool| compared.iter().filter(|it| kind(it)).count();
    let near = count(|it| matches!(it, Compared::Near));
    let explained = count(|it| matches!(it, Compared::Explained(_)));
    let all = near + explained + count(|it| matches!(it, Compared::Unexplained(_)));
    let share = 100.0 * near as f64 / all.max(1) as f64;
    let details = std::iter::zip(&rows, compared)
        .flat_map(|((name, operands, ..), it)| {
            let lines = it.into_lines().into_iter();
            lines.map(move |line| format!("{name} {operands}: {line}"))
        })
        .collect();
    let kin = if *relative == core {
        String::new()
    } else {
        ", its nearest relative in the table".to_owned()
    };
    Check {
        must,
        measured: format!(
            "{core} against {relative}{kin}: {near} of {all} rows, {share:.1} %; {explained} others for a known reason; {again} measured again"
        ),
        holds: (*relative == core).then_some(share >= 95.0 || near + explained == all),
        details,
    }
}

/// Why the table has another figure, if `ours` is what is known for this core.
fn explanation(name: &str, operands: &str, core: &str, ours: f64) -> Option<&'static str> {
    EXPLANATIONS
        .iter()
        .find(|of| (of.0, of.1, of.2) == (name, operands, core) && of.3.contains(&ours))
        .map(|of| of.4)
}

/// Why the table's row and the catalogue's do not mean the same here.
fn incomparable(name: &str) -> Option<&'static str> {
    let is_virtual = machine().virtualized() == Some(true);
    match name {
        "cpuid" if is_virtual => Some("it leaves the virtual machine"),
        "pause" if is_virtual => Some(
            "in a virtual machine it may also count for the hypervisor, which ends long waits for a lock",
        ),
        "mov+mov" => Some(
            "it depends on the addresses, which the table does not have: a core renames memory only for some",
        ),
        _ => None,
    }
}

/// How a row here compares with the table's.
enum Compared {
    Near,
    /// What differs, each with the reason.
    Explained(Vec<String>),
    /// What differs, in part for no known reason.
    Unexplained(Vec<String>),
    /// Why there is no figure.
    Unmeasured(String),
    /// Why there is nothing to compare.
    Incomparable(&'static str),
}

impl Compared {
    fn into_lines(self) -> Vec<String> {
        match self {
            Self::Near => Vec::new(),
            Self::Explained(lines) | Self::Unexplained(lines) => lines,
            Self::Unmeasured(why) => vec![format!("not compared, {why}")],
            Self::Incomparable(why) => vec![format!("not compared, {why}")],
        }
    }
}

/// Compares each row, and measures again those that differ for no known reason, while there is patience. Returns how many those were, too.
fn compare_patiently(rows: &[&Entry], core: &str) -> (Vec<Compared>, usize) {
    let started = Instant::now();
    let mut compared: Vec<Compared> = rows.iter().map(|row| compare(row, core)).collect();
    let mut again = None;
    loop {
        let mut differ: Vec<_> = std::iter::zip(rows, &mut compared)
            .filter(|(_, it)| matches!(it, Compared::Unexplained(_) | Compared::Unmeasured(_)))
            .collect();
        let again = *again.get_or_insert(differ.len());
        if differ.is_empty() || started.elapsed() > PATIENCE {
            return (compared, again);
        }
        thread::sleep(PAUSE);
        for (row, it) in &mut differ {
            **it = compare(row, core);
        }
    }
}

/// Measures the instruction of a row and compares its figures.
fn compare((name, operands, _, latency, throughput): &Entry, core: &str) -> Compared {
    let alias = ALIASES
        .iter()
        .find(|alias| (alias.0, alias.1) == (name.as_str(), operands.as_str()));
    let ours = alias.map_or((name.as_str(), operands.as_str()), |it| (it.2, it.3));
    if let Some(why) = incomparable(ours.0) {
        return Compared::Incomparable(why);
    }
    let Some(instruction) = catalogue::find(ours.0, ours.1) else {
        return Compared::Incomparable("the catalogue has no row with these operands");
    };
    let timing = match instruction.measure() {
        Ok(timing) => timing,
        Err(why) => return Compared::Unmeasured(why.to_string()),
    };
    // A division listed with the same figure twice was chained in both columns.
    let chained = name.ends_with("div")
        && latency
            .zip(*throughput)
            .is_some_and(|(a, b)| (a.cycles / b.cycles - 1.0).abs() < 0.02);
    let throughput = throughput.filter(|_| !chained);
    let pairs = [
        ("latency", *latency, timing.latency()),
        ("per instruction", throughput, timing.throughput()),
    ];
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter_map(|(what, table, ours)| Some((what, table?, ours?.cycles())))
        .collect();
    if pairs.is_empty() {
        return Compared::Incomparable("no figure in common");
    }
    let wrong = pairs.iter().filter(|(_, table, ours)| {
        (ours - table.cycles).abs() > CYCLES.max(SHARE * table.cycles) + table.rounding
    });
    let (mut lines, mut all_explained) = (Vec::new(), true);
    for (what, table, ours) in wrong {
        let why = explanation(name, operands, core, *ours);
        all_explained &= why.is_some();
        lines.push(format!(
            "{what} {ours:.3}, the table has {}; {}",
            table.cycles,
            why.unwrap_or("not known why")
        ));
    }
    match (lines.is_empty(), all_explained) {
        (true, _) => Compared::Near,
        (false, true) => Compared::Explained(lines),
        (false, false) => Compared::Unexplained(lines),
    }
}

fn entry(line: &str) -> Option<Entry> {
    let fields = fields(line);
    let [name, operands, core, latency, throughput, ..] = &fields[..] else {
        return None;
    };
    Some((
        name.clone(),
        operands.clone(),
        core.clone(),
        figure(latency),
        figure(throughput),
    ))
}

fn figure(text: &str) -> Option<Figure> {
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len() as i32);
    Some(Figure {
        cycles: text.parse().ok()?,
        rounding: 0.5 * 10_f64.powi(-decimals),
    })
}

/// The fields of a line of CSV, of which some are quoted.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields
                .last_mut()
                .expect("there is a first field")
                .push(character),
        }
    }
    fields
}

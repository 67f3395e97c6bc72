//! Measures `strlen` until its cost is constant, and compares six implementations of it.
//!
//! `cargo run --release -p examples --bin strlen`

mod constant;
mod implementations;

use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Outcome};
use implementations::{cstr, libc, naive, position, words};
use tsc_runtime::compare::Compare;
use tsc_runtime::measure::Measure;
use tsc_runtime::{gclk, resolution, start, stop, tsc};

const EXAMPLE: Example = Example {
    name: "strlen",
    about: "Repeats strlen until its ticks are constant, as \"Performance measurements with RDTSC\" (strchr.com) did;\n\
            shows the GCLK macro of that page; and compares six implementations.",
    flags: &[],
};

/// The article's run, with its marks.
const ARTICLE: [(i64, &str); 11] = [
    (1489, "<== cache warm-up"),
    (1041, ""),
    (1041, ""),
    (1034, ""),
    (1013, ""),
    (1019, "<== constant"),
    (1019, ""),
    (1019, ""),
    (1019, ""),
    (1019, ""),
    (1019, ""),
];

fn main() -> ExitCode {
    EXAMPLE.run(|_, out| {
        tsc::detect()?;
        let _pinned = examples::stay_on_one_cpu();
        let thousand = text(1000);
        one_call_at_a_time(out, &thousand)?;
        by_gclk(out, &thousand)?;
        to_a_constant(out, &thousand)?;
        side_by_side(out)
    })
}

/// This many bytes and a NUL.
fn text(length: usize) -> Vec<u8> {
    std::iter::repeat_n(b'x', length).chain([0]).collect()
}

/// Like the article: eleven calls, each between two reads of the counter, beside the article's own run.
fn one_call_at_a_time(out: &mut dyn Write, thousand: &[u8]) -> Outcome {
    let single = |strlen: fn(&[u8]) -> usize| -> [i64; ARTICLE.len()] {
        std::array::from_fn(|_| {
            let call = start!("strlen");
            tsc::escape(&strlen(thousand));
            stop!(call).map_or(0, |ticks| ticks.round() as i64)
        })
    };
    let columns = [single(libc), single(naive)];
    tsc_runtime::reset();
    let step = resolution::ticks() as i64;

    writeln!(
        out,
        "One call at a time, ticks. The article's run includes its overhead of 150 to 200; from ours it is subtracted.\n"
    )?;
    writeln!(
        out,
        "{:<33}{:<35}a byte at a time, here",
        "the article's strlen", "the C library's, here"
    )?;
    for (call, (ticks, remark)) in ARTICLE.into_iter().enumerate() {
        write!(out, "strlen: {ticks:>4} {remark:<20}")?;
        for column in &columns {
            let remark = constant::mark(column, constant::begin(column, step), call);
            write!(out, "strlen: {:>6} {remark:<20}", column[call])?;
        }
        writeln!(out)?;
    }
    let result = |column: &[i64]| {
        constant::begin(column, step).map_or_else(
            || "not constant".to_owned(),
            |begin| constant::median(&column[begin..]).to_string(),
        )
    };
    writeln!(
        out,
        "result: {:>4} {:<20}result: {:>6} {:<20}result: {:>6}\n",
        1019,
        "",
        result(&columns[0]),
        "",
        result(&columns[1])
    )?;
    Ok(())
}

/// The macro from a comment below the article: it prints a line for each statement at once.
fn by_gclk(out: &mut dyn Write, thousand: &[u8]) -> Outcome {
    writeln!(
        out,
        "GCLK, a statement at a time; the first one executes this code for the first time:\n"
    )?;
    out.flush()?;
    tsc_runtime::gclk_to(std::io::stdout());
    for _ in 0..4 {
        gclk!(let length = libc(thousand));
        tsc::escape(&length);
    }
    gclk!(tsc::escape(&libc(thousand)); tsc::escape(&naive(thousand)););
    tsc_runtime::gclk_to(std::io::stderr());
    writeln!(out)?;
    Ok(())
}

fn to_a_constant(out: &mut dyn Write, thousand: &[u8]) -> Outcome {
    writeln!(
        out,
        "measure() repeats until the cost is constant and its mean is known to 1 %; from each call on, the empty one is subtracted:\n"
    )?;
    for (name, strlen) in [("strlen", libc as fn(&[u8]) -> usize), ("naive", naive)] {
        write!(
            out,
            "{}",
            Measure::new(name).bytes(1000).run(|| strlen(thousand))
        )?;
    }
    Ok(())
}

fn side_by_side(out: &mut dyn Write) -> Outcome {
    writeln!(out, "\nside by side, over 1 ... 4000 bytes:\n")?;
    let texts: Vec<Vec<u8>> = [1, 7, 16, 60, 250, 1000, 4000].map(text).to_vec();
    let comparison = Compare::new("strlen", &texts)
        .add("libc", |text| libc(text))
        .add("a byte at a time", |text| naive(text))
        .add("iter().position", |text| position(text))
        .add("CStr", |text| cstr(text))
        .add("eight bytes at a time", |text| words(text));
    #[cfg(target_arch = "x86_64")]
    let comparison = comparison.add("SSE2", |text| implementations::sse2(text));
    writeln!(out, "{}", comparison.check().run()?)?;
    Ok(())
}

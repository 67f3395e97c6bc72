//! Measures `strlen` until its cost is constant, and compares six implementations of it.
//!
//! `cargo run --release -p examples --bin strlen`

mod implementations;

use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Outcome};
use implementations::{cstr, libc, naive, position, words};
use tsc_runtime::compare::Compare;
use tsc_runtime::measure::{Constant, Measure, constant};
use tsc_runtime::{gclk, start, stop, tsc};

const EXAMPLE: Example = Example {
    name: "strlen",
    about: "Repeats strlen until its ticks are constant, as \"Performance measurements with RDTSC\" (strchr.com) did;\n\
            shows the GCLK macro of that page; and compares six implementations.",
    flags: &[],
};

const CONSTANT: &str = "<== constant performance is reached";

/// The number of calls of which the article's table shows the first ones. A single reading is off by up to a step of the counter, and the
/// mean of so many by little.
const CALLS: usize = 1000;

/// The article's run, with its marks.
const ARTICLE: [(i64, &str); 11] = [
    (1489, "<== cache warm-up"),
    (1041, ""),
    (1041, ""),
    (1034, ""),
    (1013, ""),
    (1019, CONSTANT),
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
        let mut thousand = Text([b'x'; 1001]);
        thousand.0[1000] = 0;
        let thousand = &thousand.0;
        one_call_at_a_time(out, thousand)?;
        by_gclk(out, thousand)?;
        to_a_constant(out, thousand)?;
        side_by_side(out)
    })
}

/// Room for a text that begins at a cache line: where it begins changes what strlen costs.
#[repr(align(64))]
struct Text([u8; 1001]);

/// This many bytes and a NUL.
fn text(length: usize) -> Vec<u8> {
    std::iter::repeat_n(b'x', length).chain([0]).collect()
}

/// Like the article: calls one by one, each between two reads of the counter, beside the article's own run.
fn one_call_at_a_time(out: &mut dyn Write, thousand: &[u8]) -> Outcome {
    let single = |strlen: fn(&[u8]) -> usize| -> Vec<f64> {
        (0..CALLS)
            .filter_map(|_| {
                let call = start!("strlen");
                tsc::escape(&strlen(thousand));
                stop!(call)
            })
            .collect()
    };
    let columns = [single(libc), single(naive)];
    tsc_runtime::reset();
    let constants = columns.each_ref().map(|calls| constant(calls));

    writeln!(
        out,
        "One call at a time, ticks. The article's run includes its overhead of 150 to 200; from ours it is subtracted.\n"
    )?;
    writeln!(
        out,
        "{:<50}{:<50}a byte at a time, here",
        "the article's strlen", "the C library's, here"
    )?;
    for (call, (ticks, remark)) in ARTICLE.into_iter().enumerate() {
        write!(out, "strlen: {ticks:>4} {remark:<37}")?;
        let [libc, naive] = [0, 1].map(|column| {
            let remark = mark(&columns[column], constants[column], call);
            format!("strlen: {:>5.0} {remark:<36}", columns[column][call])
        });
        writeln!(out, "{libc}{}", naive.trim_end())?;
    }
    let [libc, naive] = constants.map(|constant| match constant {
        Some(it) => format!(
            "result: {:>5.1} ± {:.1}, {} of {CALLS} calls",
            it.ticks(),
            it.plus_minus(),
            it.calls()
        ),
        None => "result: not constant".to_owned(),
    });
    writeln!(out, "result: {:>4} {:<37}{libc:<50}{naive}\n", 1019, "")?;
    Ok(())
}

/// The mark after the call with this index, as in the article.
fn mark(calls: &[f64], constant: Option<Constant>, call: usize) -> &'static str {
    if constant.is_some_and(|constant| constant.begin() == call) {
        CONSTANT
    } else if call == 0
        && calls[1..ARTICLE.len()]
            .iter()
            .all(|later| *later < calls[0])
    {
        "<== cache warm-up"
    } else {
        ""
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_call_is_marked_only_if_it_was_slow() {
        let article = ARTICLE.map(|(ticks, _)| ticks as f64);
        assert_eq!(mark(&article, None, 0), "<== cache warm-up");
        assert_eq!(mark(&article, None, 2), "");
        let mut fast = article;
        fast[0] = 1.0;
        assert_eq!(mark(&fast, None, 0), "");
        let constant = constant(&[7.0; 11]);
        assert_eq!(mark(&article, constant, 0), CONSTANT);
    }
}

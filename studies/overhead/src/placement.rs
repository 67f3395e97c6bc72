//! Is all of the work measured whose result the caller may not need? The compiler would move it past the stop, or remove it.

use std::hint::black_box;

use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

use overhead::table::{heading, quartiles, row};

const CALLS: u32 = 2_000;

macro_rules! four_times {
    ($($code:tt)*) => { $($code)* $($code)* $($code)* $($code)* };
}

/// Work that has no effect except its result: a chain of 64 multiplications and additions. Not a loop, because the compiler moves single
/// instructions, but no loops.
#[inline(always)]
fn work(value: u64) -> u64 {
    let mut value = value as f64;
    four_times! { four_times! { four_times! { value = value * 1.001 + 0.5; } } }
    value.to_bits()
}

/// The same work, and a result of so many words of which only the last one depends on it. Without the attribute, it is inlined into its caller.
macro_rules! annotated {
    ($function:ident, $words:literal) => {
        #[cycles]
        #[inline]
        fn $function(value: u64) -> [u64; $words] {
            let mut words = [value; $words];
            words[$words - 1] = work(value);
            words
        }
    };
}
annotated!(one_word, 1);
annotated!(three_words, 3);
annotated!(eight_words, 8);
annotated!(nine_words, 9);

/// Ticks of the work alone.
fn true_ticks() -> f64 {
    let pair = |does_work: bool| {
        let value = black_box(3);
        let start = Lfence::start();
        black_box(if does_work { work(value) } else { value });
        elapsed(start, Lfence::stop()) as f64
    };
    pair(black_box(true)) - pair(black_box(false))
}

pub(crate) fn run() {
    tsc_runtime::reset();
    let is_needed = black_box(false);
    let mut truths = Vec::new();
    for call in 0..CALLS {
        let value = u64::from(black_box(call));
        macro_rules! call {
            ($($function:ident)*) => {
                $(
                    let words = $function(value);
                    if is_needed {
                        black_box(words[words.len() - 1]);
                    }
                )*
            };
        }
        call!(one_word three_words eight_words nine_words);
        truths.push(true_ticks());
    }
    let truth = quartiles(truths)[1];
    let report = tsc_runtime::snapshot();
    heading(
        "Work whose result is not used",
        &["what", "measured ÷ true time"],
    );
    for name in ["one_word", "three_words", "eight_words", "nine_words"] {
        let median = report
            .callsite(name)
            .and_then(|callsite| callsite.mean_ticks())
            .unwrap_or(f64::NAN);
        row(&[name.to_owned(), format!("{:.3}", median / truth)]);
    }
}

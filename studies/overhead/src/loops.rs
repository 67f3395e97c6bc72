//! Do loops in annotated functions take as long as without a probe? The compiler must know as much of the arguments: what is written to one slice
//! changes neither another nor the place of its elements.

use std::hint::black_box;

use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

use overhead::table::{heading, quartiles, row};

const ROUNDS: usize = 101;
const LEN: usize = 100_000;

/// What the loops work on. All three forms of a loop have the same, because its place in memory also matters.
struct Data {
    bytes: Vec<u8>,
    sums: Vec<f32>,
    values: Vec<f32>,
    words: Vec<u32>,
    at: usize,
    depth: usize,
}

macro_rules! loops {
    ($form:ident $(, $attribute:meta)?) => {
        mod $form {
            use super::*;

            $(#[$attribute])?
            #[inline(never)]
            pub(super) fn add(sums: &mut [f32], values: &[f32]) {
                for at in 0..sums.len().min(values.len()) {
                    sums[at] += values[at];
                }
            }

            $(#[$attribute])?
            #[inline(never)]
            pub(super) fn filter(sums: &mut [f32], values: &[f32], weights: [f32; 8]) {
                for (at, sum) in sums.iter_mut().enumerate().take(LEN - weights.len()) {
                    *sum = (0..weights.len()).map(|of| values[at + of] * weights[of]).sum();
                }
            }

            $(#[$attribute])?
            #[inline(never)]
            pub(super) fn push(data: &mut Data) {
                data.words.clear();
                for at in 0..data.bytes.len() {
                    data.words.push(u32::from(data.bytes[at]) * 3);
                }
            }

            $(#[$attribute])?
            #[inline(never)]
            pub(super) fn scan(data: &mut Data) -> usize {
                let mut commas = 0;
                data.at = 0;
                while data.at < data.bytes.len() {
                    match data.bytes[data.at] {
                        b'[' => data.depth += 1,
                        b']' => data.depth -= 1,
                        byte => commas += usize::from(byte == b','),
                    }
                    data.at += 1;
                }
                commas
            }

            pub(super) fn each(data: &mut Data) -> [f64; 4] {
                let weights = black_box([0.125; 8]);
                [
                    ticks(|| add(&mut data.sums, &data.values)),
                    ticks(|| filter(&mut data.sums, &data.values, weights)),
                    ticks(|| push(data)),
                    ticks(|| scan(data)),
                ]
            }
        }
    };
}
loops!(bare);
loops!(timed, cycles);
loops!(light, cycles(light));

/// Of the second call, when the data are in the caches.
fn ticks<R>(mut work: impl FnMut() -> R) -> f64 {
    black_box(work());
    let start = Lfence::start();
    black_box(work());
    elapsed(start, Lfence::stop()) as f64
}

pub(crate) fn run() {
    let mut data = Data {
        bytes: b"[],abc[x],".repeat(LEN / 10),
        sums: vec![1.0; LEN],
        values: vec![0.5; LEN],
        words: Vec::new(),
        at: 0,
        depth: 1,
    };
    let rounds: Vec<[[f64; 4]; 3]> = (0..ROUNDS)
        .map(|_| {
            let forms = [bare::each, timed::each, light::each];
            forms.map(|each| each(black_box(&mut data)))
        })
        .collect();
    heading(
        "Loops over 100 000 elements in annotated functions",
        &[
            "what",
            "timed ÷ bare (quartiles)",
            "light ÷ bare (quartiles)",
        ],
    );
    let names = [
        "adding a slice to another",
        "a filter with 8 weights",
        "pushing to a vector",
        "scanning bytes, with the position in a structure",
    ];
    for (of, name) in names.into_iter().enumerate() {
        let ratio = |form: usize| {
            let ratios = rounds.iter().map(|round| round[form][of] / round[0][of]);
            let [low, middle, high] = quartiles(ratios.collect());
            format!("{middle:.2} ({low:.2}–{high:.2})")
        };
        row(&[name.to_owned(), ratio(1), ratio(2)]);
    }
}

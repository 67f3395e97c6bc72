//! Tests `compare` with functions that are equal, and with functions that differ a little.

use std::arch::asm;

use tsc_runtime::compare::{Relation, compare};

use super::Check;

macro_rules! chain {
    ($name:ident, $length:literal) => {
        #[inline(never)]
        fn $name(start: &u64) -> u64 {
            let mut x = *start;
            // SAFETY: integer arithmetic on declared registers.
            unsafe {
                asm!(
                    concat!(".rept ", $length), "add {x}, {y}", ".endr",
                    x = inout(reg) x, y = in(reg) 3_u64, options(nostack),
                );
            }
            x
        }
    };
}

chain!(thousand, 1000);
chain!(thousand_and_ten, 1010);

const INPUTS: [u64; 3] = [1, 2, 3];

fn relations(times: usize, other: fn(&u64) -> u64) -> Vec<Option<Relation>> {
    (0..times)
        .map(|_| {
            let candidates = [("thousand", thousand as fn(&u64) -> u64), ("other", other)];
            compare("additions", &INPUTS, candidates)
                .ok()
                .map(|it| it.rows()[1].relation())
        })
        .collect()
}

pub(crate) fn with_itself() -> Check {
    let relations = relations(200, thousand);
    let different = relations
        .iter()
        .filter(|it| **it != Some(Relation::NoDifference))
        .count();
    Check {
        must: "a function compared with itself, 200 times: a difference in at most 5 %",
        measured: format!("{different} of {}", relations.len()),
        holds: Some(different * 20 <= relations.len()),
        details: Vec::new(),
    }
}

pub(crate) fn one_percent() -> Check {
    let relations = relations(20, thousand_and_ten);
    let right = relations
        .iter()
        .filter(|it| **it == Some(Relation::Slower))
        .count();
    Check {
        must: "1000 against 1010 dependent additions, 20 times: distinguished with the right sign 19 times",
        measured: format!("{right} of {}", relations.len()),
        holds: Some(right >= 19),
        details: Vec::new(),
    }
}

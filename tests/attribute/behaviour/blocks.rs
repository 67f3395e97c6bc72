//! `cycles_block!`, `gclk!`, `start!` and `stop!`.

use tsc_runtime::{cycles_block, gclk, start, stop};

fn question_mark(text: &str) -> Result<u32, std::num::ParseIntError> {
    let number = cycles_block!("question mark", [text], { text.parse::<u32>()? });
    Ok(number + 1)
}

fn returns(early: bool) -> u32 {
    cycles_block!("returns", fence = "none", {
        if early {
            return 1;
        }
    });
    cycles_block!("always returns", { return 2 })
}

#[test]
fn every_way_out_of_a_block() {
    assert_eq!(question_mark("3"), Ok(4));
    assert!(question_mark("x").is_err());
    assert_eq!((returns(true), returns(false)), (1, 2));
    let labelled = 'outer: {
        cycles_block!("labelled", { break 'outer 3 })
    };
    assert_eq!(labelled, 3);
    let mut sum = 0;
    for i in 0..10 {
        cycles_block!("loop", {
            if i == 2 {
                continue;
            }
            if i == 5 {
                break;
            }
        });
        sum += i;
    }
    assert_eq!(sum, 1 + 3 + 4);
}

#[test]
fn gclk_has_the_value_of_its_statement() {
    gclk!(let sum: u64 = (1..=10).sum());
    gclk!(let mut next: u64 = sum + 1);
    gclk!(let (a, b) = (sum, 2));
    next += gclk!(a * b);
    gclk!(next += 1);
    assert_eq!(next, 55 + 1 + 110 + 1);
}

#[test]
fn sections_overlap_and_nest() {
    let first = start!("first");
    let second = start!("second", fence = "none");
    stop!(first);
    let third = start!("third");
    stop!(third);
    stop!(second);
}

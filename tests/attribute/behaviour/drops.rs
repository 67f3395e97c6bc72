//! The drop order of locals, parameters and temporaries of the last expression, on every way out.

use std::cell::RefCell;

use crate::twice;

thread_local! {
    static DROPPED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

struct Noisy(&'static str);

impl Noisy {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn borrowed(&self) -> Option<&str> {
        Some(self.0)
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.with_borrow_mut(|dropped| dropped.push(self.0));
    }
}

fn drops<R>(f: impl FnOnce() -> R) -> (R, Vec<&'static str>) {
    DROPPED.take();
    let result = f();
    (result, DROPPED.take())
}

twice! {
    pub(super) fn temporaries(_first: Noisy, _: Noisy, (second, _): (Noisy, Noisy)) -> usize {
        let _local = Noisy("local");
        Noisy("temporary").len() + second.len()
    }

    pub(super) fn borrowed_temporary() -> usize {
        let _local = Noisy("local");
        match Noisy("scrutinee").borrowed() {
            Some(name) => name.len(),
            None => 0,
        }
    }

    pub(super) fn early(parameter: Noisy, leave: bool) -> Result<usize, std::num::ParseIntError> {
        let _before = Noisy("before");
        if leave {
            return Ok(parameter.len());
        }
        let _after = Noisy("after");
        let number: usize = "seventeen".parse()?;
        Ok(number)
    }

    pub(super) fn unit(parameter: Noisy) {
        let _local = Noisy("local");
        let _ = parameter;
    }
}

#[test]
fn drop_order_is_that_of_the_bare_function() {
    macro_rules! same {
        ($($call:tt)*) => {
            assert_eq!(drops(|| annotated::$($call)*), drops(|| bare::$($call)*));
        };
    }
    same!(temporaries(
        Noisy("1"),
        Noisy("2"),
        (Noisy("3"), Noisy("4"))
    ));
    same!(borrowed_temporary());
    same!(early(Noisy("parameter"), true));
    same!(early(Noisy("parameter"), false));
    same!(unit(Noisy("parameter")));
}

#[test]
fn the_test_sees_drops() {
    let (_, dropped) =
        drops(|| bare::temporaries(Noisy("1"), Noisy("2"), (Noisy("3"), Noisy("4"))));
    // Temporaries of the last expression outlive the locals up to edition 2021.
    assert!(dropped[..2] == ["temporary", "local"] || dropped[..2] == ["local", "temporary"]);
    assert_eq!(dropped[2..], ["3", "4", "2", "1"]);
}

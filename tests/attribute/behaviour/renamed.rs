//! The attribute, imported under another name, inside a block that has it.

use std::task::{Context, Poll, Waker};

mod imported {
    use tsc_runtime::cycles as measured;

    pub struct Twice;

    #[tsc_runtime::cycles(name = "renamed")]
    pub mod inside {
        use super::measured;

        #[measured]
        pub fn function(x: u32) -> u32 {
            x + 1
        }

        #[measured]
        pub async fn future() -> u32 {
            1
        }

        #[measured]
        pub fn boxed() -> std::pin::Pin<Box<dyn std::future::Future<Output = u32>>> {
            Box::pin(async { 1 })
        }

        #[measured]
        impl super::Twice {
            pub fn method(&self) {}
        }
    }
}

/// An attribute on a block cannot know that an attribute inside is `cycles` under another name.
#[test]
fn an_attribute_under_another_name_does_not_measure_twice() {
    use imported::inside::{boxed, function, future};
    function(1);
    for mut future in [Box::pin(future()) as _, boxed()] {
        let context = &mut Context::from_waker(Waker::noop());
        assert_eq!(future.as_mut().poll(context), Poll::Ready(1));
    }
    imported::Twice.method();
    let report = tsc_runtime::snapshot();
    let rows = report.callsites().iter();
    let mut rows: Vec<_> = rows
        .filter(|row| row.name().starts_with("renamed"))
        .map(|row| (row.name(), row.calls()))
        .collect();
    rows.sort_unstable();
    let names = rows.iter().map(|(name, calls)| format!("{name} {calls}"));
    let names: Vec<_> = names.collect();
    assert_eq!(
        names,
        [
            "renamed::boxed 1",
            "renamed::function 1",
            "renamed::future 1",
            "renamed::super::Twice::method 1"
        ]
    );
}

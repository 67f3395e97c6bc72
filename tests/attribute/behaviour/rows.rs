//! The names of the report's rows, and what is counted in them.

use std::future::{self, Future};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tsc_runtime::{CallsiteReport, cycles, cycles_block};

struct Plain;
struct Generic<T>(T);

trait Act {
    fn act(&self) -> u32;
    fn default(&self) -> u32 {
        self.act()
    }
}

#[cycles]
impl Act for Plain {
    fn act(&self) -> u32 {
        1
    }
}

#[cycles]
impl Act for Generic<u8> {
    fn act(&self) -> u32 {
        2
    }
}

#[cycles]
impl Plain {
    fn inherent() {}
}

#[cycles(name = "net")]
mod prefixed {
    pub struct Socket;

    impl Socket {
        pub fn send(&self) {}
    }

    impl Clone for Socket {
        fn clone(&self) -> Self {
            Self
        }
    }

    pub mod tcp {
        pub fn connect() {}

        #[cycles(name = "own")]
        pub fn named() {}
    }
}

#[cycles(fence = "none")]
mod fenced {
    pub fn as_the_block() {}

    #[cycles(fence = "mfence")]
    pub fn by_its_own() {}

    #[cycles(skip)]
    pub fn left_out() {}

    pub const fn passed_over() {}
}

#[cycles(per_type)]
fn sized<T>(_: T) -> usize {
    size_of::<T>()
}

#[cycles(per_type, name = "named per type")]
fn named_sized<T>(_: T) -> usize {
    size_of::<T>()
}

#[cycles(per_type, name = "future per type")]
async fn sized_later<T>(_: T) -> usize {
    size_of::<T>()
}

mod __hidden {
    pub struct Hidden;
}

mod r#type {
    #[tsc_runtime::cycles]
    pub fn in_a_raw_module() {}
}

#[cycles(bytes = text.len())]
fn hash(text: &str) -> u64 {
    text.bytes().map(u64::from).sum()
}

#[cycles(items = items.len())]
async fn count(items: &[u32]) -> usize {
    let mut polls = 0;
    future::poll_fn(|_| {
        polls += 1;
        if polls > 2 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    items.len()
}

#[cycles]
fn lazily(values: &[u32]) -> impl DoubleEndedIterator<Item = u32> + use<'_> {
    values.iter().map(|value| value + 1)
}

#[cycles]
fn boxed_lazily(values: &[u32]) -> Box<dyn Iterator<Item = u32> + '_> {
    Box::new(values.iter().copied())
}

#[cycles]
fn at_once(values: &[u32]) -> impl IntoIterator<Item = u32> {
    values.to_vec()
}

/// `name`'s row.
pub fn row(name: &str) -> CallsiteReport {
    let report = tsc_runtime::snapshot();
    let found = report.callsites().iter().find(|row| row.name() == name);
    found.cloned().unwrap_or_else(|| {
        let names: Vec<_> = report
            .callsites()
            .iter()
            .map(CallsiteReport::name)
            .collect();
        panic!("no row {} among {:#?}", name, names)
    })
}

#[test]
fn names_tell_impls_and_traits_apart() {
    r#type::in_a_raw_module();
    assert!(row("in_a_raw_module").module().ends_with("::r#type"));
    Plain::inherent();
    let _ = Plain.act() + Plain.default() + Generic(1_u8).act();
    for name in [
        "Plain::inherent",
        "<Plain as Act>::act",
        "<Generic<u8> as Act>::act",
    ] {
        row(name);
    }
}

#[test]
fn a_name_on_a_block_is_a_prefix() {
    let socket = prefixed::Socket;
    socket.send();
    socket.clone().send();
    prefixed::tcp::connect();
    prefixed::tcp::named();
    assert_eq!(row("net::Socket::send").calls(), 2);
    for name in ["net::<Socket as Clone>::clone", "net::tcp::connect", "own"] {
        assert_eq!(row(name).calls(), 1);
    }
}

macro_rules! generated {
    ($($item:item)*) => {
        #[tsc_runtime::cycles]
        mod generated {
            $($item)*
            pub(super) fn written() {}
        }
    };
}

generated! {
    /// Documented.
    pub(super) fn first() {}
    pub(super) struct Generated;
    impl Generated {
        pub(super) fn second() {}
    }
}

#[test]
fn items_of_a_macro_are_measured() {
    generated::first();
    generated::Generated::second();
    generated::written();
    for name in ["first", "Generated::second", "written"] {
        assert_eq!(row(name).calls(), 1);
    }
}

#[test]
fn arguments_on_a_block_hold_for_all_and_a_functions_own_win() {
    fenced::as_the_block();
    fenced::by_its_own();
    fenced::left_out();
    fenced::passed_over();
    assert_eq!(row("as_the_block").fence(), "none");
    assert_eq!(row("by_its_own").fence(), "mfence");
    let report = tsc_runtime::snapshot();
    for name in ["left_out", "passed_over"] {
        assert!(report.callsite(name).is_none(), "{}", name);
    }
}

#[test]
fn a_row_of_an_iterator_is_marked() {
    let values = [1, 2];
    let sum = lazily(&values).rev().sum::<u32>() + boxed_lazily(&values).sum::<u32>();
    assert_eq!(sum + at_once(&values).into_iter().sum::<u32>(), 11);
    for name in ["lazily", "boxed_lazily"] {
        assert!(row(name).returns_iterator(), "{}", name);
    }
    assert!(!row("at_once").returns_iterator());
    let text = tsc_runtime::snapshot().to_string();
    let marks = text.matches("returns an iterator, whose work is done, and counted, where");
    assert!(marks.count() >= 2, "{}", text);
}

#[test]
fn per_type_has_a_row_for_each_instantiation() {
    sized(1_u8);
    sized("a");
    sized("b");
    named_sized([1_u16; 3]);
    sized(__hidden::Hidden);
    crate::futures::run(sized_later(1_u8));
    let this = module_path!();
    assert_eq!(row("sized<__hidden::Hidden>").calls(), 1);
    assert_eq!(
        row(&format!("future per type [{this}::sized_later<u8>]")).calls(),
        1
    );
    assert_eq!(row("sized<u8>").calls(), 1);
    assert_eq!(row("sized<&str>").calls(), 2);
    assert_eq!(
        row(&format!("named per type [{this}::named_sized<[u16; 3]>]")).calls(),
        1
    );
}

#[test]
fn rows_know_where_their_function_is() {
    Plain::inherent();
    let row = row("Plain::inherent");
    assert_eq!(row.module(), module_path!());
    assert!(row.file().ends_with("rows.rs"), "{}", row.file());
    let source = include_str!("rows.rs");
    let line = source
        .lines()
        .position(|line| line.contains("fn inherent()"));
    assert_eq!(Some(row.line() as usize - 1), line);
}

#[test]
fn units_are_counted_beside_calls() {
    hash("abc");
    hash("de");
    let row = row("hash");
    assert_eq!(
        (row.calls(), row.unit(), row.units()),
        (2, Some("bytes"), Some(5))
    );
}

#[test]
fn throughput_is_in_the_dump() {
    #[cycles(name = "throughput of bytes", bytes = bytes.len())]
    fn throughput_of_bytes(bytes: &[u8]) -> u64 {
        bytes.iter().map(|byte| u64::from(*byte)).sum()
    }
    #[cycles(name = "throughput of items", items = items.len())]
    fn throughput_of_items(items: &[u32]) -> Vec<String> {
        items.iter().map(u32::to_string).collect()
    }
    // The one call of a function may wait for a CPU from begin to end, and then has no time.
    for _ in 0..100 {
        throughput_of_bytes(&[1; 10_000]);
        throughput_of_items(&[1; 100]);
    }
    let report = tsc_runtime::snapshot();
    let dump = report.to_string();
    for (name, per_unit, unit) in [
        ("throughput of bytes", " per byte, ", "B/s"),
        ("throughput of items", " per item, ", "items/s"),
    ] {
        let rate = report.callsite(name).unwrap().units_per_second().unwrap();
        let sizes = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
        let prefix = sizes.iter().find(|(size, _)| rate >= 0.9995 * size);
        let rate = format!(" {}{unit}", prefix.map_or("", |(_, prefix)| prefix));
        let mut lines = dump.lines().skip_while(|line| !line.contains(name));
        let below = lines.nth(1).unwrap_or_default();
        assert!(
            below.contains(per_unit) && below.contains(&rate),
            "{}",
            dump
        );
    }
}

#[test]
fn units_of_a_returned_future_are_counted_where_it_is_made() {
    #[cycles(name = "returns a future", bytes = text.len())]
    fn returns(text: String) -> std::pin::Pin<Box<dyn Future<Output = usize>>> {
        let moved = text;
        Box::pin(async move { moved.len() })
    }
    let mut made = returns("three".to_owned());
    let polled = made.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(5));
    let row = row("returns a future");
    assert_eq!((row.calls(), row.units()), (1, Some(5)));
}

#[test]
fn a_future_is_one_call_of_many_polls() {
    let poll = |future: std::pin::Pin<&mut _>| {
        Future::poll(future, &mut Context::from_waker(Waker::noop()))
    };
    {
        let mut complete = pin!(count(&[1, 2, 3]));
        while poll(complete.as_mut()).is_pending() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let mut cancelled = pin!(count(&[1]));
        let _ = poll(cancelled.as_mut());
        drop(count(&[]));
    }
    let row = row("count");
    assert_eq!(
        (row.calls(), row.polls(), row.cancelled()),
        (1, Some(4), Some(1))
    );
    assert_eq!((row.unit(), row.units()), (Some("items"), Some(4)));
    let wall = row.wall_mean_ticks().unwrap();
    assert!(
        row.total_ticks() < wall / 2.0,
        "{} of {wall}",
        row.total_ticks()
    );
}

#[test]
fn a_future_that_changes_threads_is_one_call() {
    #[cycles(name = "moves")]
    async fn moves() -> u32 {
        let mut polls = 0;
        future::poll_fn(move |_| {
            polls += 1;
            if polls > 3 {
                Poll::Ready(polls)
            } else {
                Poll::Pending
            }
        })
        .await
    }
    let mut future = Box::pin(moves());
    loop {
        let polled = std::thread::spawn(move || {
            let polled = future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            (future, polled)
        });
        let (back, polled) = polled.join().unwrap();
        if polled.is_ready() {
            break;
        }
        future = back;
    }
    let row = row("moves");
    assert_eq!(
        (row.calls(), row.polls(), row.cancelled()),
        (1, Some(4), Some(0))
    );
}

#[test]
fn blocks_have_rows() {
    for i in 0..5_u32 {
        cycles_block!("a block", [i], { i * 2 });
    }
    assert_eq!(row("a block").calls(), 5);
}

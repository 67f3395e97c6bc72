//! `cargo +nightly miri run --manifest-path tests/miri/Cargo.toml` does to the runtime's records whatever a safe program may do, and
//! checks that no call is lost. It ends with an error of Miri, a failed assertion, or the line "every call is accounted for". With
//! `--one-by-one`, no two threads want a lock at the same time: parking_lot's slow path converts integers to pointers, which Tree Borrows
//! does not support.

use std::cell::RefCell;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

use tsc_runtime::tsc::Lfence;
use tsc_runtime::{cycles, cycles_block, pause, reset, resume, snapshot, start, stop};

#[cycles]
fn leaf(value: u64) -> u64 {
    value.wrapping_mul(3)
}

#[cycles]
fn recursive(depth: u64) -> u64 {
    if depth == 0 {
        leaf(depth)
    } else {
        recursive(depth - 1) + 1
    }
}

#[cycles(per_type, bytes = size_of::<T>())]
fn generic<T: Default>() -> T {
    T::default()
}

#[cycles]
async fn future(value: u64) -> u64 {
    ready(value).await + leaf(value)
}

#[cycles(light)]
fn light_leaf(value: u64) -> u64 {
    value.wrapping_mul(3)
}

#[cycles(light)]
fn light_recursive(depth: u64) -> u64 {
    assert!(depth != 13, "unlucky");
    if depth == 0 {
        light_leaf(depth)
    } else {
        light_recursive(depth - 1) + 1
    }
}

#[cycles(light, per_type, bytes = size_of::<T>())]
fn light_generic<T: Default>() -> T {
    T::default()
}

#[cycles(light)]
async fn light_future(value: u64) -> u64 {
    ready(value).await + light_leaf(value)
}

/// Lengths of several octaves, so that the histogram takes places for them.
#[cycles]
fn of_many_lengths(sums: u64) -> u64 {
    (0..sums).fold(0, u64::wrapping_add)
}

type Section = tsc_runtime::__private::Section<Lfence>;

thread_local! {
    /// Older than what the runtime keeps for a thread, and so dropped after it.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

struct Held(Option<Section>);

impl Drop for Held {
    fn drop(&mut self) {
        // Both on a thread that has ended for the runtime: a section stops, and a call has a record for itself.
        if let Some(section) = self.0.take() {
            stop!(section);
        }
        leaf(1);
        light_leaf(1);
    }
}

fn calls(name: &str) -> u64 {
    snapshot().callsite(name).map_or(0, |row| row.calls())
}

fn one_thread() {
    for value in 0..70 {
        leaf(value);
    }
    assert_eq!(recursive(3), 3);
    generic::<u8>();
    generic::<u64>();
    for sums in [0, 1, 10, 100] {
        of_many_lengths(sums);
    }
    let first = start!("section");
    let second = start!("overlapping", fence = "none");
    stop!(first);
    cycles_block!("block", { leaf(1) });
    stop!(second);
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(future(1)).poll(&mut context).is_ready());
    drop(future(2));
}

fn light_probes() {
    for value in 0..70 {
        light_leaf(value);
    }
    assert_eq!(light_recursive(3), 3);
    light_generic::<u8>();
    light_generic::<u64>();
    cycles_block!("light block", light, { light_leaf(1) });
    assert!(std::panic::catch_unwind(|| light_recursive(15)).is_err());
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(light_future(1)).poll(&mut context).is_ready());
    drop(light_future(2));
    assert_eq!(
        (calls("light_leaf"), calls("light_recursive")),
        (70 + 1 + 1 + 1, 4 + 3)
    );
}

fn main() {
    one_thread();
    assert_eq!(calls("leaf"), 70 + 1 + 1 + 1);
    light_probes();

    // Threads that end, one of them with a section that is stopped later than that.
    let hold = |holds: bool| {
        HELD.with_borrow_mut(|held| *held = Some(Held(holds.then(|| start!("held")))));
        leaf(1);
        light_leaf(1);
    };
    if std::env::args().any(|argument| argument == "--one-by-one") {
        thread::spawn(move || hold(false)).join().unwrap();
        thread::spawn(move || hold(true)).join().unwrap();
    } else {
        let threads = [false, true].map(|holds| thread::spawn(move || hold(holds)));
        let [(), ()] = threads.map(|thread| thread.join().unwrap());
    }
    assert_eq!((calls("leaf"), calls("held")), (73 + 2 + 2, 1));
    assert_eq!(calls("light_leaf"), 73 + 2 + 2);

    // A reset while a section is in flight here, and another one on a thread that ends with it.
    let section = start!("across a reset");
    let (to_thread, wait) = std::sync::mpsc::channel::<()>();
    let (to_main, started) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        HELD.with_borrow_mut(|held| *held = Some(Held(Some(start!("held across a reset")))));
        to_main.send(()).unwrap();
        wait.recv().unwrap();
    });
    started.recv().unwrap();
    reset();
    to_thread.send(()).unwrap();
    thread.join().unwrap();
    stop!(section);
    assert_eq!((calls("leaf"), calls("light_leaf")), (1, 1));

    for control in [pause, resume] {
        control();
        leaf(1);
        light_leaf(1);
    }
    assert_eq!((calls("leaf"), calls("light_leaf")), (2, 2));
    println!("every call is accounted for");
}

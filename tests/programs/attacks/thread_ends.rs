//! Sections that are stopped after the runtime's part of their thread has ended.

use std::cell::RefCell;
use std::sync::Barrier;
use std::thread;

use tsc_runtime::__private::{Lfence, Section};
use tsc_runtime::{Report, snapshot, start, stop};

/// Holds a section, and stops it when the thread ends.
struct Stopper(RefCell<Option<Section<Lfence>>>);

impl Drop for Stopper {
    fn drop(&mut self) {
        if let Some(section) = self.0.take() {
            // If the record was freed too early, these blocks would overwrite it.
            let blocks: Vec<Vec<u8>> = (0..200).map(|n| vec![0xAA; 100 + 20 * n]).collect();
            stop!(section);
            drop(blocks);
        }
    }
}

thread_local! {
    static STOPPER: Stopper = const { Stopper(RefCell::new(None)) };
}

/// Prints how many of the 50 started sections were reported. While each section is open, `between` runs on another thread. If it takes
/// a report, it returns it.
pub(crate) fn section_outlives_thread(between: impl Fn() -> Option<Report>) {
    const THREADS: usize = 50;
    let mut taken = 0;
    for _ in 0..THREADS {
        let turn = Barrier::new(2);
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // STOPPER is initialised before the runtime's own thread-local value, so it is dropped after that.
                STOPPER.with(|_| {});
                let section = start!("outlives its thread");
                STOPPER.with(|stopper| *stopper.0.borrow_mut() = Some(section));
                turn.wait();
                turn.wait();
            });
            turn.wait();
            taken += between().map_or(0, |report| calls(&report));
            turn.wait();
            // Join the thread, because the scope does not wait for the thread's destructors.
            thread.join().unwrap();
        });
    }
    let report = snapshot();
    let running = report.callsite(NAME).map_or(0, |row| row.running());
    println!("{} calls, {running} running", calls(&report) + taken);
}

const NAME: &str = "outlives its thread";

fn calls(report: &Report) -> u64 {
    report.callsite(NAME).map_or(0, |row| row.calls())
}

//! Sections that are stopped after the runtime's part of their thread has ended, threads that are cancelled, and threads whose first calls come when
//! their thread-local values were dropped.

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Instant;

use tsc_runtime::__private::{Lfence, Section};
use tsc_runtime::{Report, cycles, snapshot, start, stop};

use super::memory;

/// Holds a section, and stops it when the thread ends.
struct Stopper(RefCell<Option<Section<Lfence>>>);

impl Drop for Stopper {
    fn drop(&mut self) {
        memory::REFUSED.set(false);
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
/// a report, it returns it. Each thread `ends_without_memory` or has some.
pub(crate) fn section_outlives_thread(
    ends_without_memory: bool,
    between: impl Fn() -> Option<Report>,
) {
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
                memory::REFUSED.set(ends_without_memory);
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

#[cycles]
fn timed() {
    std::hint::black_box(1);
}

#[cycles(light)]
fn light() {
    std::hint::black_box(1);
}

static STARTED: AtomicU32 = AtomicU32::new(0);
static MAY_GO_ON: AtomicBool = AtomicBool::new(false);

/// Measures after the thread was cancelled. Nothing of what the functions here call can be cancelled but `pthread_testcancel`.
extern "C-unwind" fn is_cancelled_before(_: *mut c_void) -> *mut c_void {
    unsafe extern "C-unwind" {
        fn pthread_testcancel();
    }
    STARTED.fetch_add(1, SeqCst);
    while !MAY_GO_ON.load(SeqCst) {
        std::hint::spin_loop();
    }
    for _ in 0..100_000 {
        timed();
        light();
    }
    // SAFETY: no preconditions. Nothing here is to be dropped.
    unsafe { pthread_testcancel() };
    ptr::null_mut()
}

/// Prints how many calls of `timed` and `light` were recorded on ten threads that are cancelled.
pub(crate) fn cancelled() {
    unsafe extern "C" {
        fn pthread_cancel(thread: libc::pthread_t) -> libc::c_int;
        fn pthread_create(
            thread: *mut libc::pthread_t,
            attributes: *const libc::pthread_attr_t,
            body: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
            argument: *mut c_void,
        ) -> libc::c_int;
    }
    for nth in 1..=10 {
        MAY_GO_ON.store(false, SeqCst);
        let mut thread = MaybeUninit::uninit();
        let mut result = ptr::null_mut();
        // SAFETY: the function has the right signature, and the thread is joined once.
        unsafe {
            let (attributes, argument) = (ptr::null(), ptr::null_mut());
            let failed = pthread_create(
                thread.as_mut_ptr(),
                attributes,
                is_cancelled_before,
                argument,
            );
            assert_eq!(failed, 0);
            let thread = thread.assume_init();
            while STARTED.load(SeqCst) < nth {
                std::hint::spin_loop();
            }
            assert_eq!(pthread_cancel(thread), 0);
            MAY_GO_ON.store(true, SeqCst);
            libc::pthread_join(thread, &raw mut result);
        }
        assert_eq!(result.addr(), usize::MAX, "it was cancelled");
    }
    print_calls();
}

fn print_calls() {
    let report = snapshot();
    let calls = |name| report.callsite(name).map_or(0, |row| row.calls());
    println!("{} {}", calls("timed"), calls("light"));
}

#[cycles]
fn calls_timed() {
    (0..100).for_each(|_| timed());
}

/// Prints the least time of `calls_timed` itself, in thousandths of the time that its calls took, on threads whose ends the runtime has noticed
/// before. There, nothing tells whether the thread was interrupted.
pub(crate) fn calls_after_end() {
    static TOOK: AtomicU64 = AtomicU64::new(0);
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            let began = Instant::now();
            calls_timed();
            TOOK.store(began.elapsed().as_nanos() as u64, SeqCst);
        }
    }
    thread_local! {
        static LATE: Late = const { Late };
    }
    let own_ns = || {
        let report = snapshot();
        let own = report.callsite("calls_timed");
        own.map_or(0.0, |row| {
            row.self_ticks() / report.clock().hz().unwrap() * 1e9
        })
    };
    let shares = (0..50).map(|_| {
        let before = own_ns();
        // LATE is initialised before the runtime's own thread-local value, so it is dropped after that.
        let begins = || {
            LATE.with(|_| {});
            timed();
        };
        thread::spawn(begins).join().unwrap();
        (own_ns() - before) / TOOK.load(SeqCst) as f64
    });
    println!("{}", (shares.fold(1.0, f64::min) * 1000.0).round());
}

/// A key whose destructor makes a call of each kind, and then sets the key again, so that the C library calls it as often as it does at all.
fn calling_key() -> libc::pthread_key_t {
    extern "C" fn calls(value: *mut c_void) {
        timed();
        light();
        set((value.addr() - 1) as libc::pthread_key_t);
    }
    let mut key = MaybeUninit::uninit();
    // SAFETY: the key is written if the call succeeds, and the destructor does not use its argument as a pointer.
    unsafe {
        assert_eq!(libc::pthread_key_create(key.as_mut_ptr(), Some(calls)), 0);
        key.assume_init()
    }
}

/// Sets the key to itself, and not to null, for which the destructor would not be called.
fn set(key: libc::pthread_key_t) {
    let value = ptr::without_provenance(key as usize + 1);
    // SAFETY: the key exists, and nobody uses its value as a pointer.
    assert_eq!(unsafe { libc::pthread_setspecific(key, value) }, 0);
}

extern "C" fn sets_keys(keys: *mut c_void) -> *mut c_void {
    // SAFETY: `first_call_in_key_destructor` passes them, and joins the thread while they exist.
    let keys = unsafe { *keys.cast::<&[libc::pthread_key_t]>() };
    keys.iter().copied().for_each(set);
    ptr::null_mut()
}

/// Prints how many calls of `timed` and `light` were recorded on threads that make calls in destructors of keys only, and how many are left after
/// a reset. The C library goes through the keys by their numbers, so one key is older than the runtime's and one is younger.
pub(crate) fn first_call_in_key_destructor() {
    /// More than glibc keeps for other threads, so that it is unmapped.
    const STACK: usize = 64 << 20;
    let older = calling_key();
    timed();
    light();
    let keys = [older, calling_key()];
    for keys in [&keys[..1], &keys[1..], &keys].repeat(3) {
        let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let keys = (&raw const keys).cast_mut().cast();
        // SAFETY: the attributes and the thread are written before they are used, and the thread is joined once.
        unsafe {
            assert_eq!(libc::pthread_attr_init(attributes.as_mut_ptr()), 0);
            let attributes = attributes.as_mut_ptr();
            assert_eq!(libc::pthread_attr_setstacksize(attributes, STACK), 0);
            let failed = libc::pthread_create(thread.as_mut_ptr(), attributes, sets_keys, keys);
            assert_eq!(failed, 0);
            libc::pthread_join(thread.assume_init(), ptr::null_mut());
            libc::pthread_attr_destroy(attributes);
        }
    }
    print_calls();
    tsc_runtime::reset();
    print_calls();
}

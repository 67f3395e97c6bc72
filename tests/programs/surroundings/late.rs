//! Calls after the runtime's report at exit: in a handler that was registered before the first call, and in `.fini_array`.

use tsc_runtime::cycles;

#[cycles]
fn early() {
    std::hint::black_box(1);
}

#[cycles(items = 1)]
fn in_handler() {
    std::hint::black_box(1);
}

#[cycles]
fn in_fini() {
    std::hint::black_box(1);
}

#[cycles(light)]
fn light_in_handler() {
    std::hint::black_box(1);
}

extern "C" fn handler() {
    for _ in 0..10 {
        in_handler();
        light_in_handler();
        early();
    }
}

extern "C" fn fini() {
    if CALLS.load(std::sync::atomic::Ordering::Relaxed) {
        (0..10).for_each(|_| in_fini());
    }
}

static CALLS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

#[used]
// SAFETY: the section is an array of functions that are called at the end of the process.
#[unsafe(link_section = ".fini_array")]
static FINI: extern "C" fn() = fini;

pub(crate) fn calls() {
    CALLS.store(true, std::sync::atomic::Ordering::Relaxed);
    // SAFETY: the handler does not unwind.
    unsafe { libc::atexit(handler) };
    early();
}

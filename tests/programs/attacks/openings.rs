//! First calls while the dynamic loader has its lock.

use std::sync::Barrier;
use std::thread;

use tsc_runtime::cycles;

use super::plugins;

#[cycles]
fn measured() {}

#[cycles]
fn timed() {}

#[cycles(light)]
fn light() {}

/// The initializer of `library` waits until a thread that has measured has called other functions for the first time.
pub(crate) fn first_call_while_opening(library: &str) {
    static MEASURED: Barrier = Barrier::new(2);
    static OPENING: Barrier = Barrier::new(2);
    static CALLED: Barrier = Barrier::new(2);
    extern "C" fn wait() {
        OPENING.wait();
        CALLED.wait();
    }
    let thread = thread::spawn(|| {
        measured();
        MEASURED.wait();
        OPENING.wait();
        timed();
        light();
        CALLED.wait();
    });
    MEASURED.wait();
    let address = (wait as extern "C" fn() as *const ()).expose_provenance();
    // SAFETY: the other thread waits.
    unsafe { std::env::set_var("CALLED_AT_OPENING", address.to_string()) };
    plugins::open(library);
    thread.join().unwrap();
    println!("end");
}

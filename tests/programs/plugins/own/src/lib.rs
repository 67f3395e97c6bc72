//! A plugin that contains the runtime.

use tsc_runtime::cycles;

#[cycles(name = "plugin")]
#[inline(never)]
fn work(value: u64) -> u64 {
    step(value)
}

#[cycles(light, name = "light in a plugin")]
#[inline(never)]
fn step(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

/// Makes so many annotated calls.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(calls: u64) -> u64 {
    (0..calls).map(work).sum()
}

/// When the library is opened, calls the function whose address the variable has.
#[used]
// SAFETY: the section is an array of functions that are called when a library is opened. This one does not unwind.
#[unsafe(link_section = ".init_array")]
static AT_OPENING: extern "C" fn() = {
    extern "C" fn call() {
        let Ok(address) = std::env::var("CALLED_AT_OPENING") else {
            return;
        };
        let address = std::ptr::with_exposed_provenance::<()>(address.parse().unwrap());
        // SAFETY: the host passes the address of a function with this signature.
        unsafe { std::mem::transmute::<*const (), extern "C" fn()>(address)() };
    }
    call
};

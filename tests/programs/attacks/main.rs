//! A program that does to the runtime what its first argument names; `attacks.rs` checks how it ends. Each of these attacks once crashed
//! or hung the runtime, or made it lose a call.

#[cfg(target_os = "linux")]
mod forks;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod openings;
#[cfg(target_os = "linux")]
mod plugins;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod thread_ends;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: memory::Watched = memory::Watched;

#[cfg(target_os = "linux")]
fn main() {
    // If the program hangs, this signal ends it, and the test sees that.
    // SAFETY: no preconditions.
    unsafe { libc::alarm(60) };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["section-outlives-thread"] => thread_ends::section_outlives_thread(false, || None),
        ["section-outlives-thread", "no-memory"] => {
            thread_ends::section_outlives_thread(true, || None);
        }
        ["section-outlives-thread", "reset"] => thread_ends::section_outlives_thread(false, || {
            tsc_runtime::reset();
            None
        }),
        ["section-outlives-thread", "take"] => {
            thread_ends::section_outlives_thread(false, || Some(tsc_runtime::take()));
        }
        ["cancelled"] => thread_ends::cancelled(),
        ["calls-after-end"] => thread_ends::calls_after_end(),
        ["first-call-in-key-destructor"] => thread_ends::first_call_in_key_destructor(),
        ["first-call-races-fork", forks] => forks::first_call_races_fork(forks.parse().unwrap()),
        ["fork-in-first-call"] => forks::in_first_call(),
        ["wide-samples"] => memory::wide_samples(),
        ["exit-in-handler", what] => signals::exit_in_handler(what),
        ["control-in-handler", control] => signals::control_in_handler(control),
        ["light-on-signal-stack"] => signals::light_on_signal_stack(),
        ["same-function-in-handler"] => signals::same_function_in_handler(),
        ["first-call-while-opening", library] => openings::first_call_while_opening(library),
        ["plugin", library, ways @ ..] => plugins::host(library, ways),
        _ => panic!("no attack is called {arguments:?}"),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

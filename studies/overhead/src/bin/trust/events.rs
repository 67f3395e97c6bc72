//! Interrupts calls on purpose in several ways: which of them are detected?

use tsc_runtime::{cycles, snapshot};

use overhead::kernel;
use overhead::target;

const CALLS: usize = 1_000;

#[cycles(name = "trust: signal")]
#[inline(never)]
fn signal(happens: bool) {
    if happens {
        kernel::raise_signal();
    }
}

#[cycles(name = "trust: migration")]
#[inline(never)]
fn migration(cpu: usize) {
    kernel::pin(cpu);
}

#[cycles(name = "trust: system call")]
#[inline(never)]
fn system_call() {
    kernel::system_call();
}

pub(crate) fn run(cpus: &[usize]) {
    // Each first call is recorded separately. The calls run on a thread of their own, because some of them move it to another CPU.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            kernel::handle_signal();
            signal(false);
            (0..CALLS).for_each(|_| signal(true));
            (0..=CALLS).for_each(|_| system_call());
            if cpus.len() > 1 {
                (0..=CALLS).for_each(|call| migration(cpus[call % 2]));
            }
        });
    });
    row("a signal handled inside the call", "trust: signal", true);
    row("a migration inside the call", "trust: migration", true);
    row("a system call inside the call", "trust: system call", false);
}

fn row(what: &str, name: &str, flagged: bool) {
    let report = snapshot();
    let Some(callsite) = report
        .callsite(name)
        .filter(|callsite| callsite.interrupted().is_some())
    else {
        return target::print(what, "", "not to be had here".to_owned(), false);
    };
    // All calls except the first one, which is recorded separately, whether it is flagged or not.
    let share = 1.0 - callsite.samples() as f64 / CALLS as f64;
    target::print(
        &format!("{what}, {CALLS} times: share flagged"),
        if flagged {
            "1"
        } else {
            "0, but for preemptions"
        },
        format!("{share:.3}"),
        if flagged { share == 1.0 } else { share <= 0.01 },
    );
}

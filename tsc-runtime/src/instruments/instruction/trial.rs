//! The first execution of a listing, in a process of its own: what never ends, or is no instruction of this CPU, ends that process
//! and not the program.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::InstructionError;
use super::listing::{Code, Kernel};

/// What a listing may take once, of the CPU's time and by the wall: thousands of times what one takes that is worth measuring.
const CPU_SECONDS: libc::rlim_t = 1;
const WALL_SECONDS: libc::c_uint = 5;

/// The exit code of a child that has executed the code.
const DONE: libc::c_int = 0;

/// The codes that have been tried, by address: once is enough.
static TRIED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Executes the kernel once with `scratch`, in a child, unless it has been before. A system that lets no child be made is taken at
/// the listing's word.
///
/// # Errors
///
/// The listing did not end, or ended the child by a signal.
pub(super) fn execute(kernel: &Kernel, scratch: *mut u8) -> Result<(), InstructionError> {
    for code in [Some(kernel.code()), kernel.code_without()]
        .into_iter()
        .flatten()
    {
        let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
        if !tried.contains(&(code as usize)) {
            execute_in_child(code, scratch)?;
            tried.insert(code as usize);
        }
    }
    Ok(())
}

fn execute_in_child(code: Code, scratch: *mut u8) -> Result<(), InstructionError> {
    // A copy of this process with this thread alone, as `fork` makes it; but without the handlers that are registered for a fork, and
    // without a signal to this process when it ends: a program that waits for its own children never sees this one.
    // SAFETY: takes numbers only. In the child nothing is called that may wait for a lock that another thread held.
    match unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) } {
        -1 => Ok(()),
        0 => child(code, scratch),
        pid => outcome(wait(pid as libc::pid_t)),
    }
}

/// Executes the code and ends.
fn child(code: Code, scratch: *mut u8) -> ! {
    // SAFETY: these are system calls and no more, and what they are given lives on this stack. The code keeps to the registers and
    // to the scratch memory, of which this is the child's own copy; if it does not, that is the child's end.
    unsafe {
        let limit = |resource, seconds| {
            let limit = libc::rlimit {
                rlim_cur: seconds,
                rlim_max: seconds,
            };
            libc::setrlimit(resource, &raw const limit);
        };
        limit(libc::RLIMIT_CPU, CPU_SECONDS);
        limit(libc::RLIMIT_CORE, 0);
        // The program's own handlers would run its code for what is not its error.
        for signal in [
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGSEGV,
            libc::SIGALRM,
            libc::SIGXCPU,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const all, std::ptr::null_mut());
        libc::alarm(WALL_SECONDS);
        code(1, scratch);
        libc::_exit(DONE)
    }
}

/// How the child ended; `None` if that cannot be learnt.
fn wait(pid: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one int to the address it is given. `__WALL`: also a child that ends without a signal.
        let answer = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
        if answer == pid {
            return Some(status);
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn outcome(status: Option<libc::c_int>) -> Result<(), InstructionError> {
    let Some(signal) = status
        .filter(|status| libc::WIFSIGNALED(*status))
        .map(|status| libc::WTERMSIG(status))
    else {
        return Ok(());
    };
    match signal {
        libc::SIGALRM | libc::SIGXCPU | libc::SIGKILL => Err(InstructionError::Endless),
        signal => Err(InstructionError::Crashed { signal }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_what_the_child_died_of() {
        assert_eq!(outcome(None), Ok(()));
        assert_eq!(outcome(Some(0)), Ok(()));
        assert_eq!(outcome(Some(libc::SIGXCPU)), Err(InstructionError::Endless));
        assert_eq!(
            outcome(Some(libc::SIGILL)),
            Err(InstructionError::Crashed {
                signal: libc::SIGILL
            })
        );
    }
}

//! The first execution of a listing, in a child process. If the listing never ends, or is not an instruction of this CPU, the child process
//! is killed, and the program goes on.

use std::io;

use super::InstructionError;
use super::listing::{Code, Kernel};
use crate::process::signals;

/// The longest that one execution of a listing may take, in CPU time and in wall time: thousands of times as long as any listing that is
/// worth measuring.
const CPU_SECONDS: libc::rlim_t = 1;
const WALL_SECONDS: libc::c_uint = 5;

/// All signals of instructions and limits are below this one.
const FIRST_REAL_TIME_SIGNAL: libc::c_int = 32;

/// Executes the kernel once in a child, with `scratch`. If the system does not permit a child process, the kernel is not tried.
///
/// # Errors
///
/// The listing did not end, or ended the child by a signal.
pub(super) fn execute(kernel: &Kernel, scratch: *mut u8) -> Result<(), InstructionError> {
    for code in [Some(kernel.run), kernel.without].into_iter().flatten() {
        // Makes a copy of this process that has only this thread, like `fork`. Unlike `fork`, it does not run the handlers that are
        // registered for a fork, and the child's end sends no signal to this process. So a program that waits for its own children does not
        // see this child.
        // SAFETY: the arguments are numbers. The child calls nothing that may wait for a lock that another thread held.
        match unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) } {
            -1 => {}
            0 => child(code, scratch),
            pid => outcome(wait(pid as libc::pid_t))?,
        }
    }
    Ok(())
}

/// Executes the code, and ends the process.
fn child(code: Code, scratch: *mut u8) -> ! {
    // SAFETY: these are only system calls, and their arguments are on this stack. The code keeps to the registers and to the scratch
    // memory, of which the child has a copy; if it does not, only the child ends.
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
        // The program's own handlers would treat the signal as an error of the program.
        for signal in 1..FIRST_REAL_TIME_SIGNAL {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigprocmask(libc::SIG_UNBLOCK, &signals::all(), std::ptr::null_mut());
        libc::alarm(WALL_SECONDS);
        code(1, scratch);
        libc::_exit(0)
    }
}

/// How the child ended. `None` if this cannot be determined.
fn wait(pid: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one int to the given address. `__WALL` is needed because the child sends no signal when it ends.
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
    let ended = status.filter(|status| libc::WIFSIGNALED(*status));
    match ended.map(|status| libc::WTERMSIG(status)) {
        None => Ok(()),
        Some(libc::SIGALRM | libc::SIGXCPU | libc::SIGKILL) => Err(InstructionError::Endless),
        Some(signal) => Err(InstructionError::Crashed { signal }),
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

//! Runs both sides at once on two CPUs, so that what disturbs one disturbs the other. Only on Linux.

use anyhow::{Result, bail};

use crate::build::Executable;
use crate::command_line::AbArgs;
#[cfg(target_os = "linux")]
use crate::cpus;
use crate::input::Input;

/// A CPU is idle if it is for this share of the time.
#[cfg(target_os = "linux")]
const IDLE: f64 = 0.9;
/// A program of one thread has at most this CPU time for its time; the reports' thread takes some, too.
#[cfg(target_os = "linux")]
const ONE_THREAD: f64 = 1.1;

/// Does two things at once.
pub fn both<T: Send>(one: impl FnOnce() -> T + Send, other: impl FnOnce() -> T + Send) -> (T, T) {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        // Also the first has a thread of its own, because that is put on a CPU and stays there.
        let one = scope.spawn(one);
        let end = |result: std::thread::Result<T>| {
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (end(one.join()), end(other.join()))
    })
}

/// The two CPUs, if the sides run at once: if that was asked for, or if two CPUs are idle and the program keeps one busy at most. Prepares the
/// second input.
#[cfg(target_os = "linux")]
pub fn cpus(
    args: &AbArgs,
    program: &[Executable],
    inputs: &mut [Input; 2],
) -> Result<Option<[usize; 2]>> {
    use crate::execute::Batch;
    use crate::progress::remark;

    if args.no_duet {
        return Ok(None);
    }
    let mut idle = cpus::idle_shares()?;
    idle.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let [(first, _), (second, least), ..] = idle[..] else {
        if args.duet {
            bail!("--duet needs two CPUs");
        }
        return Ok(None);
    };
    if !args.duet {
        if least < IDLE {
            return Ok(None);
        }
        let ended = Batch::silent(program).run_once(&mut inputs[0])?;
        let busy = ended.cpu_seconds.unwrap_or(f64::INFINITY);
        if busy > ONE_THREAD * ended.seconds {
            return Ok(None);
        }
    }
    remark(&format!(
        "both sides run at once, on the CPUs {first} and {second}"
    ));
    inputs[1] = inputs[0].beside()?;
    Ok(Some([first, second]))
}

#[cfg(not(target_os = "linux"))]
pub fn cpus(args: &AbArgs, _: &[Executable], _: &mut [Input; 2]) -> Result<Option<[usize; 2]>> {
    if args.duet {
        bail!("--duet is only possible on Linux");
    }
    Ok(None)
}

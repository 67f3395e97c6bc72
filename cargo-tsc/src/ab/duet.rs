//! Runs both sides at once on two CPUs, so that what disturbs one disturbs the other. Only on Linux.

use anyhow::{Result, bail};

use crate::build::Executable;
use crate::command_line::AbArgs;
use crate::input::Input;

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
    use crate::execute::{Output, execute};
    use crate::progress::remark;

    if args.no_duet {
        return Ok(None);
    }
    let mut idle = linux::idle_shares()?;
    idle.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let [(first, _), (second, least), ..] = idle[..] else {
        if args.duet {
            bail!("--duet needs two CPUs");
        }
        return Ok(None);
    };
    if !args.duet {
        if least < linux::IDLE {
            return Ok(None);
        }
        let (mut seconds, mut busy) = (0.0, 0.0);
        for executable in program {
            let ended = execute(executable, None, &[], &mut inputs[0], Output::Hidden)?;
            seconds += ended.seconds;
            busy += ended.cpu_seconds.unwrap_or(f64::INFINITY);
        }
        if busy > linux::ONE_THREAD * seconds {
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

/// Puts this thread, and the programs that it starts, on a CPU.
#[cfg(target_os = "linux")]
pub fn stay_on(cpu: usize) -> Result<()> {
    let mut set = nix::sched::CpuSet::new();
    set.set(cpu)?;
    Ok(nix::sched::sched_setaffinity(
        nix::unistd::Pid::from_raw(0),
        &set,
    )?)
}

#[cfg(not(target_os = "linux"))]
pub fn stay_on(_: usize) -> Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use anyhow::Result;

    /// A CPU is idle if it is for this share of the time.
    pub const IDLE: f64 = 0.9;
    /// A program of one thread has at most this CPU time for its time; the reports' thread takes some, too.
    pub const ONE_THREAD: f64 = 1.1;
    /// How long the CPUs are watched.
    const WATCHED: Duration = Duration::from_millis(300);

    /// The CPUs on which this process may run, each with the share of the time in which it was idle.
    pub fn idle_shares() -> Result<Vec<(usize, f64)>> {
        let allowed = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0))?;
        let before = times()?;
        std::thread::sleep(WATCHED);
        let after = times()?;
        let share = |(&cpu, &(idle, all)): (&usize, &(f64, f64))| {
            let (idle_before, all_before) = before.get(&cpu)?;
            Some((cpu, (idle - idle_before) / (all - all_before).max(1.0)))
        };
        let allowed = |&(cpu, _): &(usize, f64)| allowed.is_set(cpu).unwrap_or(false);
        Ok(after.iter().filter_map(share).filter(allowed).collect())
    }

    /// The idle time and the whole time of each CPU.
    fn times() -> Result<BTreeMap<usize, (f64, f64)>> {
        let text = std::fs::read_to_string("/proc/stat")?;
        let time = |line: &str| {
            let (cpu, times) = line.strip_prefix("cpu")?.split_once(' ')?;
            let times: Vec<f64> = times
                .split_whitespace()
                .filter_map(|time| time.parse().ok())
                .collect();
            Some((cpu.parse().ok()?, (*times.get(3)?, times.iter().sum())))
        };
        Ok(text.lines().filter_map(time).collect())
    }
}

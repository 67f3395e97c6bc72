//! Runs both sides at once on two CPUs, so that what disturbs one disturbs the other. Only on Linux.

#[cfg(target_os = "linux")]
use anyhow::Context as _;
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
    let Some([first, second]) = idlest(cpus::idle_shares(), args.duet)? else {
        return Ok(None);
    };
    if !args.duet {
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

/// The two CPUs with the largest idle shares. `None` if one of them is not idle, or if the system does not tell the shares. If they are
/// needed, because the user asked for them, they may be busy, and it is an error if there are none.
#[cfg(target_os = "linux")]
fn idlest(shares: Result<Vec<(usize, f64)>>, are_needed: bool) -> Result<Option<[usize; 2]>> {
    let mut shares = match shares {
        Err(_) if !are_needed => return Ok(None),
        shares => shares.context("--duet: it is not known which CPUs are idle")?,
    };
    shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    match shares[..] {
        [(first, _), (second, least), ..] if are_needed || least >= IDLE => {
            Ok(Some([first, second]))
        }
        [_, _, ..] => Ok(None),
        _ if are_needed => bail!("--duet needs two CPUs"),
        _ => Ok(None),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn cpus(args: &AbArgs, _: &[Executable], _: &mut [Input; 2]) -> Result<Option<[usize; 2]>> {
    if args.duet {
        bail!("--duet is only possible on Linux");
    }
    Ok(None)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn without_two_idle_cpus_nothing_runs_at_once_by_itself() {
        let unknown = || Err(anyhow::anyhow!("no /proc/stat"));
        let cases = [
            (Ok(vec![(0, 0.95), (1, 0.5), (2, 0.99)]), Some([2, 0])),
            (Ok(vec![(0, 0.95), (1, 0.5)]), None),
            (Ok(vec![(0, 0.95)]), None),
            (unknown(), None),
        ];
        for (shares, chosen) in cases {
            assert_eq!(idlest(shares, false).unwrap(), chosen);
        }
        let busy = Ok(vec![(0, 0.1), (1, 0.5)]);
        assert_eq!(idlest(busy, true).unwrap(), Some([1, 0]));
        assert!(idlest(Ok(vec![(0, 0.95)]), true).is_err());
        assert!(idlest(unknown(), true).is_err());
    }
}

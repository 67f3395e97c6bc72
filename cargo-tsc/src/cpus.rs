//! The CPUs: which are idle, and on which one a program runs.

use anyhow::Result;

/// Puts this thread, and the programs that it starts, on a CPU. Only Linux can.
///
/// # Errors
/// If this process may not run there.
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

/// How long the CPUs are watched.
#[cfg(target_os = "linux")]
const WATCHED: std::time::Duration = std::time::Duration::from_millis(300);

/// The CPUs on which this process may run, each with the share of the time in which it was idle.
///
/// # Errors
/// If the system does not tell.
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
fn times() -> Result<std::collections::BTreeMap<usize, (f64, f64)>> {
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

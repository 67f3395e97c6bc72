//! Which process this is, when it began to measure, and what its user says of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::{correction, timestamp};
use crate::report::{MetaMap, Process};

/// When this process began to measure: nanoseconds since 1970, and since [`EPOCH`].
static STARTED_UNIX_NS: AtomicU64 = AtomicU64::new(0);
static STARTED_NS: AtomicU64 = AtomicU64::new(0);
static EPOCH: OnceLock<Instant> = OnceLock::new();

/// Notes that the process begins to measure now.
pub(crate) fn begin() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    STARTED_UNIX_NS.store(now.map_or(0, |now| now.as_nanos() as u64), Relaxed);
    STARTED_NS.store(since_epoch(), Relaxed);
}

/// In the child of a fork: it is another process, and nothing of its parent's is left.
pub(crate) fn start_from_zero() {
    begin();
    correction::start_from_zero();
}

fn since_epoch() -> u64 {
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// When this process began to measure, in nanoseconds since 1970; 0 if it has not.
pub(in crate::report) fn process_started() -> u64 {
    STARTED_UNIX_NS.load(Relaxed)
}

impl Process {
    /// This process, as it is now.
    pub(in crate::report) fn collect() -> Self {
        let started = process_started();
        let begun = started != 0;
        Self {
            argv: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            pid: std::process::id(),
            host: host(),
            started: if begun {
                timestamp::rfc3339(started)
            } else {
                String::new()
            },
            duration_ns: if begun {
                since_epoch().saturating_sub(STARTED_NS.load(Relaxed))
            } else {
                0
            },
            ended: None,
        }
    }
}

/// The machine's name.
#[cfg(unix)]
pub(in crate::report) fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: there is room for that many bytes; the last one stays 0.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0;
    if failed {
        return "unknown".to_owned();
    }
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..len]).into_owned()
}

/// The machine's name.
#[cfg(not(unix))]
pub(in crate::report) fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "unknown".to_owned())
}

/// `TSC_META=key=value,…`.
pub(in crate::report) fn meta() -> MetaMap {
    let value = std::env::var("TSC_META").unwrap_or_default();
    pairs(&value)
}

/// What has no `=` is a key without a value.
fn pairs(value: &str) -> MetaMap {
    value
        .split(',')
        .filter(|pair| !pair.trim().is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_pairs() {
        let of = pairs("commit=abc, input = a=b ,,dirty");
        let of: Vec<_> = of
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(of, [("commit", "abc"), ("dirty", ""), ("input", "a=b")]);
    }
}

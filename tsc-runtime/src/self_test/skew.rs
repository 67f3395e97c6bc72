//! How far the counters of two CPUs are apart.
//!
//! Two threads, each pinned to one of the CPUs, pass the counter's value back and forth. A message cannot arrive before it was
//! sent. So with `there` the least (receiver's counter − sender's counter) from A to B and `back` that from B to A, B's counter
//! is ahead of A's by no more than `there` and behind by no more than `back`: by (`there` − `back`) / 2, give or take half the
//! sum, which is half a round trip between the caches. What is smaller than that cannot be resolved, and does not matter to a thread
//! that migrates either, for a migration takes longer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread;

use super::Finding;
use crate::affinity::{self, AffinityError, Cpus};
use crate::calibration;
use crate::tsc::clock;
use crate::tsc::{FencePolicy, Lfence, Ticks, elapsed};

/// Messages each way; the least of them counts.
const EXCHANGES: u32 = 4000;
/// A pair of CPUs of which one is busy is given up after this time.
const PATIENCE_SECONDS: f64 = 0.08;
/// A skew known less well than this is not known: it would not show beside the least that a migration costs anyway.
const RESOLVED_SECONDS: f64 = 2e-6;
/// Up to this many CPUs every pair is tried; beyond it, each CPU with the first.
const EVERY_PAIR: usize = 8;

/// B's counter minus A's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Skew {
    ticks: f64,
    bound: f64,
}

impl Skew {
    /// From the least differences there and back.
    fn new(there: i64, back: i64) -> Self {
        Self {
            ticks: (there - back) as f64 / 2.0,
            bound: (there + back) as f64 / 2.0,
        }
    }

    /// Whether the counters are apart for certain.
    fn is_certain(&self) -> bool {
        self.ticks.abs() > self.bound
    }
}

const NAME: &str = "skew between CPUs";
const UNKNOWN: &str =
    "a thread that migrates during a call may measure the difference of two counters";

pub(super) fn line() -> Finding {
    if clock::availability().is_err() {
        return Finding::good(NAME, "not looked at", "the counter is not in use");
    }
    let rate = match calibration::rate() {
        Ok(rate) => rate.hz,
        Err(error) => {
            return Finding::unknown(NAME, error.to_string(), UNKNOWN, "see the rate line");
        }
    };
    let cpus = match affinity::cpus() {
        Ok(cpus) => cpus,
        Err(error) => {
            return Finding::unknown(
                NAME,
                error.to_string(),
                UNKNOWN,
                "look at the report's anomalies",
            );
        }
    };
    if cpus.len() < 2 {
        return Finding::good(
            NAME,
            format!("{} only", Cpus(&cpus)),
            "this thread cannot migrate",
        );
    }
    let pairs = pairs(&cpus);
    let mut found = Vec::with_capacity(pairs.len());
    let mut failed = None;
    for &(a, b) in &pairs {
        match measure(a, b, (PATIENCE_SECONDS * rate) as i64) {
            Ok(Some(skew)) => found.push((a, b, skew)),
            Ok(None) => {}
            Err(error) => failed = Some(error.to_string()),
        }
    }
    evaluate(&found, pairs.len(), RESOLVED_SECONDS * rate, failed)
}

/// What the pairs that were measured say, of `tried`, if a skew must be known to `resolved` ticks.
fn evaluate(
    found: &[(usize, usize, Skew)],
    tried: usize,
    resolved: f64,
    failed: Option<String>,
) -> Finding {
    let widest = |pairs: &mut dyn Iterator<Item = &(usize, usize, Skew)>| {
        pairs
            .max_by(|(.., x), (.., y)| x.ticks.abs().total_cmp(&y.ticks.abs()))
            .map(|(a, b, skew)| {
                format!(
                    "{:+.0} ± {:.0} ticks (CPU {a} to {b}, the widest of {} of {tried} pairs)",
                    skew.ticks,
                    skew.bound,
                    found.len(),
                )
            })
    };
    if let Some(value) = widest(&mut found.iter().filter(|(.., skew)| skew.is_certain())) {
        return Finding::bad(
            NAME,
            value,
            "the counters of these CPUs are apart: a call that migrates is wrong by that, or an anomaly",
            "pin threads with affinity::pin; update the firmware",
        );
    }
    let unresolved = found
        .iter()
        .filter(|(.., skew)| skew.bound > resolved)
        .max_by(|(.., x), (.., y)| x.bound.total_cmp(&y.bound));
    if let Some((a, b, skew)) = unresolved {
        return Finding::unknown(
            NAME,
            format!(
                "known to ± {:.0} ticks only (CPU {a} to {b}): the two hardly ran at the same time",
                skew.bound
            ),
            UNKNOWN,
            "run again on an idle machine",
        );
    }
    match widest(&mut found.iter()) {
        Some(value) if found.len() == tried => Finding::good(
            NAME,
            value,
            "no message arrived before it was sent: the counters agree as far as this resolves",
        ),
        Some(value) => Finding::unknown(
            NAME,
            value,
            "no skew was seen, but some CPUs were busy or refused",
            "run again on an idle machine",
        ),
        None => Finding::unknown(
            NAME,
            failed.unwrap_or_else(|| "the CPUs were busy with other work".into()),
            UNKNOWN,
            "run again on an idle machine",
        ),
    }
}

/// The pairs that are tried.
fn pairs(cpus: &[usize]) -> Vec<(usize, usize)> {
    let firsts = if cpus.len() <= EVERY_PAIR {
        cpus.len()
    } else {
        1
    };
    let with_later = |i: usize| cpus[i + 1..].iter().map(move |&later| (cpus[i], later));
    (0..firsts).flat_map(with_later).collect()
}

/// A mailbox that shares its cache line, and the line the prefetcher takes with it, with nothing else. 0 is empty.
#[repr(align(128))]
#[derive(Default)]
struct Mailbox(AtomicU64);

impl Mailbox {
    fn send(&self) {
        self.0.store(Lfence::start(), Release);
    }

    /// The ticks since the message in it was sent, or `None` if `give_up` first.
    fn receive(&self, give_up: impl Fn() -> bool) -> Option<i64> {
        loop {
            let sent = self.0.load(Acquire);
            if sent != 0 {
                let way = elapsed(sent, Lfence::start());
                self.0.store(0, Relaxed);
                return Some(way);
            }
            if give_up() {
                return None;
            }
            std::hint::spin_loop();
        }
    }
}

/// The skew of `b` against `a`; `None` if one of them was too busy to answer.
fn measure(a: usize, b: usize, patience: i64) -> Result<Option<Skew>, AffinityError> {
    let (ping, pong, stop) = (
        Mailbox::default(),
        Mailbox::default(),
        AtomicBool::new(false),
    );
    thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let _pinned = affinity::pin(b)?;
            let mut there: Option<i64> = None;
            while let Some(way) = ping.receive(|| stop.load(Relaxed)) {
                there = least(there, way);
                pong.send();
            }
            Ok(there)
        });
        // On a thread of its own, so that the caller's affinity is left alone.
        let asking = scope.spawn(|| {
            let asked = ask(a, &ping, &pong, patience);
            stop.store(true, Relaxed);
            asked
        });
        // A thread here cannot panic; if it could, there would be no finding.
        let back = asking.join().unwrap_or(Ok(None))?;
        let there = answering.join().unwrap_or(Ok(None))?;
        Ok(there.zip(back).map(|(there, back)| Skew::new(there, back)))
    })
}

fn ask(
    a: usize,
    ping: &Mailbox,
    pong: &Mailbox,
    patience: i64,
) -> Result<Option<i64>, AffinityError> {
    let _pinned = affinity::pin(a)?;
    let began: Ticks = clock::now();
    let out_of_patience = || !(0..patience).contains(&elapsed(began, clock::now()));
    let mut back = None;
    for _ in 0..EXCHANGES {
        ping.send();
        let Some(way) = pong.receive(out_of_patience) else {
            break;
        };
        back = least(back, way);
    }
    Ok(back)
}

fn least(so_far: Option<i64>, way: i64) -> Option<i64> {
    Some(so_far.map_or(way, |so_far| so_far.min(way)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict;

    #[test]
    fn skew_within_half_a_round_trip_is_not_certain() {
        let skew = Skew::new(171, 193);
        assert_eq!((skew.ticks, skew.bound), (-11.0, 182.0));
        assert!(!skew.is_certain());
        // B is 1000 ahead: messages to it seem to take longer, those from it to arrive before they were sent.
        let ahead = Skew::new(1171, -807);
        assert_eq!((ahead.ticks, ahead.bound), (989.0, 182.0));
        assert!(ahead.is_certain());
    }

    #[test]
    fn skew_that_is_not_resolved_is_unknown() {
        let skew = |there, back| (0, 1, Skew::new(there, back));
        let verdict = |found: &[_]| evaluate(found, 1, 4000.0, None).verdict;
        assert_eq!(verdict(&[skew(171, 193)]), Verdict::Good);
        assert_eq!(verdict(&[skew(90_000, 90_300)]), Verdict::Unknown);
        assert_eq!(verdict(&[skew(2_800_000_000, 150)]), Verdict::Unknown);
        assert_eq!(verdict(&[]), Verdict::Unknown);
        assert_eq!(verdict(&[skew(1171, -807)]), Verdict::Bad);
        assert_eq!(verdict(&[skew(2_800_000_000, -807)]), Verdict::Bad);
        // One of two pairs says nothing of the other.
        let half = evaluate(&[skew(171, 193)], 2, 4000.0, None);
        assert_eq!(half.verdict, Verdict::Unknown);
        let refused = evaluate(&[], 1, 4000.0, Some("refused".into()));
        assert_eq!(
            (refused.verdict, &refused.value[..]),
            (Verdict::Unknown, "refused")
        );
    }

    #[test]
    fn pairs_are_all_of_a_few_and_a_star_of_many() {
        assert_eq!(pairs(&[0, 1]), [(0, 1)]);
        assert_eq!(pairs(&[0, 2, 5]), [(0, 2), (0, 5), (2, 5)]);
        let many: Vec<usize> = (0..64).collect();
        assert_eq!(pairs(&many).len(), 63);
        assert!(pairs(&many).iter().all(|&(a, _)| a == 0));
    }

    #[test]
    fn caller_keeps_its_cpus() {
        let before = affinity::cpus().ok();
        let line = line();
        assert_eq!(affinity::cpus().ok(), before, "{line:?}");
    }
}

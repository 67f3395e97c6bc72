//! The difference between the counters of two CPUs.
//!
//! Two threads, each pinned to one of the CPUs, send each other the counter's value. Let `there` be the smallest difference (receiver's
//! counter − sender's counter) of all messages from A to B, and `back` that of all messages from B to A. A message cannot arrive before
//! it was sent, so B's counter is ahead of A's by at most `there` and behind it by at most `back`. The estimate is
//! (`there` − `back`) / 2, with an error of (`there` + `back`) / 2, which is half a round trip between the caches. A smaller skew cannot
//! be resolved. Such a skew does not matter to a thread that migrates, because the migration takes longer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread::{self, Builder};
use std::{io, iter};

use super::{Finding, bad, good, unknown};
use crate::affinity::{self, Cpus};
use crate::calibration;
use crate::tsc::{FencePolicy, Lfence, clock, elapsed};

/// Messages in each direction, of which the fastest counts.
const EXCHANGES: usize = 4000;
/// The time after which a pair of CPUs is given up because one of them is busy.
const PATIENCE_SECONDS: f64 = 0.08;
/// A skew with a larger error than this is unknown. This is less than the cost of a migration.
const RESOLVED_SECONDS: f64 = 2e-6;
/// With at most this many CPUs, every pair is tested; with more, each CPU is tested with the first.
const EVERY_PAIR: usize = 8;

/// B's counter minus A's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Skew {
    ticks: f64,
    bound: f64,
}

impl Skew {
    /// Estimates the skew from the smallest differences there and back.
    fn new(there: i64, back: i64) -> Self {
        Self {
            ticks: (there - back) as f64 / 2.0,
            bound: (there + back) as f64 / 2.0,
        }
    }

    /// Whether the counters certainly differ.
    fn is_certain(&self) -> bool {
        self.ticks.abs() > self.bound
    }
}

fn not_known(value: String, advice: &'static str) -> Finding {
    unknown(value)
        .means("if the counters differ, calls during which the thread migrates are wrong by the difference")
        .advise(advice)
}

pub(super) fn line() -> Finding {
    if clock::availability().is_err() {
        return good("not checked").means("the counter is not in use");
    }
    let (rate, cpus) = match (calibration::rate(), affinity::cpus()) {
        (Err(error), _) => return not_known(error.to_string(), "see the finding `rate`"),
        (_, Err(error)) => return not_known(error.to_string(), "see the anomalies in reports"),
        (_, Ok(cpus)) if cpus.len() < 2 => {
            return good(format!("only {}", Cpus(&cpus))).means("this thread cannot migrate");
        }
        (Ok(rate), Ok(cpus)) => (rate.hz, cpus),
    };
    let pairs = pairs(&cpus);
    let mut found = Vec::with_capacity(pairs.len());
    let mut failed = None;
    for &(a, b) in &pairs {
        match measure(a, b, (PATIENCE_SECONDS * rate) as i64) {
            Ok(skew) => found.extend(skew.map(|skew| (a, b, skew))),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    evaluate(&found, pairs.len(), RESOLVED_SECONDS * rate, failed)
}

/// The finding from the pairs that were measured, of `tried` pairs. A skew must be known to `resolved` ticks.
fn evaluate(
    found: &[(usize, usize, Skew)],
    tried: usize,
    resolved: f64,
    failed: Option<String>,
) -> Finding {
    let widest = |pairs: &mut dyn Iterator<Item = &(usize, usize, Skew)>| {
        let (a, b, Skew { ticks, bound }) =
            pairs.max_by(|(.., x), (.., y)| x.ticks.abs().total_cmp(&y.ticks.abs()))?;
        let measured = found.len();
        Some(format!(
            "{ticks:+.0} ± {bound:.0} ticks (CPU {a} to {b}, the widest of {measured} of {tried} pairs)"
        ))
    };
    if let Some(value) = widest(&mut found.iter().filter(|(.., skew)| skew.is_certain())) {
        return bad(value)
            .means("the counters of these CPUs differ: calls during which the thread migrates are wrong by this much")
            .advise("pin threads with affinity::pin; update the firmware");
    }
    let unresolved = found.iter().filter(|(.., skew)| skew.bound > resolved);
    let least_known = unresolved.max_by(|(.., x), (.., y)| x.bound.total_cmp(&y.bound));
    if let Some((a, b, Skew { bound, .. })) = least_known {
        let value = format!(
            "only known to ± {bound:.0} ticks (CPU {a} to {b}): the two threads hardly ran at the same time"
        );
        return not_known(value, "run again on an idle machine");
    }
    match widest(&mut found.iter()) {
        Some(value) if found.len() == tried => {
            good(value).means("no difference was found: the counters agree within the error")
        }
        Some(value) => unknown(value)
            .means("no difference was found, but some CPUs were busy or not available")
            .advise("run again on an idle machine"),
        None => {
            let why = failed.unwrap_or_else(|| "the CPUs were busy with other work".into());
            not_known(why, "run again on an idle machine")
        }
    }
}

/// The pairs that are tested.
fn pairs(cpus: &[usize]) -> Vec<(usize, usize)> {
    let is_first = |i: &usize| *i == 0 || cpus.len() <= EVERY_PAIR;
    let with_later = |i: usize| cpus[i + 1..].iter().map(move |&later| (cpus[i], later));
    let firsts = (0..cpus.len()).filter(is_first);
    firsts.flat_map(with_later).collect()
}

/// A message, or 0 if there is none. The alignment keeps other data out of its cache line and out of the one that the prefetcher loads
/// with it.
#[repr(align(128))]
#[derive(Default)]
struct Mailbox(AtomicU64);

impl Mailbox {
    fn send(&self) {
        self.0.store(Lfence::start(), Release);
    }

    /// Waits for a message and returns the ticks since it was sent, or `None` if `give_up` returns true before one arrives.
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
fn measure(a: usize, b: usize, patience: i64) -> io::Result<Option<Skew>> {
    let [ping, pong] = [Mailbox::default(), Mailbox::default()];
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // On a separate thread, so that the caller's affinity does not change. It comes first, because it ends also if there is no other.
        let asking = Builder::new().spawn_scoped(scope, || {
            let asked = affinity::pin(a).map(|_pinned| ask(&ping, &pong, patience));
            stop.store(true, Relaxed);
            asked
        })?;
        let answering = Builder::new().spawn_scoped(scope, || {
            let _pinned = affinity::pin(b)?;
            let answer = || {
                let way = ping.receive(|| stop.load(Relaxed))?;
                pong.send();
                Some(way)
            };
            Ok(iter::from_fn(answer).min())
        })?;
        // The threads do not panic; if one did, there would be no result.
        let [back, there] = [asking, answering].map(|thread| thread.join().unwrap_or(Ok(None)));
        let (back, there) = (
            back.map_err(io::Error::other)?,
            there.map_err(io::Error::other)?,
        );
        Ok(there.zip(back).map(|(there, back)| Skew::new(there, back)))
    })
}

fn ask(ping: &Mailbox, pong: &Mailbox, patience: i64) -> Option<i64> {
    let began = clock::now();
    let out_of_patience = || !(0..patience).contains(&elapsed(began, clock::now()));
    let exchange = || {
        ping.send();
        pong.receive(out_of_patience)
    };
    iter::from_fn(exchange).take(EXCHANGES).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict::{Bad, Good, Unknown};

    #[test]
    fn skew_within_half_a_round_trip_is_not_certain() {
        let skew = Skew::new(171, 193);
        assert_eq!((skew.ticks, skew.bound), (-11.0, 182.0));
        assert!(!skew.is_certain());
        // B is 1000 ahead: messages to B seem to take longer, and messages from B seem to arrive before they were sent.
        let ahead = Skew::new(1171, -807);
        assert_eq!((ahead.ticks, ahead.bound), (989.0, 182.0));
        assert!(ahead.is_certain());
    }

    #[test]
    fn skew_that_is_not_resolved_is_unknown() {
        let skew = |there, back| (0, 1, Skew::new(there, back));
        let verdict = |found: &[_]| evaluate(found, 1, 4000.0, None).verdict;
        assert_eq!(verdict(&[skew(171, 193)]), Good);
        assert_eq!(verdict(&[skew(90_000, 90_300)]), Unknown);
        assert_eq!(verdict(&[skew(2_800_000_000, 150)]), Unknown);
        assert_eq!(verdict(&[]), Unknown);
        assert_eq!(verdict(&[skew(1171, -807)]), Bad);
        assert_eq!(verdict(&[skew(2_800_000_000, -807)]), Bad);
        // One measured pair of two says nothing about the other.
        let half = evaluate(&[skew(171, 193)], 2, 4000.0, None);
        assert_eq!(half.verdict, Unknown);
        let refused = evaluate(&[], 1, 4000.0, Some("refused".into()));
        assert_eq!((refused.verdict, &refused.value[..]), (Unknown, "refused"));
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

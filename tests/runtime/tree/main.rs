//! The call tree: its counts are exact, its ticks add up, and the contexts of each callsite add up to its row.

mod futures;
mod panics;
mod pool;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use tsc_runtime::{Report, cycles, take, tree};

/// A lock for all tests: the figures are those of the whole process, so the tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `work` and returns the calls of every chain of functions in the call tree, outermost first, with the report.
fn chains(work: impl FnOnce()) -> (BTreeMap<String, u64>, Report) {
    assert!(
        tree(true),
        "the tree is switched on before the first call of this process"
    );
    drop(take());
    work();
    let report = take();
    (chains_of(&report), report)
}

fn chains_of(report: &Report) -> BTreeMap<String, u64> {
    let contexts = report.contexts();
    let mut chains = BTreeMap::new();
    for context in contexts {
        let mut chain = report.name_of_context(context).to_owned();
        let mut parent = context.parent();
        while let Some(index) = parent {
            let context = &contexts[index as usize];
            chain = format!("{} > {chain}", report.name_of_context(context));
            parent = context.parent();
        }
        *chains.entry(chain).or_insert(0) += context.calls().unwrap_or(0);
    }
    chains
}

/// Checks what must be true of every report with a call tree.
fn check(report: &Report) {
    for (index, row) in (0..).zip(report.callsites()) {
        let of_row = || {
            let contexts = report.contexts().iter();
            contexts.filter(move |context| context.callsite() == Some(index))
        };
        let calls: u64 = of_row().filter_map(|context| context.calls()).sum();
        assert_eq!(calls, row.calls(), "{}", row.name());
        let total: f64 = of_row().map(|context| context.total_ticks()).sum();
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-6 * one.abs() + 1.0;
        assert!(
            near(total, row.total_ticks()),
            "{}: {total} {}",
            row.name(),
            row.total_ticks()
        );
        let own: f64 = of_row().map(|context| context.self_ticks()).sum();
        let expected = row.self_on_cpu_ticks().unwrap_or(row.self_ticks());
        assert!(near(own, expected), "{}: {own} {expected}", row.name());
    }
    let own: f64 = report
        .contexts()
        .iter()
        .map(|context| context.self_ticks())
        .sum();
    let roots: f64 = report
        .contexts()
        .iter()
        .filter(|context| context.parent().is_none())
        .map(|context| context.on_cpu_ticks().unwrap_or(context.total_ticks()))
        .sum();
    assert!((own - roots).abs() <= 0.001 * roots.abs(), "{own} {roots}");
}

fn expect(chains: &BTreeMap<String, u64>, expected: &[(&str, u64)]) {
    let expected: BTreeMap<String, u64> = expected
        .iter()
        .map(|&(chain, calls)| (chain.to_owned(), calls))
        .collect();
    assert_eq!(chains, &expected);
}

fn spin(turns: u64) -> u64 {
    (0..turns).fold(1_u64, |sum, turn| black_box(sum.wrapping_mul(31) ^ turn)) % 1000
}

#[cycles]
fn leaf() -> u64 {
    spin(50)
}

#[cycles]
fn twice() -> u64 {
    leaf() + leaf()
}

#[cycles]
fn root(calls: u64) -> u64 {
    (0..calls).map(|_| twice()).sum::<u64>() + leaf()
}

#[test]
fn one_callsite_has_a_context_for_every_caller() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        root(3);
        twice();
        leaf();
    });
    expect(
        &chains,
        &[
            ("leaf", 1),
            ("root", 1),
            ("root > leaf", 1),
            ("root > twice", 3),
            ("root > twice > leaf", 6),
            ("twice", 1),
            ("twice > leaf", 2),
        ],
    );
    check(&report);
}

#[cycles]
fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[cycles]
fn even(n: u64) -> bool {
    n == 0 || odd(n - 1)
}

#[cycles]
fn odd(n: u64) -> bool {
    n != 0 && even(n - 1)
}

#[test]
fn recursion_makes_no_chains() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        fib(10);
        assert!(even(10));
        assert!(odd(3));
    });
    expect(
        &chains,
        &[
            ("even", 6),
            ("even > odd", 5),
            ("fib", 177),
            ("odd", 2),
            ("odd > even", 2),
        ],
    );
    check(&report);
}

macro_rules! places {
    ($($name:ident)*) => {$(
        #[cycles]
        fn $name() -> u64 {
            leaf()
        }
    )*
    const PLACES: &[fn() -> u64] = &[$($name),*];
    };
}

places!(p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11);

#[test]
fn twelve_callers_on_four_threads() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        std::thread::scope(|scope| {
            for thread in 1..=4 {
                scope.spawn(move || {
                    for (turn, place) in PLACES.iter().enumerate() {
                        (0..=turn * thread).for_each(|_| {
                            black_box(place());
                        });
                    }
                });
            }
        });
    });
    assert_eq!(chains.len(), 24);
    for (turn, (name, calls)) in (0..12).map(|turn| (turn, (format!("p{turn}"), 10 * turn + 4))) {
        assert_eq!(chains[&name], calls, "{turn}");
        assert_eq!(chains[&format!("{name} > leaf")], calls);
    }
    check(&report);
}

#[test]
fn every_call_is_in_one_report() {
    let _alone = ALONE.lock();
    let mut calls = 0;
    let (first, report) = chains(|| {
        black_box(root(2));
    });
    check(&report);
    calls += first["root > twice > leaf"];
    let (second, report) = chains(|| {
        black_box(root(5));
    });
    check(&report);
    calls += second["root > twice > leaf"];
    assert_eq!(calls, 14);
}

#[test]
fn taken_trees_add_up() {
    let _alone = ALONE.lock();
    assert!(
        tree(true),
        "the tree is switched on before the first call of this process"
    );
    drop(take());
    let stop = AtomicBool::new(false);
    let made = AtomicU64::new(0);
    let mut taken: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |report: &Report| {
        for context in report.contexts() {
            *taken
                .entry(report.name_of_context(context).to_owned())
                .or_default() += context.calls().unwrap_or(0);
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    (0..100).for_each(|_| _ = twice());
                    // Calls of threads that end are taken, too.
                    thread::scope(|scope| _ = scope.spawn(twice).join());
                    made.fetch_add(101, Relaxed);
                }
            });
        }
        let mut takes = 0;
        while takes < 100 || made.load(Relaxed) == 0 {
            add(&take());
            takes += 1;
        }
        stop.store(true, Relaxed);
    });
    add(&take());
    let made = made.into_inner();
    expect(&taken, &[("leaf", 2 * made), ("twice", made)]);
}

/// As many contexts as there are orders of these functions, which are more than the tree has memory for at first.
macro_rules! every_order {
    ($($name:ident = $bit:literal),*) => {
        $(
            #[cycles]
            fn $name(left: u32) {
                every_order(left & !(1 << $bit));
            }
        )*
        fn every_order(left: u32) {
            $(if left & (1 << $bit) != 0 {
                $name(left);
            })*
        }
    };
}
every_order!(first = 0, second = 1, third = 2, fourth = 3);

/// Calls that run across a fork have no rows in the child. So they have no places in its tree either.
#[cfg(unix)]
#[test]
fn child_of_a_fork_begins_a_tree_of_its_own() {
    #[cycles(name = "around")]
    fn around() -> libc::pid_t {
        let child = forks();
        leaf();
        child
    }

    #[cycles(name = "forks")]
    fn forks() -> libc::pid_t {
        // SAFETY: the child calls annotated functions, looks at its report and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            twice();
        }
        child
    }

    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        every_order(0b1111);
        let child = around();
        if child == 0 {
            let seen = std::panic::catch_unwind(|| {
                let report = take();
                check(&report);
                let expected = [("leaf", 1), ("twice", 1), ("twice > leaf", 2)];
                expect(&chains_of(&report), &expected);
            });
            // SAFETY: no preconditions. The handlers at exit are the parent's.
            unsafe { libc::_exit(libc::c_int::from(seen.is_err())) };
        }
        let mut status = -1;
        // SAFETY: `status` may be written.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "the child failed");
    });
    let calls = |chain: &str| chains.get(chain).copied();
    assert_eq!(calls("around > forks"), Some(1));
    assert_eq!(calls("first > second > third > fourth"), Some(1));
    check(&report);
}

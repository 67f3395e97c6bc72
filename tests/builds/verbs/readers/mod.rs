//! A recorded call tree, exported and opened by the programs that the formats are for.

mod callgrind;
mod inferno;
mod perfetto;
mod pprof;
mod protobuf;
mod speedscope;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::project::Project;

/// A program with one function that twelve others call, recursion, mutual recursion, threads, and a name with characters that have a
/// meaning in some formats.
const PROGRAM: &str = r#"
use std::hint::black_box;
use tsc_runtime::cycles;

#[cycles]
fn leaf(rounds: u64) -> u64 {
    (0..rounds).fold(1, |x, i| black_box(x * (i | 1) % 1_000_003))
}

macro_rules! places {
    ($($name:ident)*) => {
        $(#[cycles] fn $name() -> u64 { leaf(300) + leaf(900) })*
        const PLACES: &[fn() -> u64] = &[$($name),*];
    };
}
places!(p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11);

#[cycles]
fn fib(n: u64) -> u64 {
    if n < 2 { leaf(50) } else { fib(n - 1) + fib(n - 2) }
}

#[cycles]
fn even(n: u64) -> u64 {
    leaf(20) + if n == 0 { 0 } else { odd(n - 1) }
}

#[cycles]
fn odd(n: u64) -> u64 {
    if n == 0 { 0 } else { even(n - 1) }
}

trait Shape {
    fn area(&self) -> u64;
}

impl<const N: usize> Shape for [u8; N] {
    #[cycles(per_type)]
    fn area(&self) -> u64 {
        leaf(N as u64)
    }
}

#[cycles(name = "a;b \"c\" <d> & e")]
fn outer() -> u64 {
    let places: u64 = PLACES.iter().map(|place| place()).sum();
    places + fib(12) + even(9) + [0; 700].area() + [0; 1400].area()
}

fn main() {
    let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(|| (0..4).map(|_| outer()).sum::<u64>())).collect();
    let all: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{}", all + odd(5) + leaf(5000));
}
"#;

/// A dump with a call tree, in a project's folder.
struct Recorded {
    project: Project,
    contexts: Vec<Context>,
}

/// A context of the dump.
struct Context {
    name: String,
    parent: Option<usize>,
    calls: u64,
    /// The self ticks, in the form in which they are exported.
    own: i64,
    /// The self ticks of this context and of all contexts below it.
    inclusive: i64,
}

/// The sums over all contexts of a function.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    calls: u64,
    own: i64,
    inclusive: i64,
}

/// The dump is recorded once for all tests, and each test gets a copy in a folder of its own.
fn recorded() -> Recorded {
    static DUMP: OnceLock<String> = OnceLock::new();
    let dump = DUMP.get_or_init(record);
    let project = Project::new(PROGRAM);
    project.write("tree.json", dump);
    Recorded {
        project,
        contexts: contexts(&serde_json::from_str(dump).unwrap()),
    }
}

/// Two runs, whose trees are merged.
fn record() -> String {
    let project = Project::new(PROGRAM);
    project.tsc("run --tree -n 2 --name tree").ends(0);
    project.tsc("merge tree -o tree.json").ends(0);
    project.read("tree.json")
}

impl Recorded {
    fn export(&self, format: &str, to: &str) {
        self.project
            .tsc(&format!("export tree.json --format {format} -o {to}"))
            .ends(0);
    }

    /// The sums of each function. A chain contains each function only once, so a function's contexts are never inside one another.
    fn functions(&self) -> BTreeMap<&str, Sums> {
        let mut functions = BTreeMap::<&str, Sums>::new();
        for context in &self.contexts {
            let sums = functions.entry(&context.name).or_default();
            sums.calls += context.calls;
            sums.own += context.own;
            sums.inclusive += context.inclusive;
        }
        functions
    }

    /// The ticks of the whole program.
    fn all(&self) -> i64 {
        self.contexts.iter().map(|context| context.own).sum()
    }

    /// The names of a context's chain, outermost first.
    fn stack(&self, index: usize) -> Vec<&str> {
        let context = &self.contexts[index];
        let mut stack = context
            .parent
            .map_or(Vec::new(), |parent| self.stack(parent));
        stack.push(&context.name);
        stack
    }
}

fn contexts(dump: &Value) -> Vec<Context> {
    let rows = dump["callsites"].as_array().unwrap();
    let list = dump["contexts"].as_array().unwrap();
    let mut contexts: Vec<Context> = list
        .iter()
        .map(|context| {
            let row = &rows[context["callsite"].as_u64().unwrap() as usize];
            let text = |key: &str| row[key].as_str().unwrap();
            let own = context["self_ticks"].as_f64().unwrap().max(0.0).round() as i64;
            Context {
                name: format!("{}::{}", text("module"), text("name")),
                parent: context["parent"].as_u64().map(|parent| parent as usize),
                calls: context["calls"].as_u64().unwrap(),
                own,
                inclusive: own,
            }
        })
        .collect();
    for index in (0..contexts.len()).rev() {
        if let Some(parent) = contexts[index].parent {
            contexts[parent].inclusive += contexts[index].inclusive;
        }
    }
    contexts
}

/// Checks the data that is exported: the calls are those of the program, and the inclusive ticks of a context are its self ticks plus those
/// of its callees.
#[test]
fn tree_is_that_of_the_program() {
    let recorded = recorded();
    let functions = recorded.functions();
    // fib(12) makes 233 calls of leaf, even(9) makes 5, each of the twelve functions makes 2, and each array makes 1.
    let leaves = 12 * (233 + 5 + 24 + 2) + 3 + 1;
    assert_eq!(functions["app::leaf"].calls, 2 * leaves);
    assert_eq!(functions["app::fib"].calls, 2 * 12 * 465);
    assert_eq!(functions["app::odd"].calls, 2 * (12 * 5 + 3));
    assert_eq!(functions["app::p7"].calls, 2 * 12);
    let leaves = recorded
        .contexts
        .iter()
        .filter(|context| context.name == "app::leaf");
    assert!(leaves.count() >= 18, "one for each chain");
}

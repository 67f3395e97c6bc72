//! What the page of `cargo tsc report --html` shows of a program with recursion, a tiny function and a sleep.

use std::collections::HashMap;

use crate::browser::{SHOW, browser, seen, seen_by, with_script};
use crate::project::{Project, skipped};

/// `even` and `odd` call each other, so `odd` contains most of `even` and the other way round.
const PROGRAM: &str = r#"
use std::hint::black_box;
use tsc_runtime::cycles;

fn work(rounds: u64) -> u64 {
    (0..rounds).fold(1, |x, i| black_box(x * (i | 1) % 1_000_003))
}

#[cycles]
fn even(n: u64) -> u64 {
    work(20_000) + if n > 0 { odd(n - 1) } else { 0 }
}

#[cycles]
fn odd(n: u64) -> u64 {
    work(10_000) + if n > 0 { even(n - 1) } else { 0 }
}

#[cycles]
fn tiny(n: u64) -> u64 {
    n + 1
}

/// Longer than another function may have to wait for a CPU.
#[cycles]
fn rest() {
    std::thread::sleep(std::time::Duration::from_secs(2));
}

/// What is blocked in it is in its callee.
#[cycles]
fn waits() -> u64 {
    rest();
    work(100_000)
}

fn main() {
    println!("{}", even(60) + odd(20));
    println!("{}", (0..2000).map(tiny).sum::<u64>());
    println!("{}", waits());
}
"#;

const SCRIPT: &str = r##"
<script>
addEventListener("load", () => {
  const seen = [];
  const all = document.querySelector("#flame svg").getBoundingClientRect().width;
  d3.selectAll("#flame g.frame").each(function (node) {
    const names = node.ancestors().map((one) => one.data.name).reverse().slice(1);
    if (names.length) seen.push(`box ${names.join(";")} ${this.querySelector("rect").getBoundingClientRect().width / all}`);
  });
  const names = () => [...document.querySelectorAll("#rows tr.row button")].map((button) => button.textContent);
  for (const key of ["blocked", "wall"]) {
    document.querySelector(`[data-key=${key}] button`).click();
    seen.push(`by ${key} ${names()[0]}`);
  }
  const row = report.callsites.find((one) => one.name === "tiny");
  const [, buckets] = netHistograms(row).find(([name]) => name === "samples");
  const half = buckets.reduce((sum, [, , calls]) => sum + calls, 0) / 2;
  let passed = 0;
  const [from, end] = buckets.find(([, , calls]) => (passed += calls) >= half);
  seen.push(`median in its bucket ${from <= row.p50_ticks && row.p50_ticks <= end}`);
  const interrupted = { ...row, histogram: [], interrupted_histogram: [{ from_ticks: 2048, calls: 1 }] };
  const [[, [[begin, stop]]]] = netHistograms(interrupted);
  seen.push(`interrupted from 2048 over ${Math.round(stop - begin)}`);
  for (const key of ["total", "wall"]) {
    const column = columns.find((one) => one.key === key);
    seen.push(`below 0 ${key} ${column.show({ ...row, [`${key}_ticks`]: -4 })}`);
  }
  const mark = document.querySelector("tr.row abbr.mark");
  seen.push(`mark explained ${document.getElementById("marks").textContent.includes(`${mark.textContent} ${mark.title}`)}`);
  for (const fact of document.querySelectorAll("#facts > div")) seen.push(fact.textContent);
  report.clock.ppm = 0.01;
  showMachine();
  seen.push(`rate ${document.getElementById("machine-summary").textContent.split("MHz ")[1]}`);
  SHOW
});
</script>
"##;

/// The browser's window is at least 500 pixels wide, so a narrower page is shown in a frame.
const FRAME: &str = r##"
<iframe src="framed.html" width="400" height="900" style="border: 0"></iframe>
<script>
addEventListener("message", ({ data: seen }) => { SHOW });
</script>
</body>
"##;

const FRAMED: &str = r##"
<script>
addEventListener("load", () => {
  document.querySelector("#rows tr.row button").click();
  parent.postMessage([`${innerWidth} ${document.documentElement.scrollWidth <= innerWidth}`], "*");
});
</script>
"##;

/// The share of all self ticks in each stack and in those that begin with it, by the lines of `export --format folded`.
fn shares(folded: &str) -> HashMap<String, f64> {
    let mut sums = HashMap::new();
    let mut all = 0.0;
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let count: f64 = count.parse().unwrap();
        all += count;
        let ends = stack.match_indices(';').map(|(at, _)| at);
        for end in ends.chain([stack.len()]) {
            *sums.entry(stack[..end].to_owned()).or_insert(0.0) += count;
        }
    }
    sums.values_mut().for_each(|sum| *sum /= all);
    sums
}

#[test]
fn boxes_are_as_wide_as_the_self_ticks_in_them() {
    let project = Project::new(PROGRAM);
    project.tsc("run --tree --name one -- --release").ends(0);
    project.tsc("export one --format folded -o folded").ends(0);
    project.tsc("report one --html page.html").ends(0);
    // Without the crate's name, as in the page.
    let shares = shares(&project.read("folded").replace("app::", ""));
    let Some(browser) = browser() else {
        return skipped("there is no Chromium to open the page in");
    };
    let window = (1280, 900);
    let figures = seen_by(SCRIPT, browser, &project, window);
    let boxes: HashMap<&str, f64> = figures
        .lines()
        .filter_map(|line| line.strip_prefix("box ")?.rsplit_once(' '))
        .map(|(stack, width)| (stack, width.parse().unwrap()))
        .collect();
    for (stack, share) in &shares {
        let width = boxes.get(stack.as_str()).copied().unwrap_or(0.0);
        assert!((width - share).abs() < 0.005, "{stack}: {share}\n{figures}");
    }
    // What was subtracted for probes may be more than calls took.
    for key in ["total", "wall"] {
        assert!(
            figures.contains(&format!("below 0 {key} 0 ns")),
            "{figures}"
        );
    }
    // Each contains calls of the other that are nearly all of the time.
    assert!(boxes["even;odd"] < 0.6 * boxes["even"], "{figures}");
    let is_said = |what: &str| figures.lines().any(|line| line == what);
    let says = |what: &str| assert!(is_said(what), "{what}: {figures}");
    says("by blocked rest");
    says("by wall waits");
    says("median in its bucket true");
    says("interrupted from 2048 over 64");
    says("mark explained true");
    says("rate ± 0.1 ppm");
    let text = project.tsc("report one").ends(0).out;
    let probes = text
        .split_once(" of it probes")
        .and_then(|(before, _)| before.rsplit_once(", "));
    let (_, probes) = probes.unwrap_or_else(|| panic!("{text}"));
    says(&format!("probes{probes} of the CPU time"));
    let page = project.read("page.html");
    project.write("framed.html", &with_script(&page, FRAMED));
    project.write("narrow.html", &FRAME.replace("SHOW", SHOW));
    let url = format!("file://{}", project.path("narrow.html").display());
    assert_eq!(seen(browser, &url, window), "400 true");
}

const NO_TREE: &str = r##"
<script>
addEventListener("load", () => {
  const seen = [];
  const isVisible = (id) => document.getElementById(id).checkVisibility();
  seen.push(["no-tree", "flame-search", "flame-reset", "flame-details", "flame"].map(isVisible).join(","));
  seen.push(document.getElementById("rows").checkVisibility());
  SHOW
});
</script>
"##;

#[test]
fn page_without_a_tree_has_no_controls_for_it() {
    let project = Project::new(PROGRAM);
    project.tsc("run --name one").ends(0);
    project.tsc("report one --html page.html").ends(0);
    let Some(browser) = browser() else {
        return skipped("there is no Chromium to open the page in");
    };
    let seen = seen_by(NO_TREE, browser, &project, (1280, 900));
    assert_eq!(seen, "true,false,false,false,false\ntrue");
}

//! `cargo tsc report --html`, in a real browser where there is one.

use crate::browser::{browser, seen_by};
use crate::project::{PROGRAM, Project, skipped};

/// A script that does what a user does with the page. After each step it adds a line with what is then visible.
const CLICK_THROUGH: &str = r##"
<script>
{
const boxes = () => [...document.querySelectorAll("#flame .d3-flame-graph-label")].map((label) => label.textContent);
addEventListener("load", () => {
  const seen = [];
  const rows = () => [...document.querySelectorAll("#rows tbody tr.row")];
  const names = () => rows().map((row) => row.querySelector("button").textContent).join(",");
  const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  seen.push(`boxes ${boxes().join(",")}`);
  seen.push(`rows ${names()}`);
  document.querySelector("[data-key=name] button").click();
  seen.push(`by name ${names()} ${document.querySelector("[data-key=name]").getAttribute("aria-sort")}`);
  press(document.body, "/");
  seen.push(`focus ${document.activeElement.id}`);
  const filter = document.getElementById("row-filter");
  filter.value = "work";
  filter.dispatchEvent(new Event("input"));
  seen.push(`filtered ${names()}`);
  filter.blur();
  rows()[0].querySelector("button").click();
  seen.push(`focus kept ${document.activeElement.textContent} ${document.activeElement.getAttribute("aria-expanded")}`);
  const histogram = document.querySelector(".detail svg.histogram");
  seen.push(`bars ${histogram.querySelectorAll(".samples rect").length}`);
  seen.push(`marks ${[...histogram.querySelectorAll(".mark-label")].map((mark) => mark.textContent).join(",")}`);
  const search = document.getElementById("flame-search");
  search.value = "outer";
  search.dispatchEvent(new Event("input"));
  const found = [...document.querySelectorAll("#flame rect")].filter((box) => box.getAttribute("fill") === "#e600e6");
  seen.push(`found ${found.length}`);
  const frames = () => [...document.querySelectorAll("#flame g.frame")];
  const outer = frames().find((frame) => frame.getAttribute("aria-label").startsWith("outer:"));
  outer.focus();
  seen.push(`focused box ${document.activeElement === outer && document.getElementById("flame-details").value}`);
  const width = () => outer.querySelector("rect").getBoundingClientRect().width;
  const [before, all] = [width(), document.getElementById("flame").clientWidth];
  press(outer, "Enter");
  seen.push(`zoomed ${before <= width() && width() > 0.99 * all}`);
  const isTime = () => / [µnm]?s$/.test(rows()[0].querySelector("[data-key=total]").textContent);
  const time = isTime();
  const unit = document.getElementById("unit");
  unit.value = "ticks";
  unit.dispatchEvent(new Event("change"));
  seen.push(`time, then ticks ${time && !isTime()}`);
  const stillFound = [...document.querySelectorAll("#flame rect")].filter((box) => box.getAttribute("fill") === "#e600e6");
  seen.push(`still found ${stillFound.length}`);
  seen.push(`heading ${document.querySelector("h1").textContent.trim()}`);
  seen.push(`wider than the window ${document.documentElement.scrollWidth > innerWidth}`);
  SHOW
});
}
</script>
"##;

/// What follows `what` in the line that begins with it.
fn said<'a>(seen: &'a str, what: &str) -> &'a str {
    let line = seen.lines().find_map(|line| line.strip_prefix(what));
    line.unwrap_or_else(|| panic!("{what}: {seen}")).trim()
}

#[test]
fn page_needs_no_network_and_works_in_a_browser() {
    let project = Project::new(PROGRAM);
    project
        .tsc("run --tree --name first -- --release")
        .ends(0)
        .says("result ");
    project
        .tsc("report first --html page.html")
        .ends(0)
        .remarks("wrote page.html");
    let text = project.read("page.html");
    assert!(text.len() < 1_000_000 && !text.contains("src=\"http"));
    let Some(browser) = browser() else {
        return skipped("there is no Chromium to open the page in");
    };
    for width in [500, 1280, 2000] {
        let seen = seen_by(CLICK_THROUGH, browser, &project, (width, 900));
        let says = |what: &str| said(&seen, what);
        assert!(
            says("boxes").contains("outer") && says("boxes").contains("work"),
            "{seen}"
        );
        assert_eq!(says("by name"), "outer,work ascending");
        assert_eq!(says("focus"), "row-filter");
        assert_eq!(says("filtered"), "work");
        assert!(says("bars").parse::<u32>().unwrap() > 10, "{seen}");
        assert!(
            says("marks").contains("p50") && says("marks").contains("first"),
            "{seen}"
        );
        assert_eq!(says("found"), "1");
        assert!(says("focused box").starts_with("outer: "), "{seen}");
        assert!(says("focused box").ends_with(", 2 calls"), "{seen}");
        assert_eq!(says("zoomed"), "true");
        assert_eq!(says("focus kept"), "work true");
        assert_eq!(says("time, then ticks"), "true");
        assert_eq!(says("still found"), "1");
        assert_eq!(says("heading"), "app");
        assert_eq!(says("wider than the window"), "false");
    }
}

/// On a page with `--since`, the script reads what rows and boxes say about the change, and zooms into a box.
const CLICK_THROUGH_A_CHANGE: &str = r##"
<script>
addEventListener("load", () => {
  const seen = [];
  const cells = () => [...document.querySelectorAll("#rows tbody tr.row")].map((row) => [row.querySelector("button"), row.querySelector("[data-key=change]")]);
  seen.push(`heading ${document.querySelector("[data-key=change]").textContent.trim()}`);
  document.querySelector("[data-key=change] button").click();
  seen.push(`sorted ${["ascending", "descending"].includes(document.querySelector("[data-key=change]").getAttribute("aria-sort"))}`);
  seen.push(`rows ${cells().map(([name, change]) => `${name.textContent}:${change.firstElementChild?.className ?? "none"}`).sort().join(",")}`);
  seen.push(`cells ${cells().map(([, change]) => change.textContent).join(",")}`);
  const frames = () => [...document.querySelectorAll("#flame g.frame")];
  const tone = (frame) => {
    const [red, green, blue] = d3.rgb(frame.querySelector("rect").getAttribute("fill")).rgb().toString().match(/\d+/g).map(Number);
    return red > blue ? "red" : blue > red ? "blue" : red === green ? "grey" : "other";
  };
  const named = (name) => frames().find((frame) => frame.getAttribute("aria-label").startsWith(`${name}:`));
  seen.push(`boxes ${["outer", "work"].map((name) => `${name}:${tone(named(name))}`).join(",")}`);
  seen.push(`label ${named("work").getAttribute("aria-label")}`);
  seen.push(`legend ${document.getElementById("flame-legend").textContent}`);
  named("work").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  seen.push(`zoomed ${named("work").querySelector("rect").getBoundingClientRect().width > 0.99 * document.getElementById("flame").clientWidth}`);
  seen.push(`still ${tone(named("work"))}`);
  SHOW
});
</script>
"##;

#[test]
fn page_of_a_change_is_coloured_by_it() {
    let program = PROGRAM.replace(
        "inner::work(2000)",
        "inner::work(if std::env::args().nth(1).is_some() { 60_000 } else { 2000 })",
    );
    let project = Project::new(&program);
    project.tsc("run --tree --name before -- --release").ends(0);
    let source = project.read("src/main.rs");
    project.write("src/main.rs", &format!("// Moves every line.\n{source}"));
    project
        .tsc("run --tree --name after -- --release -- slower")
        .ends(0);
    let pages = [
        ("after", "before", "slower", "red"),
        ("before", "after", "faster", "blue"),
        ("after", "after", "none", "grey"),
    ];
    for (report, since, class, tone) in pages {
        project
            .tsc(&format!("report {report} --html page.html --since {since}"))
            .ends(0)
            .remarks("wrote page.html");
        let text = project.read("page.html");
        assert!(!text.contains("id=\"base\">null<"));
        let Some(browser) = browser() else {
            return skipped("there is no Chromium to open the page in");
        };
        for width in [500, 1280, 2000] {
            let seen = seen_by(CLICK_THROUGH_A_CHANGE, browser, &project, (width, 900));
            let says = |what: &str| said(&seen, what);
            assert!(says("heading").starts_with("change of mean"), "{seen}");
            assert_eq!(says("sorted"), "true");
            // Two calls are too few to resolve a change.
            assert_eq!(says("rows"), format!("outer:none,work:{class}"));
            assert_eq!(says("boxes"), format!("outer:grey,work:{tone}"));
            let is_resolved = !says("label").ends_with("% (not resolved)");
            assert_eq!(is_resolved, since != report, "{seen}");
            assert!(says("legend").contains("grey not resolved"), "{seen}");
            assert_eq!(says("zoomed"), "true");
            assert_eq!(says("still"), tone);
        }
    }
}

#[test]
fn page_of_a_change_without_a_tree_says_how_to_record_one() {
    let project = Project::new(PROGRAM);
    project.tsc("run --name before").ends(0);
    project.tsc("run --name after").ends(0);
    project
        .tsc("report after --html page.html --since before")
        .ends(0)
        .remarks("record the call tree");
    assert!(!project.read("page.html").contains("id=\"base\">null<"));
    project.refuses(
        "report after --html /nowhere/page.html",
        "cannot write /nowhere/page.html",
    );
}

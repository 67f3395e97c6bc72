//! The slowest calls of a row on the page.

use crate::browser::{browser, seen_by};
use crate::project::{PROGRAM, Project, skipped};

/// Selects the row `work`, and lists what is said of its slowest calls.
const SELECT: &str = r##"
<script>
addEventListener("load", () => {
  const seen = [];
  const row = [...document.querySelectorAll("#rows tbody tr.row")].find((row) => row.textContent.includes("work"));
  row.click();
  seen.push(document.querySelector(".detail h3").textContent);
  seen.push(...[...document.querySelectorAll(".detail .slowest li")].map((call) => call.textContent));
  SHOW
});
</script>
"##;

#[test]
fn row_that_is_selected_lists_its_slowest_calls() {
    let Some(browser) = browser() else {
        return skipped("there is no Chromium to open the page in");
    };
    let project = Project::new(PROGRAM);
    project.tsc("run --name slow").ends(0);
    project.tsc("report slow --html page.html").ends(0);
    let seen = seen_by(SELECT, browser, &project, (1200, 900));
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[0], "Slowest calls");
    assert_eq!(lines.len(), 1 + 5, "{seen}");
    for line in &lines[1..] {
        assert!(
            line.contains(" on the CPU") && line.contains("thread main "),
            "{seen}"
        );
        assert!(line.ends_with("called by outer"), "{seen}");
    }
}

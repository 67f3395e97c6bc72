//! Opens a page in a real browser, if one is installed. A script in the page lists what is visible.

use std::process::Command;

use crate::project::Project;

/// The end of a script: writes the list `seen` into the page, where the function [`seen`] finds it. It is put in the place of its name.
pub(crate) const SHOW: &str = "const list = document.createElement('pre'); list.id = 'seen'; \
                               list.textContent = seen.join('\\n'); document.body.append(list);";

/// The name of the browser's program, if one is installed.
pub(crate) fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// The page with this script at its end.
pub(crate) fn with_script(page: &str, script: &str) -> String {
    let script = script.replace("SHOW", SHOW);
    page.replace("</body>", &format!("{script}</body>"))
}

/// What this script saw on the project's `page.html`, in a window of this size.
pub(crate) fn seen_by(
    script: &str,
    browser: &str,
    project: &Project,
    window: (u32, u32),
) -> String {
    let page = with_script(&project.read("page.html"), script);
    project.write("scripted.html", &page);
    let url = format!("file://{}", project.path("scripted.html").display());
    seen(browser, &url, window)
}

/// What the script of a page saw, in a window of this size. On a busy machine, the browser may end before the script does, and is then
/// started again.
pub(crate) fn seen(browser: &str, url: &str, window: (u32, u32)) -> String {
    const TRIES: usize = 4;
    let mut complaints = String::new();
    for _ in 0..TRIES {
        match show(browser, url, window) {
            Ok(seen) => return seen,
            Err(what) => complaints = what,
        }
    }
    panic!("the script did not come to its end:\n{complaints}");
}

/// If the script did not end, `Err` with the page and the browser's messages.
fn show(browser: &str, url: &str, window: (u32, u32)) -> Result<String, String> {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox"])
        // The CPU draws, because no graphics hardware is needed, WebGL included.
        .args(["--disable-gpu", "--enable-unsafe-swiftshader"])
        .args(["--disable-background-networking", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={},{}", window.0, window.1))
        // A limit in the browser's virtual time, which advances while the page waits.
        .args(["--virtual-time-budget=600000", "--dump-dom"])
        .arg(url)
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split_once("<pre id=\"seen\">");
    let Some((text, _)) = seen.and_then(|(_, seen)| seen.split_once("</pre>")) else {
        let complaints = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{dom}\n{complaints}"));
    };
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    Ok(text.replace("&nbsp;", " ").replace("&amp;", "&"))
}

//! Shows on a terminal how far a long task is. In a pipe nothing is shown.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::escape;

/// An indicator for a task of unknown length.
#[must_use]
pub fn spinner(title: &str) -> ProgressBar {
    let bar = hidden(None, title, "{spinner} {prefix} {elapsed} {wide_msg:.dim}");
    show(&bar);
    bar
}

/// A bar for this many runs. It is not visible before `show` is called.
#[must_use]
pub fn runs(title: &str, count: u64) -> ProgressBar {
    let template = "{prefix}: run {pos} of {len} [{bar:30}] {eta} left {wide_msg:.dim}";
    hidden(Some(count), title, template)
}

/// Makes the bar visible. If it already is, nothing is done, because setting the target again would draw a second bar below the first.
pub fn show(bar: &ProgressBar) {
    if bar.is_hidden() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(250));
    }
}

/// The target is set last, because each other setting would draw the bar.
fn hidden(count: Option<u64>, title: &str, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(count, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(title.to_owned());
    bar
}

/// Prints a line for people on standard error.
pub fn remark(text: &str) {
    // If nobody reads it, as after the terminal's end, the work goes on.
    let _ = escape::line(&mut anstream::stderr(), &format!("tsc: {text}"));
}

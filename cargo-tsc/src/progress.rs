//! What a terminal shows while something takes long. In a pipe there is nothing of it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// For a task of unknown length.
#[must_use]
pub fn spinner(title: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_prefix(title.to_owned());
    set_style(&bar, "{spinner} {prefix} {elapsed} {wide_msg:.dim}");
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// For so many runs.
#[must_use]
pub fn runs(title: &str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count);
    bar.set_prefix(title.to_owned());
    set_style(
        &bar,
        "{prefix}: run {pos} of {len} [{bar:30}] {eta} left {wide_msg:.dim}",
    );
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

/// A line for people, beside the data.
pub fn remark(text: &str) {
    anstream::eprintln!("tsc: {text}");
}

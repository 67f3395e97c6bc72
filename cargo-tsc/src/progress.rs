//! What a terminal shows while something takes long. In a pipe there is nothing of it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// For a task of unknown length.
#[must_use]
pub fn spinner(title: &str) -> ProgressBar {
    let bar = hidden(None, title, "{spinner} {prefix} {elapsed} {wide_msg:.dim}");
    show(&bar);
    bar
}

/// For so many runs; not to be seen before it is shown.
#[must_use]
pub fn runs(title: &str, count: u64) -> ProgressBar {
    let template = "{prefix}: run {pos} of {len} [{bar:30}] {eta} left {wide_msg:.dim}";
    hidden(Some(count), title, template)
}

/// Shows it from now on. A target that is set again would draw below what the last one has drawn.
pub fn show(bar: &ProgressBar) {
    if bar.is_hidden() {
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(250));
    }
}

/// Without a target until all is set, since each setting draws.
fn hidden(count: Option<u64>, title: &str, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(count, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(title.to_owned());
    bar
}

/// A line for people, beside the data.
pub fn remark(text: &str) {
    anstream::eprintln!("tsc: {text}");
}

//! What is printed for people besides results: remarks, how far a long task is, and cargo's own messages.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::{ArgAction, Args, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};

use crate::escape;

/// What is printed besides results.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct Voice {
    /// Only results and errors, also from cargo
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Also the commands that are run, and all that cargo tells
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// When to use colours [default: on a terminal; NO_COLOR means never, CLICOLOR_FORCE always]
    #[arg(long, global = true, value_name = "WHEN", env = "CARGO_TERM_COLOR")]
    color: Option<ColorChoice>,
}

/// A number of things: `1 run`, `2 processes`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    match (count, what.ends_with('s')) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{count} {what}es"),
        (_, false) => format!("{count} {what}s"),
    }
}

static VOICE: OnceLock<Voice> = OnceLock::new();

/// The bar that was shown last.
static BAR: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

fn voice() -> Voice {
    VOICE.get().copied().unwrap_or_default()
}

impl Voice {
    /// Uses these settings from now on.
    pub fn set(self) {
        match self.color {
            Some(ColorChoice::Always) => anstream::ColorChoice::Always.write_global(),
            Some(ColorChoice::Never) => anstream::ColorChoice::Never.write_global(),
            Some(ColorChoice::Auto) | None => {}
        }
        VOICE.get_or_init(|| self);
    }
}

/// Makes cargo print as much as this program, unless the command has an option for that.
pub fn pass_to_cargo(command: &mut Command) {
    let words: Vec<_> = command.get_args().map(OsStr::to_owned).collect();
    let is_given = |names: &[&str]| {
        let mut words = words.iter().map(|word| word.to_string_lossy());
        words.any(|word| names.iter().any(|name| word.starts_with(name)))
    };
    let voice = voice();
    if !is_given(&["--quiet", "-q", "--verbose", "-v"]) {
        command.args(voice.quiet.then_some("--quiet"));
        command.args((0..voice.verbose).map(|_| "--verbose"));
    }
    if let Some(color) = voice.color.filter(|_| !is_given(&["--color"])) {
        command.arg("--color").arg(color.to_string());
    }
}

/// A bar for this many runs. It is not visible before `show` is called.
#[must_use]
pub fn runs(title: &str, count: u64) -> ProgressBar {
    let template = "{prefix}: run {pos} of {len} [{bar:30}] {eta} left";
    // The target is set last, because each other setting would draw the bar.
    let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(title.to_owned());
    bar
}

/// Makes the bar visible on a terminal. If it already is, nothing is done, because setting the target again would draw a second bar below
/// the first.
pub fn show(bar: &ProgressBar) {
    if bar.is_hidden() && !voice().quiet {
        *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(250));
    }
}

/// Prints a line for people on standard error, unless the user wants only results.
pub fn remark(text: &str) {
    if !voice().quiet {
        warn(text);
    }
}

/// Prints a line on standard error that the user needs to understand the result.
pub fn warn(text: &str) {
    let print = || {
        // If nobody reads it, as after the terminal's end, the work goes on.
        let _ = escape::line(&mut anstream::stderr(), &format!("tsc: {text}"));
    };
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar.and_then(|bar| bar.upgrade()) {
        // Behind the bar, the line would be hard to find.
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Prints a message of the compiler on standard error, as the compiler shows it.
pub fn pass_on(message: &str) {
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// Prints a command that is about to be run, if the user wants to know.
pub fn announce(command: &Command) {
    if voice().verbose > 0 {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        remark(&format!("running {}", words.join(" ")));
    }
}

/// The last part of a path: the name of a session by its folder, or of a program by its path.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

/// A path as people write it: relative to the current folder if it is in there.
#[must_use]
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let inner = path.strip_prefix(here).ok();
    let inner = inner.filter(|inner| !inner.as_os_str().is_empty());
    inner.unwrap_or(path).display().to_string()
}

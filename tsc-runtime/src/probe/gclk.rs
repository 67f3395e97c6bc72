//! `gclk!`: GCLK as it was, one line at once.

use std::io::{self, Write};
use std::time::Duration;

use parking_lot::Mutex;

use crate::calibration::overhead;
use crate::record::callsite::{Callsite, Meta};
use crate::record::thread;
use crate::report::gclk_column;
use crate::tsc::clock;
use crate::tsc::{FencePolicy, Lfence, Ticks, elapsed};

/// Stands for all `gclk!`s where their overhead is measured. It is never called, so it is in no report.
static CLK: Callsite = Callsite::new::<Lfence>(Meta {
    name: Some("gclk!"),
    path: || "gclk!",
    module: module_path!(),
    file: file!(),
    line: line!(),
    unit: None,
    returns_iterator: false,
    sample: None,
});

/// Prints the net ticks since its start when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Clk {
    text: &'static str,
    visible: f64,
    overhead: u64,
    start: Ticks,
}

impl Clk {
    /// Starts to measure what `text` says.
    #[inline(always)]
    pub fn start(text: &'static str) -> Self {
        let mut clk = Self::prepared(text);
        clk.start = if clock::is_os_clock() {
            clock::now()
        } else {
            Lfence::start()
        };
        clk
    }

    #[inline(never)]
    fn prepared(text: &'static str) -> Self {
        let slow = clock::is_os_clock();
        if !slow {
            overhead::calibrate(&CLK);
        }
        let visible = if slow {
            0.0
        } else {
            overhead::of(Lfence::FENCE).visible
        };
        Self {
            text,
            visible,
            overhead: thread::this().overhead.get(),
            start: 0,
        }
    }

    #[inline(never)]
    fn print(&self, stop: Ticks) {
        let nested = thread::this().overhead.get().wrapping_sub(self.overhead);
        let raw = elapsed(self.start, stop);
        let net = raw as f64 - nested as f64 - self.visible;
        let unit = if clock::is_os_clock() { "ns" } else { "ticks" };
        write(&line(self.text, net, unit));
    }
}

/// GCLK's line and the unit. The text's line breaks and runs of spaces are one space each, or it would be several lines.
fn line(text: &str, net: f64, unit: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches(';');
    format!(":CLK: {} :{net:>14.0} {unit}\n", gclk_column(text))
}

/// Where [`gclk_to`] sends the lines; the standard error until then.
static OUTPUT: Mutex<Option<Box<dyn Write + Send>>> = Mutex::new(None);
/// The output can stay locked for good: in the child of a fork, or if it has a `gclk!` in its own `write`. After this long a line
/// goes to the standard error, and another output is not taken.
const PATIENCE: Duration = Duration::from_millis(100);

/// Sends the lines of [`gclk!`](crate::gclk) to `output` from now on, from all threads: the standard output, a file, a buffer.
///
/// Each line is one `write_all`, followed by a `flush`. What cannot be written is dropped: the program goes on as if it were not
/// measured.
///
/// ```
/// tsc_runtime::gclk_to(std::io::stdout());
/// tsc_runtime::gclk!(let sum: u32 = (1..=10).sum());
/// # assert_eq!(sum, 55);
/// ```
pub fn gclk_to(output: impl Write + Send + 'static) {
    let before = OUTPUT
        .try_lock_for(PATIENCE)
        .and_then(|mut current| current.replace(Box::new(output)));
    // Outside the lock: the output that is dropped may have a `gclk!` of its own.
    drop(before);
}

fn write(line: &str) {
    let whole = |output: &mut dyn Write| -> io::Result<()> {
        output.write_all(line.as_bytes())?;
        output.flush()
    };
    // An output that cannot be written to is no reason to stop.
    let _ = match OUTPUT.try_lock_for(PATIENCE).as_deref_mut() {
        Some(Some(output)) => whole(output),
        Some(None) | None => whole(&mut io::stderr().lock()),
    };
}

impl Drop for Clk {
    #[inline(always)]
    fn drop(&mut self) {
        let stop = if clock::is_os_clock() {
            clock::now()
        } else {
            Lfence::stop()
        };
        self.print(stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_gclks_and_has_its_unit() {
        assert_eq!(
            line("f(x);", 412.4, "ticks"),
            format!(":CLK: f(x){} :           412 ticks\n", " ".repeat(46))
        );
        let greek = line(&"μ".repeat(40), 7.0, "ticks");
        assert_eq!(greek.find(" :  "), Some(":CLK: ".len() + 50), "{greek}");
        let long = line("a(1);\n    b(2);\n", -3.0, "ns");
        assert!(long.starts_with(":CLK: a(1); b(2) "), "{long}");
        assert!(long.ends_with(" :            -3 ns\n"), "{long}");
    }
}

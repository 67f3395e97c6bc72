//! `gclk!`: like the original macro GCLK, it prints one line at once.

use std::io::{self, Write};
use std::time::Duration;

use super::unusual::add_light_calls;
use crate::calibration::overhead;
use crate::process::Errno;
use crate::record::callsite::{Callsite, meta};
use crate::record::thread;
use crate::sync::Mutex;
use crate::tsc::{FencePolicy, Lfence, Ticks, clock, elapsed};
use tsc_report::__private::gclk_column;

/// The callsite with which the overhead of all `gclk!`s is measured. It is never called, so no report has it.
static CLK: Callsite = Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named("gclk!"));

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
    /// Starts to measure the statements whose source is `text`.
    #[inline(always)]
    pub fn start(text: &'static str) -> Self {
        let mut clk = Self::calibrated(text);
        clk.start = clock::at_start::<Lfence>();
        clk
    }

    #[inline(never)]
    fn calibrated(text: &'static str) -> Self {
        let visible = if clock::detect_os_clock() {
            0.0
        } else {
            overhead::calibrate(CLK.kind());
            overhead::visible(Lfence::FENCE)
        };
        let thread = thread::this();
        add_light_calls(thread);
        Self {
            text,
            visible,
            overhead: thread.overhead.get(),
            start: 0,
        }
    }

    #[inline(never)]
    fn print(&self, stop: Ticks) {
        let _errno = Errno::save();
        let (thread, raw) = (thread::this(), elapsed(self.start, stop));
        add_light_calls(thread);
        let added = thread.overhead_since(self.overhead);
        // What annotated functions inside have waited is part of the statements, as is what the rest of them has.
        let lost = thread.on_cpu.lost_since(self.start, added).loss.off;
        let net = raw as f64 - (added as f64 - lost as f64) - self.visible;
        let unit = if clock::is_os_clock() { "ns" } else { "ticks" };
        write(&line(self.text, net, unit));
    }
}

/// GCLK's line, and the unit. Line breaks and runs of spaces in the text become single spaces, so that there is only one line. A whole number of
/// ticks is an integer, which is never `-0`.
fn line(text: &str, net: f64, unit: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let (text, net) = (text.trim_end_matches(';'), net.round() as i64);
    format!(":CLK: {} :{net:>14} {unit}\n", gclk_column(text))
}

/// The output that [`gclk_to`] has set; `None` means standard error.
static OUTPUT: Mutex<Option<Box<dyn Write + Send>>> = Mutex::new(None);
/// How long a line waits for the output. The output can stay locked forever, in the child of a fork or if its own `write` uses `gclk!`.
/// After this time the line goes to standard error, and a new output is not accepted.
const PATIENCE: Duration = Duration::from_millis(100);

/// Sends the lines of `gclk!` of all threads to `output` from now on: standard output, a file, or a buffer.
///
/// Each line is one `write_all`, followed by a `flush`. If writing fails, the line is lost, and the program continues.
///
/// ```
/// tsc_runtime::gclk_to(std::io::stdout());
/// tsc_runtime::gclk!(let sum: u32 = (1..=10).sum());
/// # assert_eq!(sum, 55);
/// ```
pub fn gclk_to(output: impl Write + Send + 'static) {
    let current = OUTPUT.try_lock_for(PATIENCE);
    let before = current.and_then(|mut current| current.replace(Box::new(output)));
    // Dropped after the lock is released, because the old output may use `gclk!` itself.
    drop(before);
}

fn write(line: &str) {
    let whole = |output: &mut dyn Write| -> io::Result<()> {
        output.write_all(line.as_bytes())?;
        output.flush()
    };
    // A failed write must not stop the program.
    let _ = match OUTPUT.try_lock_for(PATIENCE).as_deref_mut() {
        Some(Some(output)) => whole(output),
        Some(None) | None => whole(&mut io::stderr().lock()),
    };
}

impl Drop for Clk {
    #[inline(always)]
    fn drop(&mut self) {
        self.print(clock::at_stop::<Lfence>());
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
        let short = line("x += 1", -0.4, "ticks");
        assert!(short.ends_with(" :             0 ticks\n"), "{short}");
    }

    #[cfg(all(target_os = "linux", not(miri), not(shuttle)))]
    #[test]
    fn output_leaves_the_error_number_as_it_is() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                // SAFETY: the call fails, and sets errno.
                unsafe { libc::close(-1) };
                Err(io::Error::last_os_error())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        gclk_to(Closed);
        let clk = Clk::start("fails");
        // SAFETY: the address is this thread's errno.
        unsafe { *libc::__errno_location() = 77 };
        drop(clk);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(77));
    }
}

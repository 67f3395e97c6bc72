//! `gclk!`: GCLK as it was, one line at once.

use std::io::Write as _;

use crate::calibration::overhead;
use crate::record::callsite::{Callsite, Meta};
use crate::record::thread;
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
        // An unwritable stderr is no reason to stop.
        let _ = writeln!(
            std::io::stderr().lock(),
            ":CLK: {:<50.50} :{net:>14.0}",
            self.text.trim_end_matches(';')
        );
    }
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

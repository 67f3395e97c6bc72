//! The texts of a clock, which in a report from elsewhere may be any.

use super::escaped;
use crate::Clock;

impl Clock {
    /// The clock with its texts escaped, if that makes a difference.
    pub(super) fn escaped(&self) -> Option<Self> {
        let mut clock = self.clone();
        let single = [
            &mut clock.fallback_reason,
            &mut clock.hypervisor,
            &mut clock.cpu,
            &mut clock.clocksource,
            &mut clock.no_interruptions_because,
            &mut clock.no_on_cpu_because,
            &mut clock.core_cycles_source,
        ];
        let fences = clock.overheads.iter_mut().map(|of| &mut of.fence);
        let texts = single.into_iter().flatten().chain(fences);
        let lists = clock.warnings.iter_mut().chain(&mut clock.doubtful);
        for text in texts.chain(lists).chain([&mut clock.source]) {
            *text = escaped(text);
        }
        (clock != *self).then_some(clock)
    }
}

#[cfg(test)]
mod tests {
    use crate::{CallsiteReport, Clock, FenceOverhead, Report, TextForm, TextOptions};

    #[test]
    fn texts_of_a_foreign_clock_cannot_touch_the_terminal() {
        let text = || "a\n:CLK: b\x1b[2J".to_owned();
        let clock = Clock {
            source: text(),
            fallback_reason: Some(text()),
            hypervisor: Some(text()),
            cpu: Some(text()),
            clocksource: Some(text()),
            no_interruptions_because: Some(text()),
            no_on_cpu_because: Some(text()),
            core_cycles_source: Some(text()),
            overheads: vec![FenceOverhead {
                fence: text(),
                ..FenceOverhead::default()
            }],
            warnings: vec![text()],
            doubtful: vec![text()],
            ..Clock::default()
        };
        let report = Report {
            clock,
            callsites: vec![CallsiteReport::default()],
            ..Report::default()
        };
        for form in [TextForm::Short, TextForm::Full] {
            let dump = report.to_text(&TextOptions::default().form(form));
            assert!(
                !dump.contains("\n:CLK: b") && !dump.contains('\x1b'),
                "{dump}"
            );
            assert!(dump.contains(r"a\n:CLK: b\u{1b}[2J"), "{dump}");
        }
    }
}

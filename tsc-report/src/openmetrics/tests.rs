use super::*;
use crate::data::histogram::tests::histogram;
use crate::{CallsiteSums, Clock};

fn report() -> Report {
    let clock = Clock {
        hz: Some(2.6e9),
        ..Clock::default()
    };
    let mut callsite = CallsiteReport {
        name: "a\"b\\c\nd".to_owned(),
        module: "app".to_owned(),
        file: "src/main.rs".to_owned(),
        line: 7,
        histogram: histogram([31, 32, 1000, 1 << 40]),
        sums: CallsiteSums {
            samples: 4,
            sum: 31 + 32 + 1000 + (1 << 40),
            visible_milliticks: 4 * 60_500,
            ..CallsiteSums::default()
        },
        ..CallsiteReport::default()
    };
    callsite.derive(&clock);
    Report {
        clock,
        callsites: vec![callsite],
        ..Report::default()
    }
}

#[test]
fn buckets_are_cumulative_up_to_all() {
    let text = report().to_openmetrics();
    let at = |le: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains(&format!("le=\"{le}\"")));
        line.and_then(|line| line.rsplit(' ').next())
            .map(str::to_owned)
    };
    let of = ["31", "63", "511", "1023", "68719476735", "+Inf"].map(|le| at(le).unwrap());
    assert_eq!(of, ["1", "2", "2", "3", "3", "4"]);
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn labels_are_escaped_and_every_sample_has_its_family() {
    let text = report().to_openmetrics();
    assert!(
        text.contains(
            r#"tsc_calls_total{module="app",name="a\"b\\c\nd",location="src/main.rs:7"} 4"#
        ),
        "{text}"
    );
    let mut family = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap();
        } else if !line.starts_with('#') {
            assert!(line.starts_with(family), "{line} in {family}");
        }
    }
}

#[test]
fn the_older_format_has_the_same_samples() {
    let (new, old) = (report().to_openmetrics(), report().to_prometheus());
    let samples = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(samples(&new), samples(&old));
    assert!(old.contains("# TYPE tsc_calls_total counter\n"), "{old}");
    assert!(!old.contains("# UNIT") && !old.contains("# EOF"), "{old}");
}

#[test]
fn negative_sums_are_left_out() {
    let mut report = report();
    report.callsites[0].self_ticks = -3.0;
    let text = report.to_openmetrics();
    assert!(!text.contains("tsc_self_ticks_total{"), "{text}");
    assert!(text.contains("tsc_inclusive_ticks_total{"), "{text}");
}

#[test]
fn what_the_table_calls_self_is_there_beside_self_with_the_time_blocked() {
    let mut report = report();
    let callsite = &mut report.callsites[0];
    (callsite.self_ticks, callsite.self_on_cpu_ticks) = (50.0, Some(20.0));
    let value = |report: &Report, family: &str| {
        let text = report.to_openmetrics();
        let sample = text.lines().find(|line| line.starts_with(family));
        let (_, value) = sample?.rsplit_once(' ')?;
        value.parse::<f64>().ok()
    };
    assert_eq!(value(&report, "tsc_self_ticks_total{"), Some(50.0));
    assert_eq!(value(&report, "tsc_self_on_cpu_ticks_total{"), Some(20.0));
    report.callsites[0].self_on_cpu_ticks = None;
    assert_eq!(value(&report, "tsc_self_on_cpu_ticks_total{"), None);
}

#[test]
fn no_two_samples_have_the_same_labels() {
    let mut merged = report();
    let change: [fn(&mut CallsiteReport); 4] = [
        |_| {},
        |callsite| callsite.probe = crate::data::LIGHT.to_owned(),
        |callsite| callsite.fence = "rdtscp".to_owned(),
        |callsite| callsite.unit = Some("items".to_owned()),
    ];
    for change in change {
        let mut other = report();
        change(&mut other.callsites[0]);
        merged.merge(&other).unwrap();
    }
    assert_eq!(merged.callsites.len(), change.len());
    let text = merged.to_openmetrics();
    let mut series = std::collections::HashSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (labels, _) = line.rsplit_once(' ').unwrap();
        assert!(series.insert(labels), "{line} is there twice");
    }
}

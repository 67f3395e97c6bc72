//! The machine's processors, as instmeas lists them: all of them, including those that this process may not use.

use std::fmt;

use tsc_runtime::affinity;
use tsc_runtime::machine::machine;

/// A processor.
#[derive(Debug, PartialEq)]
pub(crate) struct Processor {
    number: usize,
    model: String,
    is_allowed: bool,
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Processor #{} model name: {}", self.number, self.model)?;
        if !self.is_allowed {
            f.write_str(" (not allowed to this process)")?;
        }
        Ok(())
    }
}

/// All online processors. Must be called before the thread is pinned; afterwards there would be only one.
pub(crate) fn all() -> Vec<Processor> {
    let allowed = affinity::cpus().ok();
    let is_allowed = |number| {
        allowed
            .as_ref()
            .is_none_or(|allowed| allowed.contains(&number))
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let listed = parse(&cpuinfo);
    if !listed.is_empty() {
        return listed
            .into_iter()
            .map(|(number, model)| Processor {
                number,
                model: model.unwrap_or_else(unknown_model),
                is_allowed: is_allowed(number),
            })
            .collect();
    }
    // On systems other than Linux, only the number of processors is known.
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    allowed
        .unwrap_or_else(|| (0..count).collect())
        .into_iter()
        .map(|number| Processor {
            number,
            model: unknown_model(),
            is_allowed: true,
        })
        .collect()
}

fn unknown_model() -> String {
    machine().cpu().unwrap_or("not known").to_owned()
}

/// The numbers and model names in Linux' `/proc/cpuinfo`.
fn parse(cpuinfo: &str) -> Vec<(usize, Option<String>)> {
    let mut processors: Vec<(usize, Option<String>)> = Vec::new();
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match (key.trim(), processors.last_mut()) {
            ("processor", _) => processors.extend(value.trim().parse().ok().map(|it| (it, None))),
            ("model name", Some((_, model))) => *model = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    processors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuinfo_is_parsed() {
        let two = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nflags\t: fpu\n\nprocessor\t: 3\ncpu MHz\t: 1\n";
        assert_eq!(
            parse(two),
            [(0, Some("Intel(R) Xeon(R)".to_owned())), (3, None)]
        );
        assert_eq!(parse(""), []);
        assert_eq!(parse("model name : of no processor"), []);
    }

    #[test]
    fn processors_that_are_not_allowed_are_marked() {
        let processor = Processor {
            number: 3,
            model: "X".to_owned(),
            is_allowed: false,
        };
        assert_eq!(
            processor.to_string(),
            "Processor #3 model name: X (not allowed to this process)"
        );
    }
}

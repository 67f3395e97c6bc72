//! What one run of a program gave: its time, its result and the figures in its report.

use super::Place;

/// The CPU time of a run according to the operating system, and the report if there is one.
pub struct Run {
    /// CPU time of all calls of the root, in ns.
    pub took: f64,
    /// The result of each of these calls.
    pub outcome: String,
    pub report: Option<Report>,
}

/// The part of a report that is compared.
pub struct Report {
    pub rows: Vec<Row>,
    /// Empty unless the call tree was recorded.
    pub contexts: Vec<Context>,
    /// Ticks in a nanosecond.
    pub ticks_per_ns: f64,
    /// The calibrated cost of a call to its caller.
    pub cost_ticks: f64,
}

/// Calls from one function to another, each with module and name. Both are empty for the caller of the outermost function.
pub struct Context {
    pub caller: (String, String),
    pub callee: (String, String),
    pub calls: u64,
}

impl Context {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        Some(Self {
            caller: (fields.next()?, fields.next()?),
            callee: (fields.next()?, fields.next()?),
            calls: fields.next()?.parse().ok()?,
        })
    }
}

#[derive(Clone)]
pub struct Row {
    pub module: String,
    pub name: String,
    pub place: Place,
    pub calls: u64,
    pub total: f64,
    pub own: f64,
    /// How far the total may be off.
    pub total_error: f64,
    /// The same of the self ticks.
    pub own_error: f64,
}

impl Report {
    /// Parses the output of `texts/rows.rs`, if there is any.
    pub fn parse(lines: &[String]) -> Option<Self> {
        let (clock, lines) = lines.split_first()?;
        let mut figures = clock.split(' ').map(str::parse::<f64>);
        let mut figure = || figures.next()?.ok();
        let (hz, cost_ticks) = (figure()?, figure()?);
        let (mut rows, mut contexts) = (Vec::new(), Vec::new());
        for line in lines {
            match line.strip_prefix("context\t") {
                Some(context) => contexts.push(Context::parse(context)?),
                None => rows.push(Row::parse(line)?),
            }
        }
        Some(Self {
            rows,
            contexts,
            ticks_per_ns: hz / 1e9,
            cost_ticks,
        })
    }

    pub fn root(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == "root")
    }

    pub fn calls(&self) -> u64 {
        self.rows.iter().map(|row| row.calls).sum()
    }
}

impl Row {
    /// The path of a free function. A method has the path of its type in its name.
    pub fn path(&self) -> String {
        if self.name.contains("::") {
            self.name.clone()
        } else {
            format!("{}::{}", self.module, self.name)
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let module = fields.next()?.to_owned();
        let name = fields.next()?.to_owned();
        let file = fields.next()?;
        // The crate is a path dependency, so the path that rustc gets begins above the crate's folder.
        let file = file.rsplit_once("crate/").map_or(file, |(_, file)| file);
        let line = fields.next()?.parse().ok()?;
        let calls = fields.next()?.parse().ok()?;
        let mut ticks = || fields.next()?.parse::<f64>().ok();
        Some(Self {
            module,
            name,
            place: Place {
                file: file.to_owned(),
                line,
            },
            calls,
            total: ticks()?,
            own: ticks()?,
            total_error: ticks()?,
            own_error: ticks()?,
        })
    }
}

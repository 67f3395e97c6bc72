//! What one run of a program gave: its time, its result and the figures in its report.

/// The CPU time of a run according to the operating system, and the report if there is one.
pub struct Run {
    /// CPU time of the process during all calls of the root, in ns.
    pub took: f64,
    /// The result of each of these calls.
    pub outcome: String,
    pub report: Option<Report>,
}

/// The part of a report that is compared.
pub struct Report {
    pub rows: Vec<Row>,
    /// Empty if the call paths are unknown.
    pub contexts: Vec<Context>,
    /// Ticks in a nanosecond.
    pub ticks_per_ns: f64,
    /// The CPU time of the clock of light probes, in ns.
    pub clock_took: f64,
}

/// Calls from one function to another, each with module and name. Both are empty for the caller of the outermost function.
pub struct Context {
    pub caller: (String, String),
    pub callee: (String, String),
    /// 0 if unknown.
    pub calls: u64,
    /// Inclusive ticks.
    pub total: f64,
}

pub struct Row {
    pub module: String,
    pub name: String,
    /// Where the function is defined: the path of its file in the crate, and the line of its name.
    pub place: (String, u32),
    pub calls: u64,
    /// Self ticks on the CPU.
    pub own: f64,
    /// How many ticks of the clock found the function running.
    pub clock_ticks: u64,
    /// The standard error of the self ticks.
    pub std_error: f64,
    /// The stated error of the self ticks, at 95 %.
    pub error: f64,
    /// What was subtracted from the self ticks for light probes.
    pub subtracted: f64,
}

impl Run {
    /// Parses the output of `texts/main.rs`, and of `texts/rows.rs` if there is any.
    pub fn parse(output: &str) -> Option<Self> {
        let mut lines = output.lines();
        let (took, outcome) = lines.next()?.split_once(' ')?;
        let report = match lines.next() {
            Some(head) => Some(Report::parse(head, lines)?),
            None => None,
        };
        Some(Self {
            took: took.parse().ok()?,
            outcome: outcome.to_owned(),
            report,
        })
    }
}

impl Report {
    fn parse<'a>(head: &str, lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (hz, clock_took) = head.split_once('\t')?;
        let mut report = Self {
            rows: Vec::new(),
            contexts: Vec::new(),
            ticks_per_ns: hz.parse::<f64>().ok()? / 1e9,
            clock_took: clock_took.parse().ok()?,
        };
        for line in lines {
            match line.strip_prefix("context\t") {
                Some(context) => report.contexts.push(Context::parse(context)?),
                None => report.rows.push(Row::parse(line)?),
            }
        }
        Some(report)
    }

    /// All calls of all rows.
    pub fn calls(&self) -> u64 {
        self.rows.iter().map(|row| row.calls).sum()
    }

    /// The self ticks of all rows.
    pub fn own(&self) -> f64 {
        self.rows.iter().map(|row| row.own).sum()
    }

    /// The same with what was subtracted.
    pub fn with_probes(&self) -> f64 {
        self.rows.iter().map(|row| row.own + row.subtracted).sum()
    }
}

impl Context {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        Some(Self {
            caller: (fields.next()?, fields.next()?),
            callee: (fields.next()?, fields.next()?),
            calls: fields.next()?.parse().ok()?,
            total: fields.next()?.parse().ok()?,
        })
    }
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let module = fields.next()?.to_owned();
        let name = fields.next()?.to_owned();
        let file = fields.next()?;
        // The crate is a path dependency, so the path that rustc gets begins above the crate's folder.
        let file = file.rsplit_once("crate/").map_or(file, |(_, file)| file);
        let line = fields.next()?.parse().ok()?;
        Some(Self {
            module,
            name,
            place: (file.to_owned(), line),
            calls: fields.next()?.parse().ok()?,
            own: fields.next()?.parse().ok()?,
            clock_ticks: fields.next()?.parse().ok()?,
            std_error: fields.next()?.parse().ok()?,
            subtracted: fields.next()?.parse().ok()?,
            error: fields.next()?.parse().ok()?,
        })
    }
}

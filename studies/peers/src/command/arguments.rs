//! The command line.

pub(crate) struct Arguments {
    tables: Vec<String>,
    pub(crate) rounds: Option<usize>,
    /// Of contestants; all, if there is none.
    pub(crate) names: Vec<String>,
}

const TABLES: [&str; 5] = ["burst", "sustained", "threads", "recursion", "build"];

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            tables: Vec::new(),
            rounds: None,
            names: Vec::new(),
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => arguments.tables.push("burst".to_owned()),
                "--only" => match words.next() {
                    Some(table) if TABLES.contains(&table.as_str()) => arguments.tables.push(table),
                    _ => return Err(format!("--only takes one of {}", TABLES.join(", "))),
                },
                "--rounds" => match words.next().and_then(|count| count.parse().ok()) {
                    Some(count) if count > 0 => arguments.rounds = Some(count),
                    _ => return Err("--rounds takes a number".to_owned()),
                },
                option if option.starts_with('-') => {
                    return Err(format!(
                        "no option {option}; there are --quick, --only TABLE and --rounds N"
                    ));
                }
                _ => arguments.names.push(word),
            }
        }
        Ok(arguments)
    }

    pub(crate) fn wants(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|wanted| wanted == table)
    }
}

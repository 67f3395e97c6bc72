//! The names that are nearest to an expression that matches none.

use regex_lite::Regex;

/// How many names are shown.
const SHOWN: usize = 3;

/// The message for an option whose expression matches none of these names, with those that are most similar.
#[must_use]
pub fn nothing_matches(option: &str, expression: &Regex, names: &[String]) -> String {
    if let [one] = names {
        return format!("{option} {expression} does not match the only function, {one}");
    }
    let nearest = nearest(expression.as_str(), names.iter().map(String::as_str));
    format!(
        "{option} {expression} matches none of {} functions; the nearest are {}",
        names.len(),
        nearest.join(", ")
    )
}

/// The most similar names, the nearest first. Both the whole path and the function's own name count.
#[must_use]
pub fn nearest<'a>(pattern: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let pattern = pattern.to_lowercase();
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        let last = name.rsplit("::").next().unwrap_or_default();
        strsim::jaro_winkler(&pattern, &name).max(strsim::jaro_winkler(&pattern, last))
    };
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)).then(a.cmp(b)));
    names.dedup();
    names.truncate(SHOWN);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names_come_first() {
        let names = [
            "app::main",
            "app::lexer::parse_all",
            "app::Parser::next",
            "app::print",
        ];
        assert_eq!(nearest("prase_all", names)[0], "app::lexer::parse_all");
        assert_eq!(nearest("^Next$", names)[0], "app::Parser::next");
        let names = names.map(str::to_owned);
        let text = nothing_matches("--filter", &Regex::new("pirnt").unwrap(), &names);
        assert!(
            text.starts_with(
                "--filter pirnt matches none of 4 functions; the nearest are app::print, "
            ),
            "{text}"
        );
        let text = nothing_matches("--only", &Regex::new("zzz").unwrap(), &names[..1]);
        assert_eq!(
            text,
            "--only zzz does not match the only function, app::main"
        );
    }
}

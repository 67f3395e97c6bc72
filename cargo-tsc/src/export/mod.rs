//! Writes reports in the formats of other programs.

mod benchmark;
mod callgrind;
mod folded;
mod jsonl;
mod perfetto;
mod pprof;

use anyhow::{Result, bail};
use tsc_report::Report;

use crate::command_line::Format;
use crate::session::Session;

/// The session in the given format.
///
/// # Errors
/// If the format needs data that the session does not have.
pub fn export(session: &Session, format: Format) -> Result<Vec<u8>> {
    let sum = || session.sum();
    let text = match format {
        Format::Folded => folded::text(&with_tree(session)?)?,
        Format::Pprof => return pprof::bytes(&with_tree(session)?),
        Format::Perfetto => return perfetto::bytes(session),
        Format::Callgrind => callgrind::text(&with_tree(session)?)?,
        Format::Openmetrics => sum()?.to_openmetrics(),
        Format::Prometheus => sum()?.to_prometheus(),
        Format::Bmf => benchmark::bmf(session)?,
        Format::GithubBenchmark => benchmark::github(session)?,
        Format::Jsonl => jsonl::text(session)?,
    };
    Ok(text.into_bytes())
}

/// The session's sum, for a format of the call tree.
fn with_tree(session: &Session) -> Result<Report> {
    let sum = session.sum()?;
    if sum.contexts().is_empty() {
        let command = session.tree_command();
        bail!("the report has no call tree: record it with `{command}`");
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::About;

    #[test]
    fn who_has_no_attributes_is_told_to_record_the_tree_of_all_functions() {
        let refusal = |about| {
            let session = Session {
                label: String::new(),
                path: "session".into(),
                about,
                folders: Vec::new(),
                runs: Vec::new(),
            };
            let refused = export(&session, Format::Folded).unwrap_err();
            refused.to_string()
        };
        let all = About {
            all: true,
            ..About::default()
        };
        assert!(refusal(Some(all)).ends_with("`cargo tsc run --all --tree`"));
        for about in [None, Some(About::default())] {
            assert!(refusal(about).ends_with("`cargo tsc run --tree`"));
        }
    }
}

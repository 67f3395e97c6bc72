//! Writes reports in the formats of other programs.

mod benchmark;
mod callgrind;
mod folded;
mod jsonl;
mod perfetto;
mod pprof;

use anyhow::Result;

use crate::command_line::Format;
use crate::session::Session;

/// The session in the given format.
///
/// # Errors
/// If the format needs data that the session does not have.
pub fn export(session: &Session, format: Format) -> Result<Vec<u8>> {
    let sum = || session.sum();
    let text = match format {
        Format::Folded => folded::text(&sum()?)?,
        Format::Pprof => return pprof::bytes(&sum()?),
        Format::Perfetto => return perfetto::bytes(session),
        Format::Callgrind => callgrind::text(&sum()?)?,
        Format::Openmetrics => sum()?.to_openmetrics(),
        Format::Prometheus => sum()?.to_prometheus(),
        Format::Bmf => benchmark::bmf(session)?,
        Format::GithubBenchmark => benchmark::github(session)?,
        Format::Jsonl => jsonl::text(session)?,
    };
    Ok(text.into_bytes())
}

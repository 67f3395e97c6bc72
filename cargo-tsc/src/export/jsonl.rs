//! JSON lines: a flat object for each function of each run, for DuckDB, ClickHouse and pandas.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::session::Session;

/// All rows. Lists and sums are left out. The description of the run is in each row.
pub fn text(session: &Session) -> Result<String> {
    let mut text = String::new();
    for (index, run) in session.runs.iter().enumerate() {
        let process = run.process();
        let mut common = Map::new();
        common.insert("session".to_owned(), json!(session.label));
        common.insert("run".to_owned(), json!(index + 1));
        common.insert("host".to_owned(), json!(process.host()));
        common.insert("pid".to_owned(), json!(process.pid()));
        common.insert("started".to_owned(), json!(process.started()));
        common.insert(
            "cpu".to_owned(),
            json!(run.machine().cpu().or(run.clock().cpu())),
        );
        common.insert("hz".to_owned(), json!(run.clock().hz()));
        for (key, value) in run.meta() {
            common.insert(format!("meta_{key}"), json!(value));
        }
        for row in run.callsites() {
            let mut object = common.clone();
            if let Value::Object(fields) = serde_json::to_value(row)? {
                object.extend(
                    fields
                        .into_iter()
                        .filter(|(_, value)| !value.is_array() && !value.is_object()),
                );
            }
            text += &Value::Object(object).to_string();
            text.push('\n');
        }
    }
    Ok(text)
}

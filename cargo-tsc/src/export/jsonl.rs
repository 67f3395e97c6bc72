//! JSON lines: a flat object for each function of each run, for DuckDB, ClickHouse and pandas.

use anyhow::Result;
use serde_json::{Value, json};

use crate::session::Session;

/// All rows. Lists and sums are left out. The description of the run is in each row.
pub fn text(session: &Session) -> Result<String> {
    let mut text = String::new();
    for (index, run) in session.runs.iter().enumerate() {
        let process = run.process();
        let mut common = json!({
            "session": session.label,
            "run": index + 1,
            "host": process.host(),
            "pid": process.pid(),
            "started": process.started(),
            "cpu": run.machine().cpu().or(run.clock().cpu()),
            "hz": run.clock().hz(),
        });
        for (key, value) in run.meta() {
            common[format!("meta_{key}")] = json!(value);
        }
        for row in run.callsites() {
            let mut object = common.clone();
            if let (Value::Object(all), Value::Object(fields)) =
                (&mut object, serde_json::to_value(row)?)
            {
                let fields = fields.into_iter();
                all.extend(fields.filter(|(_, value)| !value.is_array() && !value.is_object()));
            }
            text += &object.to_string();
            text.push('\n');
        }
    }
    Ok(text)
}

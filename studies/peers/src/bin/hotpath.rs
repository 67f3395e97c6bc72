//! hotpath: `#[hotpath::measure]`, and a guard around the program, like that of `#[hotpath::main]`.

use std::{env, fs, process};

use hotpath::{Format, HotpathGuard, HotpathGuardBuilder};
use peers::{Contestant, Reading, Readings};

peers::annotate!(#[hotpath::measure]);

struct Hotpath {
    guard: HotpathGuard,
    path: std::path::PathBuf,
}

impl Contestant for Hotpath {
    fn start() -> Self {
        let path = env::temp_dir().join(format!("peers-hotpath-{}.json", process::id()));
        let guard = HotpathGuardBuilder::new("main")
            .format(Format::Json)
            .output_path(&path)
            .build();
        Self { guard, path }
    }

    fn report(self) -> Readings {
        drop(self.guard);
        let text = fs::read_to_string(&self.path).expect("hotpath has written its report");
        let _ = fs::remove_file(&self.path);
        let report: serde_json::Value = serde_json::from_str(&text).expect("hotpath writes JSON");
        let functions = report["functions_timing"]["data"]
            .as_array()
            .expect("the functions are listed");
        Readings::of(|name| {
            let function = functions
                .iter()
                .find(|function| function["name"].as_str().unwrap_or("").ends_with(name))?;
            Some(Reading::new(
                function["calls"].as_u64()?,
                ns(function["avg"].as_str()?)?,
            ))
        })
    }
}

/// hotpath's JSON has durations as text: `23 ns`, `1.20 µs`.
fn ns(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        _ => 1e9,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

fn main() {
    peers::run::<Hotpath>(&FUNCTIONS);
}

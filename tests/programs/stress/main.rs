//! Everything at once: threads that begin and end, forks, signals, pauses, libraries that are opened and closed, sections during all of
//! this, and one thread that takes the figures. Every call that was made must be in exactly one report.
//!
//! ```sh
//! cargo run --release -p tests --bin stress -- --minutes 10
//! ```

#[cfg(target_os = "linux")]
mod disturb;
#[cfg(target_os = "linux")]
mod tally;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use std::time::{Duration, Instant};

    use disturb::Disturbance;

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let minutes = match &arguments[..] {
        [] => Some(1.0),
        ["--minutes", minutes] => minutes.parse().ok(),
        _ => None,
    };
    let Some(minutes) = minutes.filter(|minutes| (0.0..=10_000.0).contains(minutes)) else {
        eprintln!("usage: stress [--minutes N]");
        return 2.into();
    };
    let duration = Duration::from_secs_f64(60.0 * minutes);
    let library = disturb::build_plugin();
    let began = Instant::now();
    let mut tally = tally::Tally::default();
    // Calls during a pause are not counted, so every fourth round has pauses. In these rounds, missing calls are no error.
    let mut round = 0_u64;
    while began.elapsed() < duration {
        let disturbance = Disturbance {
            pauses: round % 4 == 3,
            library: library.as_deref(),
        };
        if !tally.round(&disturbance) {
            eprintln!("round {round} failed after {:.1?}", began.elapsed());
            return 1.into();
        }
        round += 1;
    }
    println!("{tally} in {round} rounds, {:.1?}", began.elapsed());
    0.into()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the stress program needs Linux");
}

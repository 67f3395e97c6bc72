//! Latencies that are whole numbers of core cycles on every core of the kind.

use tsc_runtime::instruction::catalogue;

use super::Check;
use super::competitor::Competitor;

const TIMES: usize = 20;
/// Of these, so many beside a thread that wants the same CPU.
const CONTENDED: usize = 10;
const TOLERANCE: f64 = 0.005;

/// The catalogue's name and the latencies that cores have.
const KNOWN: [(&str, &str, &[f64]); 3] = [
    ("imul", "r64,r64", &[3.0]),
    ("mulsd", "xmm,xmm", &[3.0, 4.0, 5.0]),
    ("mov", "r64,[m64] (L1 chase)", &[4.0, 5.0]),
];

pub(crate) fn twenty_times(cpu: Option<usize>) -> Check {
    let mut worst = [0.0_f64; KNOWN.len()];
    let mut details = Vec::new();
    let mut found = [f64::NAN; KNOWN.len()];
    for time in 0..TIMES {
        let _competitor = (time >= TIMES - CONTENDED).then(|| Competitor::start(cpu));
        for (i, (name, operands, integers)) in KNOWN.iter().enumerate() {
            let timing = catalogue::find(name, operands)
                .map(|it| it.measure_within(std::time::Duration::from_millis(500)));
            let cycles = match timing {
                Some(Ok(timing)) => timing.latency().map_or(f64::NAN, |it| it.cycles()),
                Some(Err(why)) => {
                    details.push(format!("{name}, time {time}: {why}"));
                    f64::NAN
                }
                None => f64::NAN,
            };
            let nearest = integers
                .iter()
                .copied()
                .min_by(|a, b| (a - cycles).abs().total_cmp(&(b - cycles).abs()));
            let distance = nearest.map_or(f64::NAN, |nearest| (cycles / nearest - 1.0).abs());
            found[i] = nearest.unwrap_or(f64::NAN);
            // A figure that is none is as far away as can be.
            worst[i] = if distance.is_nan() {
                f64::INFINITY
            } else {
                worst[i].max(distance)
            };
            if worst[i].is_infinite() || distance > TOLERANCE {
                details.push(format!("{name} {operands}, time {time}: {cycles:.4}"));
            }
        }
    }
    let measured: Vec<String> = KNOWN
        .iter()
        .zip(found.iter().zip(&worst))
        .map(|((name, ..), (integer, worst))| {
            format!("{name} {integer} within {:.2} %", 100.0 * worst)
        })
        .collect();
    Check {
        must: "imul, mulsd and the load chase in additions: integers within 0.5 %, 20 times, 10 of them contended",
        measured: measured.join(", "),
        holds: Some(worst.iter().all(|worst| *worst <= TOLERANCE)),
        details,
    }
}

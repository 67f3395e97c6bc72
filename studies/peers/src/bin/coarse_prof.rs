//! coarse-prof: `profile!`. It prints means in ms with two decimals, and no counts.

use peers::{Contestant, Reading, Readings};

macro_rules! scope {
    ($name:literal) => {
        coarse_prof::profile!($name);
    };
}

peers::annotate!(scope);

struct CoarseProf;

impl Contestant for CoarseProf {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        let mut text = Vec::new();
        coarse_prof::write(&mut text).expect("a Vec can be written to");
        let text = String::from_utf8(text).expect("coarse-prof writes text");
        Readings::of(|name| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name}: ")))?;
            let ms: f64 = line
                .split_once(", ")?
                .1
                .split_once("ms avg")?
                .0
                .trim()
                .parse()
                .ok()?;
            Some(Reading {
                mean_ns: Some(ms * 1e6),
                ..Reading::default()
            })
        })
    }
}

fn main() {
    peers::run::<CoarseProf>(&FUNCTIONS);
}

//! Other work on the machine while `ab` measures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, hint};

use crate::random::Random;

/// What a neighbour reads: more than a second-level cache contains.
const MEMORY: usize = 8 << 20;
/// It does the same for so long at most.
const LONGEST: u64 = 100_000;

/// Threads that want a CPU all the time.
pub struct Neighbours {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    /// Starts so many threads, which compute or read memory, each for a random time, until this is dropped.
    pub fn start(threads: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let neighbour = |seed| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || work(&stop, Random(seed + 1)))
        };
        let threads = (0..threads).map(neighbour).collect();
        Self { stop, threads }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}

fn work(stop: &AtomicBool, mut random: Random) {
    let memory = vec![1_u64; MEMORY / 8];
    while !stop.load(Relaxed) {
        let reads = random.below(2) == 0;
        let end = Instant::now() + Duration::from_micros(random.below(LONGEST));
        while Instant::now() < end {
            let sum = match reads {
                true => {
                    let start = random.below(memory.len() as u64 / 2) as usize;
                    memory[start..start + memory.len() / 64].iter().sum()
                }
                false => (0..5000).fold(1_u64, |x, y| hint::black_box(x).wrapping_mul(y)),
            };
            hint::black_box(sum);
        }
    }
}

/// The number of tasks that ran or wanted to, on average over the last minute.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

//! A task that waits for a timer between its polls, one that blocks in a poll, and one whose polls are preempted.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tsc_runtime::{CallsiteReport, cycles};

use super::work::{beside, steps_in, work};
use super::{row, ticks_per_second};
use overhead::kernel::cpu_time;
use overhead::target;

const CALLS: usize = 100;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// A future that is ready at a given time. Until then, a thread sleeps, and then wakes the task.
struct Timer(Instant, bool);

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.0 {
            return Poll::Ready(());
        }
        if !self.1 {
            self.1 = true;
            let (waker, until) = (context.waker().clone(), self.0);
            thread::spawn(move || {
                thread::sleep(until.saturating_duration_since(Instant::now()));
                waker.wake();
            });
        }
        Poll::Pending
    }
}

#[cycles(name = "trust: awaits a timer")]
async fn awaits_a_timer(steps: u64) -> u64 {
    let before = black_box(work(steps));
    Timer(Instant::now() + Duration::from_millis(5), false).await;
    before ^ black_box(work(steps))
}

#[cycles(name = "trust: blocks in a poll")]
async fn blocks_in_a_poll(steps: u64) -> u64 {
    thread::sleep(Duration::from_millis(5));
    black_box(work(steps))
}

#[cycles(name = "trust: polls beside others")]
async fn polls_beside_others(steps: u64) -> u64 {
    black_box(work(steps))
}

pub(super) fn run(cpu: usize) {
    let steps = steps_in(Duration::from_millis(1));
    let timer = cpu_time_of(|| (0..CALLS).for_each(|_| _ = block_on(awaits_a_timer(steps))));
    print(
        "a task computes 2 × 1 ms and awaits a timer of 5 ms between: CPU time of its polls ÷ the kernel's; off the CPU in them; a call by the wall",
        "0.85–1.01; blocked ≤ 0.5 ms a call; ≥ 5 ms",
        "trust: awaits a timer",
        timer,
        |on_cpu, blocked, wall| (0.85..=1.01).contains(&on_cpu) && blocked <= 0.5 && wall >= 5.0,
    );
    let blocked = cpu_time_of(|| (0..CALLS).for_each(|_| _ = block_on(blocks_in_a_poll(steps))));
    print(
        "a task blocks its thread for 5 ms in a poll, as in `block_in_place`: the same",
        "0.85–1.01; blocked 4.9–8 ms a call; ≥ 5 ms",
        "trust: blocks in a poll",
        blocked,
        |on_cpu, blocked, wall| {
            (0.85..=1.01).contains(&on_cpu) && (4.9..8.0).contains(&blocked) && wall >= 5.0
        },
    );
    let long = steps * 20;
    let preempted = beside(3, cpu, || {
        cpu_time_of(|| (0..CALLS / 4).for_each(|_| _ = block_on(polls_beside_others(long))))
    });
    print(
        "a poll of 20 ms beside 3 busy threads: the same",
        "0.95–1.01; blocked ≤ 0.5 ms a call; ≥ 50 ms",
        "trust: polls beside others",
        preempted,
        |on_cpu, blocked, wall| (0.95..=1.01).contains(&on_cpu) && blocked <= 0.5 && wall >= 50.0,
    );
}

/// The CPU time of this thread in `body`, in seconds.
fn cpu_time_of(body: impl FnOnce()) -> f64 {
    let before = cpu_time();
    body();
    (cpu_time() - before).as_secs_f64()
}

fn print(
    what: &str,
    must: &str,
    name: &str,
    cpu_seconds: f64,
    is_met: impl FnOnce(f64, f64, f64) -> bool,
) {
    let figures = row(name).and_then(|row: CallsiteReport| {
        let millis = |ticks: f64| ticks / ticks_per_second() * 1e3;
        let calls = row.calls() as f64;
        Some((
            millis(row.on_cpu_ticks()?) / 1e3 / cpu_seconds,
            millis(row.blocked_ticks()?) / calls,
            millis(row.waiting_ticks()?) / calls,
            millis(row.wall_mean_ticks()?),
        ))
    });
    let Some((on_cpu, blocked, waiting, wall)) = figures else {
        return target::print(what, must, "not known here".to_owned(), false);
    };
    target::print(
        what,
        must,
        format!(
            "{on_cpu:.3}; blocked {blocked:.2} ms, waiting {waiting:.2} ms a call; {wall:.1} ms"
        ),
        is_met(on_cpu, blocked, wall),
    );
}

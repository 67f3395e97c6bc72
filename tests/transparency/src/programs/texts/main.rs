// After the program's own part: what all of them have.

fn main() {
    let input = input();
    let mut requests = std::io::stdin().lines();
    loop {
        let start = cpu_ns();
        let outcome = std::hint::black_box(root(std::hint::black_box(&input)));
        println!("{} {outcome}", cpu_ns() - start);
        // The root is called once more for each line.
        if requests.next().is_none() {
            break;
        }
    }
    // ROWS
}

/// What this thread has had of the CPU.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` may be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

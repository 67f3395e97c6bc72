//! A program that changes what the runtime depends on and does not own: descriptors, standard error, the working folder, limits. Its first
//! argument names the change; `surroundings.rs` checks what comes of it.

#[cfg(target_os = "linux")]
mod late;
#[cfg(target_os = "linux")]
mod memory;

use tsc_runtime::cycles;

#[cycles]
fn work() {
    std::hint::black_box(1);
}

#[cfg(target_os = "linux")]
fn main() {
    // If the program hangs, this signal ends it, and the test sees that.
    // SAFETY: no preconditions.
    unsafe { libc::alarm(60) };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["own-file-is-number-2", path] => own_file_is_number_2(path),
        ["change-folder", path] => {
            work();
            std::env::set_current_dir(path).expect("the folder exists");
        }
        ["threads", threads] => threads_that_sleep(threads.parse().expect("a number")),
        ["many-functions"] => many_functions(),
        ["errno"] => print_errno_after_a_first_call(),
        ["late-calls"] => late::calls(),
        ["no-memory"] => memory::none_for_records(),
        ["memory-for", bytes] => memory::limited(bytes.parse().expect("a number")),
        ["no-memory-for-the-report"] => memory::none_for_the_report(),
        _ => panic!("no change is called {arguments:?}"),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// Closes standard error, so that the next file of the program has its number.
#[cfg(target_os = "linux")]
fn own_file_is_number_2(path: &str) {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    work();
    // SAFETY: nothing in this program keeps descriptor 2.
    unsafe { libc::close(2) };
    let mut file = std::fs::File::create(path).expect("the file can be written");
    assert_eq!(file.as_raw_fd(), 2);
    file.write_all(b"precious\n").expect("there is room");
    tsc_runtime::report();
    work();
    std::mem::forget(file);
}

/// Under a limit of 1024 descriptors, measures on that many threads, prints how many descriptors are open, and opens 800 files.
#[cfg(target_os = "linux")]
fn threads_that_sleep(threads: usize) {
    #[cycles]
    fn sleeps() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let limit = libc::rlimit {
        rlim_cur: 1024,
        rlim_max: 1024,
    };
    // SAFETY: the struct is a limit.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(failed, 0);
    let [measured, done] = [0, 1].map(|_| std::sync::Barrier::new(threads + 1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let body = || {
                sleeps();
                measured.wait();
                done.wait();
            };
            let thread = std::thread::Builder::new().stack_size(1 << 16);
            thread
                .spawn_scoped(scope, body)
                .expect("the thread can be started");
        }
        measured.wait();
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let files: Vec<_> = (0..800)
            .map_while(|_| std::fs::File::open("/dev/null").ok())
            .collect();
        println!("{open} descriptors, {} files", files.len());
        done.wait();
    });
}

/// Makes the first annotated call while no file can be opened, and prints the error number that was there before.
#[cfg(target_os = "linux")]
fn print_errno_after_a_first_call() {
    let limit = libc::rlimit {
        rlim_cur: 3,
        rlim_max: 3,
    };
    // SAFETY: the struct is a limit, and the address is this thread's error number.
    let errno = unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
        *libc::__errno_location() = libc::ENOENT;
        work();
        *libc::__errno_location()
    };
    println!("{errno}");
}

#[cfg(target_os = "linux")]
#[cycles(per_type)]
fn one_of_many<const A: usize, const B: usize>() {
    std::hint::black_box((A, B));
}

/// Makes a report that is larger than a pipe.
#[cfg(target_os = "linux")]
fn many_functions() {
    macro_rules! call {
        ($($a:literal)*) => { $(call!($a: 0 1 2 3 4 5 6 7 8 9);)* };
        ($a:literal: $($b:literal)*) => { $(one_of_many::<$a, $b>();)* };
    }
    call!(0 1 2 3 4 5 6 7 8 9);
}

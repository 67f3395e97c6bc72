//! A program with a limit of memory that handles failing allocations itself.

use std::ptr;
use std::sync::Barrier;
use std::thread;

use tsc_runtime::cycles;

macro_rules! functions {
    ($($name:ident)*) => {
        $(#[cycles] fn $name() { std::hint::black_box(1); })*
        fn call_all() { $($name();)* }
    };
}

functions!(a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9);

#[cycles(light)]
fn light() {
    std::hint::black_box(1);
}

#[cycles(per_type)]
fn of_type<T: Default>() {
    std::hint::black_box(T::default());
}

fn call() {
    call_all();
    light();
    of_type::<u8>();
}

fn limit(bytes: libc::rlim_t) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is a limit.
    let failed = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(failed, 0);
}

/// Takes all memory that the process may have, and returns the blocks, linked.
fn take_everything() -> *mut *mut libc::c_void {
    limit(1);
    let mut last: *mut *mut libc::c_void = ptr::null_mut();
    for size in [1 << 20, 1 << 16, 4096, 512, 64, 24] {
        loop {
            // SAFETY: any size may be asked for.
            let block: *mut *mut libc::c_void = unsafe { libc::malloc(size) }.cast();
            if block.is_null() {
                break;
            }
            // SAFETY: the block has room for a pointer.
            unsafe { block.write(last.cast()) };
            last = block;
        }
    }
    last
}

fn give_back(mut block: *mut *mut libc::c_void) {
    while !block.is_null() {
        // SAFETY: the list has blocks from `malloc`, each with a pointer to the next one.
        unsafe {
            let next: *mut *mut libc::c_void = (*block).cast();
            libc::free(block.cast());
            block = next;
        }
    }
    limit(libc::RLIM_INFINITY);
}

#[cycles]
fn on_thread() {
    std::hint::black_box(1);
}

/// Calls functions for the first time while there is no memory, and again afterwards. A thread that has measured ends meanwhile.
pub(crate) fn none_for_records() {
    let [measured, taken] = [(); 2].map(|()| Barrier::new(2));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            on_thread();
            measured.wait();
            taken.wait();
        });
        measured.wait();
        wait_for(&["tsc-report"]);
        let blocks = take_everything();
        call();
        call();
        taken.wait();
        let has_ended = thread.join().is_ok();
        give_back(blocks);
        assert!(has_ended);
    });
    call();
    println!("survived");
}

/// Calls on a thread, if there is memory for one. Not std's, which panics without memory for its signal stack.
fn call_on_thread() {
    extern "C" fn body(_: *mut libc::c_void) -> *mut libc::c_void {
        call();
        ptr::null_mut()
    }
    let mut thread = std::mem::MaybeUninit::uninit();
    // SAFETY: the attributes may be null, and the function has the right signature. A thread that was started is joined once.
    unsafe {
        let (attributes, argument) = (ptr::null(), ptr::null_mut());
        if libc::pthread_create(thread.as_mut_ptr(), attributes, body, argument) == 0 {
            libc::pthread_join(thread.assume_init(), ptr::null_mut());
        }
    }
}

/// May have so many bytes more than it has, for everything that it measures.
pub(crate) fn limited(bytes: libc::rlim_t) {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("it can be read");
    let pages = statm.split(' ').next().and_then(|it| it.parse().ok());
    let has: libc::rlim_t = 4096 * pages.unwrap_or(0);
    limit(has + bytes);
    call();
    for _ in 0..3 {
        call_on_thread();
    }
    call();
    println!("survived");
}

/// Waits until these threads of the runtime sleep. While they start, they need memory. They have names as soon as they have started.
fn wait_for(threads: &[&str]) {
    let sleeps = |name: &&str| {
        let tasks = std::fs::read_dir("/proc/self/task").expect("it can be read");
        tasks.flatten().any(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat"));
            stat.is_ok_and(|stat| stat.contains(&format!("({name}) S ")))
        })
    };
    while !threads.iter().all(sleeps) {
        thread::yield_now();
    }
}

/// Ends without memory, after it has measured.
pub(crate) fn none_for_the_report() {
    call();
    wait_for(&["tsc-report", "tsc-clock"]);
    println!("survived");
    take_everything();
}

//! Makes calls, prints how many of each on standard output, and ends with a certain exit code. The report must agree.

#[cfg(feature = "companions")]
mod futures;
mod made;
#[cfg(feature = "companions")]
mod parallel;
mod plain;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    plain::run();
    #[cfg(feature = "companions")]
    parallel::run();
    #[cfg(feature = "companions")]
    futures::run();
    7.into()
}

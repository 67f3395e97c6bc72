//! Why the counter cannot be read.

use tsc_report::__private::reasons;

reasons! {
    /// The reason why the time-stamp counter is not used. Everything is then measured with the operating system's clock, and the report says
    /// so.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum TscUnavailable {
        /// This architecture has no counter that user code may read, or the program runs under Miri.
        NotOnThisPlatform = ("{}", if cfg!(all(target_family = "wasm", target_os = "unknown")) {
            "a WebAssembly module outside of WASI has no clock, so calls take no time"
        } else {
            "no time-stamp counter that user code may read on this platform"
        }),
        /// CPUID reports that the CPU has no RDTSC.
        MissingInstruction = ("this CPU has no RDTSC"),
        /// The process runs under `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)`: RDTSC would kill it.
        ForbiddenByPrctl = ("RDTSC is forbidden in this process (prctl PR_SET_TSC = PR_TSC_SIGSEGV)"),
    }
}

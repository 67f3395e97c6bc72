//! Whether the process has more rights than the user who started it. Then its environment cannot be trusted.

pub(super) fn has_more_rights_than_its_user() -> bool {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    // SAFETY: the call only returns a value that the kernel passed to this process.
    return unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
    #[cfg(all(unix, not(any(target_os = "linux", target_os = "android", miri))))]
    // SAFETY: the calls only return numbers.
    return unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() };
    #[cfg(any(miri, not(unix)))]
    false
}

//! Whether the process may do more than who started it, so that its environment is not to be trusted.

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
pub(super) fn has_more_rights_than_its_user() -> bool {
    // SAFETY: asks the kernel's note to this process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", miri))))]
pub(super) fn has_more_rights_than_its_user() -> bool {
    // SAFETY: they ask for numbers.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}

#[cfg(any(miri, not(unix)))]
pub(super) fn has_more_rights_than_its_user() -> bool {
    false
}

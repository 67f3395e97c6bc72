//! Keeps libraries that measure mapped. After a program closes a library, others still use what it left behind: the registry uses the
//! names of its callsites, the C library its exit handler, and each thread the destructors of its thread-local values.

/// Keeps the library that contains `address` mapped until the process ends, even if it is closed. Does nothing on systems on which no
/// library is unloaded, or unloading cannot be prevented.
pub(crate) fn keep_mapped(address: *const ()) {
    let _ = address;
    #[cfg(all(
        any(target_os = "linux", target_os = "freebsd", target_vendor = "apple"),
        not(target_feature = "crt-static"), // there are no libraries
        not(miri)
    ))]
    {
        use std::ptr;
        use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

        /// The start of the library that was kept last; most addresses are in it.
        static LAST: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());

        if is_in_program(address) {
            return;
        }
        // SAFETY: a `Dl_info` may be all zeros.
        let mut library: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: any address is permitted, and `library` may be written.
        let found = unsafe { libc::dladdr(address.cast(), &raw mut library) };
        if found == 0 || library.dli_fname.is_null() || LAST.load(Relaxed) == library.dli_fbase {
            return;
        }
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        // SAFETY: the name is a C string that lives as long as the library. The library is already loaded, so none of its code runs. The
        // handle is never closed. For the program itself the call returns null; the program stays mapped anyway.
        unsafe { libc::dlopen(library.dli_fname, flags) };
        LAST.store(library.dli_fbase, Relaxed);
    }
    #[cfg(all(windows, not(miri)))]
    {
        use windows_sys::Win32::System::LibraryLoader::{
            GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS as FROM_ADDRESS,
            GET_MODULE_HANDLE_EX_FLAG_PIN as PIN, GetModuleHandleExW,
        };

        let mut module = std::ptr::null_mut();
        // SAFETY: with these flags any address is permitted, and `module` may be written.
        unsafe { GetModuleHandleExW(PIN | FROM_ADDRESS, address.cast(), &raw mut module) };
    }
}

/// Whether the address is in the program itself, which nobody closes. The dynamic loader is not asked: it has a lock, which a thread that opens
/// a library holds while the library's initializers run, and these may wait for the thread that calls this.
#[cfg(all(target_os = "linux", not(target_feature = "crt-static"), not(miri)))]
fn is_in_program(address: *const ()) -> bool {
    #[cfg(target_pointer_width = "32")]
    use libc::Elf32_Phdr as Header;
    #[cfg(target_pointer_width = "64")]
    use libc::Elf64_Phdr as Header;

    // SAFETY: the calls have no requirements. The kernel passes the place and the number of the program's headers, which stay there.
    let headers: &[Header] = unsafe {
        let first = libc::getauxval(libc::AT_PHDR) as *const Header;
        if first.is_null() {
            return false;
        }
        std::slice::from_raw_parts(first, libc::getauxval(libc::AT_PHNUM) as usize)
    };
    let Some(of_headers) = headers.iter().find(|it| it.p_type == libc::PT_PHDR) else {
        return false;
    };
    let moved_by = (headers.as_ptr().addr()).wrapping_sub(of_headers.p_vaddr as usize);
    let address = address.addr().wrapping_sub(moved_by);
    let mut segments = headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
    segments.any(|it| address.wrapping_sub(it.p_vaddr as usize) < it.p_memsz as usize)
}

/// Not known on other systems.
#[cfg(all(any(target_os = "freebsd", target_vendor = "apple"), not(miri)))]
fn is_in_program(_: *const ()) -> bool {
    false
}

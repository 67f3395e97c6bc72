//! A host of libraries that measure and are then closed.

use std::ffi::{CStr, CString, c_void};
use std::thread;

/// Opens `library`, does what `ways` names, one after the other, and then returns, so that `main` returns.
pub(crate) fn host(library: &str, ways: &[&str]) {
    let mut handle = open(library);
    // SAFETY: the plugins define it with this signature.
    let work: extern "C" fn(u64) -> u64 =
        unsafe { std::mem::transmute(symbol(handle, c"plugin_work")) };
    for &way in ways {
        match way {
            "call" => _ = work(100),
            "thread" => _ = thread::spawn(move || work(100)).join(),
            // SAFETY: the handle is open, and is not used after this.
            "close" => unsafe {
                assert_eq!(libc::dlclose(handle), 0);
                handle = std::ptr::null_mut();
            },
            "fork" => fork(),
            _ => panic!("no way is called {way}"),
        }
    }
    println!("end");
}

pub(crate) fn open(library: &str) -> *mut c_void {
    let path = CString::new(library).unwrap();
    // SAFETY: the path is a C string.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{:?}", last_error());
    handle
}

/// Forks a child that immediately calls `exit`.
fn fork() {
    // SAFETY: the child only exits.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::exit(0);
        }
        let mut status = -1;
        libc::waitpid(child, &raw mut status, 0);
        assert_eq!(status, 0, "the child failed");
    }
}

fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the handle is open, the name is a C string.
    let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!symbol.is_null(), "{:?}", last_error());
    symbol
}

fn last_error() -> String {
    // SAFETY: what dlerror returns is null or a C string.
    unsafe {
        let error = libc::dlerror();
        if error.is_null() {
            return String::new();
        }
        CStr::from_ptr(error).to_string_lossy().into_owned()
    }
}

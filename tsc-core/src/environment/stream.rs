//! Writes to a terminal, a pipe or a socket as long as somebody reads, and to files. The program's standard error may be set not to wait
//! (`O_NONBLOCK`), or to wait for ever, and it shares this setting with other processes. So it is not changed here.

use std::io;
use std::time::Duration;

use super::patience::Wait;
use crate::process::written;

/// A write of so many bytes does not wait if a pipe has room for any.
const SMALL: usize = libc::PIPE_BUF;
/// The time to wait for a reader at once.
const PAUSE: Duration = Duration::from_millis(20);

/// Writes all of `text`. It waits for the reader, but not for longer than [`Wait`] allows since the last byte was taken. A pipe whose
/// reader does not read is then made larger. This allocates nothing.
///
/// # Errors
///
/// The number of bytes that were not written, and why.
pub(crate) fn write_all(descriptor: libc::c_int, text: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut rest = text;
    let mut wait = Wait::begin();
    let mut is_larger = false;
    while !rest.is_empty() {
        let written = match is_ready(descriptor, PAUSE.as_millis() as libc::c_int) {
            true => write_some(descriptor, rest),
            false => Ok(0),
        };
        match written {
            Ok(0) if !wait.is_over(PAUSE) => {}
            Ok(0) if !is_larger && enlarge(descriptor, rest.len()) => is_larger = true,
            Ok(0) => return Err((rest.len(), io::ErrorKind::TimedOut.into())),
            Ok(count) => {
                rest = &rest[count..];
                wait = Wait::begin();
            }
            Err(error) => return Err((rest.len(), error)),
        }
    }
    Ok(())
}

/// Writes `text` if that takes no waiting.
pub(super) fn try_to_write(descriptor: libc::c_int, text: &[u8]) {
    if is_ready(descriptor, 0) || enlarge(descriptor, text.len()) {
        let _: io::Result<usize> = write_some(descriptor, text);
    }
}

/// Whether a write would take some bytes, or fail, at once.
fn is_ready(descriptor: libc::c_int, wait_ms: libc::c_int) -> bool {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: the call reads and writes this struct alone.
    match unsafe { libc::poll(&raw mut asked, 1, wait_ms) } {
        0 => false,
        // Where a sandbox refuses the call, the write may wait.
        -1 => io::Error::last_os_error().kind() != io::ErrorKind::Interrupted,
        _ => true,
    }
}

/// Writes as much as the file takes without waiting. `Ok(0)` if that is nothing for now.
fn write_some(descriptor: libc::c_int, text: &[u8]) -> io::Result<usize> {
    let start = text.as_ptr().cast();
    // SAFETY: the text is that long.
    let written = unsafe {
        match kind(descriptor) {
            libc::S_IFREG => libc::write(descriptor, start, text.len()),
            libc::S_IFSOCK => libc::send(descriptor, start, text.len(), libc::MSG_DONTWAIT),
            libc::S_IFIFO if 2 * text.len() <= free(descriptor) => {
                libc::write(descriptor, start, text.len())
            }
            _ => libc::write(descriptor, start, whole_lines(text)),
        }
    };
    usize::try_from(written).or_else(|_| {
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(0),
            io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
                Ok(0)
            }
            _ => Err(error),
        }
    })
}

/// The length of the first few lines, which together are small; of one longer line, the length of a part.
fn whole_lines(text: &[u8]) -> usize {
    let small = &text[..text.len().min(SMALL)];
    let end = small.iter().rposition(|&byte| byte == b'\n');
    end.map_or(small.len(), |end| end + 1)
}

fn kind(descriptor: libc::c_int) -> libc::mode_t {
    // SAFETY: it writes one stat to the given address, if it returns 0.
    let status: Option<libc::stat> = unsafe { written(|status| libc::fstat(descriptor, status)) };
    status.map_or(0, |status| status.st_mode & libc::S_IFMT)
}

/// The bytes for which an empty pipe has room; 0 if it is not empty. There may be less, because each write may begin a new page.
#[cfg(target_os = "linux")]
fn free(pipe: libc::c_int) -> usize {
    // SAFETY: it writes one number to the given address, if it returns 0.
    let used = unsafe { written(|used| libc::ioctl(pipe, libc::FIONREAD, used)) };
    let is_empty = used.is_some_and(|bytes: libc::c_int| bytes == 0);
    // SAFETY: the call takes and returns numbers.
    let size = unsafe { libc::fcntl(pipe, libc::F_GETPIPE_SZ) };
    let room = usize::try_from(size).ok();
    room.filter(|_| is_empty).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
fn free(_: libc::c_int) -> usize {
    0
}

/// Gives a pipe room for `more` bytes. Returns whether it has that.
#[cfg(target_os = "linux")]
fn enlarge(pipe: libc::c_int, more: usize) -> bool {
    // Twice as much, because each write may begin a new page.
    let more = libc::c_int::try_from(2 * more + SMALL).unwrap_or(libc::c_int::MAX);
    // SAFETY: the calls take and return numbers.
    unsafe {
        let size = libc::fcntl(pipe, libc::F_GETPIPE_SZ);
        let larger = size.saturating_add(more);
        size > 0 && libc::fcntl(pipe, libc::F_SETPIPE_SZ, larger) >= larger
    }
}

#[cfg(not(target_os = "linux"))]
fn enlarge(_: libc::c_int, _: usize) -> bool {
    false
}

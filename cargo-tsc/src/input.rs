//! The input of the measured programs: this program's standard input, and the same in each run.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Seek as _, SeekFrom};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::interrupt;
use crate::progress::remark;

/// The longest input that is saved.
const LONGEST: u64 = 1 << 30;

/// If the input has not ended after this time, a line says what is being waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The input of all runs.
#[derive(Debug)]
pub enum Input {
    /// This program's standard input.
    Inherited,
    /// A file, which each run reads from this place on.
    File(File, u64),
}

impl Input {
    /// Prepares the input for this many runs. What can be read only once is read to its end and saved if there are several.
    ///
    /// # Errors
    /// If it cannot be saved.
    pub fn for_runs(runs: u32) -> Result<Self> {
        if runs < 2 || io::stdin().is_terminal() {
            return Ok(Self::Inherited);
        }
        #[cfg(unix)]
        if let Some(input) = again()? {
            return Ok(input);
        }
        let file = saved(io::stdin(), LONGEST)?;
        Ok(Self::File(file, 0))
    }

    /// The same input for a program that runs at the same time: each has its own place in the file.
    ///
    /// # Errors
    /// If the file cannot be opened again.
    #[cfg(target_os = "linux")]
    pub fn beside(&self) -> Result<Self> {
        use std::os::fd::AsRawFd as _;

        Ok(match self {
            Self::Inherited => Self::Inherited,
            Self::File(file, beginning) => {
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                Self::File(File::open(path)?, *beginning)
            }
        })
    }

    /// The standard input of the next run.
    ///
    /// # Errors
    /// If the file cannot be read again.
    pub fn stdio(&mut self) -> Result<Stdio> {
        Ok(match self {
            Self::Inherited => Stdio::inherit(),
            Self::File(file, beginning) => {
                file.seek(SeekFrom::Start(*beginning))?;
                file.try_clone()?.into()
            }
        })
    }
}

/// Standard input itself, if it can be read again: a file, or a device such as /dev/null, which has no end or nothing in it.
#[cfg(unix)]
fn again() -> Result<Option<Input>> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;

    let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else {
        return Ok(Some(Input::Inherited)); // it is closed
    };
    let mut file = File::from(stdin);
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        let beginning = file.stream_position()?;
        return Ok(Some(Input::File(file, beginning)));
    }
    Ok((!kind.is_fifo() && !kind.is_socket()).then_some(Input::Inherited))
}

/// A file that contains everything that `input` contains.
fn saved(input: impl Read + Send + 'static, longest: u64) -> Result<File> {
    let mut file = tempfile::tempfile().context("no temporary file for the input")?;
    let (sender, saved) = channel();
    // A read that waits does not end at a signal, so another thread waits.
    thread::spawn(move || {
        let copied = io::copy(&mut input.take(longest + 1), &mut file);
        let _ = sender.send(copied.map(|length| (file, length)));
    });
    let begin = Instant::now();
    let mut is_said = false;
    loop {
        match saved.recv_timeout(Duration::from_millis(50)) {
            Ok(copied) => {
                let (file, length) = copied.context("standard input cannot be read")?;
                if length > longest {
                    bail!("standard input is too long to be saved: give it as a file, with <");
                }
                return Ok(file);
            }
            Err(RecvTimeoutError::Disconnected) => bail!("standard input cannot be read"),
            Err(RecvTimeoutError::Timeout) => interrupt::check()?,
        }
        if !is_said && begin.elapsed() > PATIENCE {
            remark(
                "reading standard input to its end, so that each run reads the same; if there is nothing to read, say < /dev/null",
            );
            is_said = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_input_is_saved_up_to_a_limit() {
        let mut file = saved(&b"0123456789"[..], 10).unwrap();
        file.rewind().unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "0123456789");
        let error = saved(&b"0123456789"[..], 9).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        assert!(saved(io::repeat(0), 100).is_err());
    }
}

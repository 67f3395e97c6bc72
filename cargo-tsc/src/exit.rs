//! The exit status of `cargo tsc`.

use std::process::ExitCode;

/// The result of a verb. Errors are separate: they end with [`Exit::Unusable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, and nothing is worse.
    Fine,
    /// 1: a function became slower by more than the threshold.
    Regression,
    /// 2: the command, its files or the project cannot be used.
    Unusable,
    /// 3: the two sides cannot be compared, or there is no verdict.
    NotComparable,
    /// The status of the program that was run: its code, or 128 plus the signal.
    Program(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Regression => 1,
            Exit::Unusable => 2,
            Exit::NotComparable => 3,
            Exit::Program(status) => status,
        })
    }
}

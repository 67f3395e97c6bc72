//! Measure to a constant.
mod progress;
mod thread;
pub(crate) use progress::Progress;
pub(crate) use thread::attach_thread;

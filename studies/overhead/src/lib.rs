//! What several programs here use: the kernel's figures, and tables.

#[cfg(target_os = "linux")]
pub mod kernel;
pub mod table;
pub mod target;

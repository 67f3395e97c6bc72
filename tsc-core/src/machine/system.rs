//! Reads facts from files of Linux' kernel. Elsewhere, and under Miri, nothing is read.

use std::fs;

const HAS_FILES: bool = !cfg!(miri) && cfg!(any(target_os = "linux", target_os = "android"));

/// The text in a file, if there is any.
pub(super) fn read(path: &str) -> Option<String> {
    let text = HAS_FILES.then(|| fs::read_to_string(path).ok())??;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The first CPU's value for `name` in `/proc/cpuinfo`.
pub(super) fn cpuinfo(name: &str) -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(field, _)| field.trim() == name)?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

pub(super) fn cpu_model() -> Option<String> {
    cpuinfo("model name").or_else(|| {
        // aarch64 reports only numbers.
        let (implementer, part) = (cpuinfo("CPU implementer")?, cpuinfo("CPU part")?);
        Some(format!("implementer {implementer} part {part}"))
    })
}

/// The name of the file that the kernel executes. Under an emulator, it may differ from the one that `/proc/self` reports to this process.
pub(super) fn executing() -> Option<String> {
    let link = |path| HAS_FILES.then(|| fs::read_link(path).ok())?;
    let reported = link("/proc/self/exe");
    let really = link("/proc/thread-self/exe").filter(|it| Some(it) != reported.as_ref())?;
    Some(really.file_name()?.to_string_lossy().into_owned())
}

/// Whether the file contains `value`, if there is such a file.
pub(super) fn is(path: &str, value: &str) -> Option<bool> {
    Some(read(path)? == value)
}

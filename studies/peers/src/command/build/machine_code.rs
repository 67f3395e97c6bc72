//! Reads the contents of a program or an object file.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use object::elf::{SHF_ALLOC, SHF_EXECINSTR};
use object::{
    Object as _, ObjectSection, ObjectSymbol as _, RelocationTarget, SectionFlags, SectionKind,
};

/// Bytes that a program takes when it is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// What is executed.
    pub(crate) code: f64,
    /// Constants, statics, names.
    pub(crate) data: f64,
    /// What the loader and the unwinder read: relocations, frames, landing pads.
    pub(crate) tables: f64,
}

impl Sizes {
    pub(crate) fn of(program: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(program).map_err(|error| error.to_string())?;
        let mut sizes = Self {
            code: 0.0,
            data: 0.0,
            tables: 0.0,
        };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                return Err("not an ELF file".to_owned());
            };
            let name = section.name().unwrap_or_default();
            // The linker's padding up to a page.
            if !sh_flags.contains(SHF_ALLOC) || name == ".relro_padding" {
                continue;
            }
            let is_table = [".rel", ".eh_frame", ".gcc_except_table"]
                .iter()
                .any(|start| name.starts_with(start));
            let sum = if sh_flags.contains(SHF_EXECINSTR) {
                &mut sizes.code
            } else if is_table {
                &mut sizes.tables
            } else {
                &mut sizes.data
            };
            *sum += section.size() as f64;
        }
        Ok(sizes)
    }

    /// What each of `count` more functions has added.
    pub(crate) fn each(self, without: Self, count: usize) -> Self {
        self.minus(without).map(|bytes| bytes / count as f64)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            code: self.code - other.code,
            data: self.data - other.data,
            tables: self.tables - other.tables,
        }
    }

    pub(crate) fn sum(self) -> f64 {
        self.code + self.data + self.tables
    }

    fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            code: of(self.code),
            data: of(self.data),
            tables: of(self.tables),
        }
    }
}

/// A function's bytes. One that the linker fills in has the hash of what it will refer to in its upper bits: two calls are the same
/// if they call the same function.
type Code = Vec<u64>;

/// The functions of an object file by their names without hashes. Several instantiations may have one name.
pub(crate) type Functions = BTreeMap<String, Vec<Code>>;

pub(crate) fn functions(object: &[u8]) -> Result<Functions, String> {
    let file = object::File::parse(object).map_err(|error| error.to_string())?;
    let mut functions = Functions::new();
    for section in file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
    {
        let data = section.data().map_err(|error| error.to_string())?;
        let mut code: Code = data.iter().map(|&byte| byte.into()).collect();
        for (offset, relocation) in section.relocations() {
            let target = target(&file, relocation.target(), relocation.addend()) << 8;
            // Neither kind of call, of jump or of address on x86-64 has another size.
            for byte in code.iter_mut().skip(offset as usize).take(4) {
                *byte |= target;
            }
        }
        for symbol in file.symbols().filter(|symbol| {
            symbol.section_index() == Some(section.index()) && symbol.is_definition()
        }) {
            let start = (symbol.address() - section.address()) as usize;
            let code = code[start..start + symbol.size() as usize].to_vec();
            functions
                .entry(name(symbol.name().unwrap_or_default()))
                .or_default()
                .push(code);
        }
    }
    for code in functions.values_mut() {
        code.sort();
    }
    Ok(functions)
}

/// Functions and foreign symbols are what they are called; of data it is the bytes that count, not where they lie.
fn target(file: &object::File<'_>, target: RelocationTarget, addend: i64) -> u64 {
    let mut hasher = DefaultHasher::new();
    addend.hash(&mut hasher);
    if let RelocationTarget::Symbol(index) = target
        && let Ok(symbol) = file.symbol_by_index(index)
    {
        let section = symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok());
        match section {
            Some(section) if section.kind() != SectionKind::Text => {
                section.data().unwrap_or_default().hash(&mut hasher);
            }
            _ => name(symbol.name().unwrap_or_default()).hash(&mut hasher),
        }
    }
    hasher.finish()
}

fn name(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// How many functions differ, and how many bytes: those at the same place that are not the same, and those that only one has.
pub(crate) fn difference(one: &Functions, other: &Functions) -> (usize, usize) {
    let names: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let none = Vec::new();
    let empty = Code::new();
    let [mut functions, mut bytes] = [0; 2];
    for name in names {
        let [one, other] = [one, other].map(|of| of.get(name).unwrap_or(&none));
        for place in 0..one.len().max(other.len()) {
            let [one, other] = [one, other].map(|of| of.get(place).unwrap_or(&empty));
            let common = one.iter().zip(other).filter(|(one, other)| one != other);
            let differing = common.count() + one.len().abs_diff(other.len());
            functions += usize::from(differing != 0);
            bytes += differing;
        }
    }
    (functions, bytes)
}

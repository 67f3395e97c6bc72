//! The values of `fence = "…"`.

use proc_macro2::Ident;
use quote::format_ident;
use syn::{Error, LitStr, Result};

/// What the attribute accepts, and the type of the runtime that carries it out.
const FENCES: [(&str, &str); 6] = [
    ("lfence", "Lfence"),
    ("none", "Bare"),
    ("rdtscp", "Rdtscp"),
    ("mfence", "Mfence"),
    ("serialize", "Serialize"),
    ("cpuid", "Cpuid"),
];

/// The runtime's type for the policy that `literal` names; the default without one.
pub(crate) fn policy(literal: Option<&LitStr>) -> Result<Ident> {
    let Some(literal) = literal else {
        return Ok(mixed(FENCES[0].1));
    };
    let value = literal.value();
    match FENCES.iter().find(|(name, _)| *name == value) {
        Some((_, policy)) => Ok(mixed(policy)),
        None => Err(Error::new_spanned(
            literal,
            format!("unknown fence {value:?}; one of {}", accepted()),
        )),
    }
}

/// The accepted values as a message lists them.
pub(crate) fn accepted() -> String {
    let names: Vec<_> = FENCES.iter().map(|(name, _)| format!("{name:?}")).collect();
    names.join(", ")
}

fn mixed(name: &str) -> Ident {
    format_ident!("{name}", span = proc_macro2::Span::mixed_site())
}

//! The values of `fence = "…"`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident};
use syn::{Error, LitStr, Result};

/// What the attribute accepts, and the type of the runtime that carries it out.
const FENCES: [(&str, &str); 7] = [
    ("lfence", "Lfence"),
    ("none", "Unfenced"),
    ("rdtscp", "Rdtscp"),
    ("mfence", "Mfence"),
    ("serialize", "Serialize"),
    ("cpuid", "Cpuid"),
    ("cpuid-start", "CpuidStart"),
];

/// The runtime's type for the policy that `literal` names; the default without one.
pub(crate) fn policy(literal: Option<&LitStr>) -> Result<Ident> {
    let Some(literal) = literal else {
        return Ok(mixed(FENCES[0].1));
    };
    let value = literal.value();
    match FENCES.iter().find(|(name, _)| *name == value) {
        Some((_, policy)) => Ok(mixed(policy)),
        None => Err(unknown(&literal.to_token_stream())),
    }
}

/// The error about a value that is none of them.
pub(crate) fn unknown(value: &TokenStream) -> Error {
    let message = format!("unknown fence {value}; one of {}", accepted());
    Error::new_spanned(value, message)
}

/// The accepted values as a message lists them.
pub(crate) fn accepted() -> String {
    let names: Vec<_> = FENCES.iter().map(|(name, _)| format!("{name:?}")).collect();
    names.join(", ")
}

fn mixed(name: &str) -> Ident {
    format_ident!("{name}", span = proc_macro2::Span::mixed_site())
}

//! The values of `fence = "…"`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident};
use syn::{Error, LitStr, Result};

/// The values that the attribute accepts, and the runtime's type for each.
const FENCES: [(&str, &str); 7] = [
    ("lfence", "Lfence"),
    ("none", "Unfenced"),
    ("rdtscp", "Rdtscp"),
    ("mfence", "Mfence"),
    ("serialize", "Serialize"),
    ("cpuid", "Cpuid"),
    ("cpuid-start", "CpuidStart"),
];

/// The runtime's type for the policy that `literal` names, or for the default policy without a literal.
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

/// The runtime's type for the kind of probe: a light one, or a timed one with this policy.
pub(crate) fn kind(is_light: bool, literal: Option<&LitStr>) -> Result<Ident> {
    match is_light {
        true => Ok(mixed("Light")),
        false => policy(literal),
    }
}

/// Rejects an unknown value, also where nothing is measured.
///
/// Also rejects a literal that a macro passes on as `$fence:literal`: the arms of `__policy!` cannot match it, because it is in an
/// invisible group.
pub(crate) fn check(value: TokenStream) -> Result<()> {
    if let Some(TokenTree::Group(group)) = value.clone().into_iter().next()
        && group.delimiter() == Delimiter::None
    {
        let message = "a fence that a macro passes on must be taken as `$fence:tt`";
        return Err(Error::new_spanned(value, message));
    }
    match syn::parse2::<LitStr>(value.clone()) {
        Ok(literal) => policy(Some(&literal)).map(|_| ()),
        Err(_) => Err(unknown(&value)),
    }
}

/// The error about an unknown value.
fn unknown(value: &TokenStream) -> Error {
    let message = format!("unknown fence {value}; one of {}", accepted());
    Error::new_spanned(value, message)
}

/// The accepted values, for an error message.
pub(crate) fn accepted() -> String {
    let names: Vec<_> = FENCES.iter().map(|(name, _)| format!("{name:?}")).collect();
    names.join(", ")
}

fn mixed(name: &str) -> Ident {
    format_ident!("{name}", span = proc_macro2::Span::mixed_site())
}

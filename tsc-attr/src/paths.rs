//! The paths an expansion names, all rooted.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::args::Args;

/// The runtime's `__private` module: the only thing of it that an expansion names.
pub(crate) fn private(args: &Args, span: Span) -> TokenStream {
    match &args.krate {
        Some(path) => quote_spanned!(span=> #path::__private),
        None => quote_spanned!(span=> ::tsc_runtime::__private),
    }
}

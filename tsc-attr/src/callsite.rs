//! The static that stands for an annotated function.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Result, Signature};

use crate::args::Args;
use crate::fence;
use crate::paths::private;

// Output: { static __CALLSITE: Callsite = Callsite::new::<Lfence>(Meta { … }); before; start(&__CALLSITE) }
//
// With `per_type` the static holds a callsite for each instantiation, told apart by the type of a closure in the function:
//         { static __CALLSITES: Instances = …; before; start(__CALLSITES.of(path_of(&|| {}))) }
pub(crate) fn with(
    args: &Args,
    sig: &Signature,
    span: Span,
    before: &TokenStream,
    start: impl FnOnce(TokenStream) -> TokenStream,
) -> Result<TokenStream> {
    let private = private(args, span);
    let policy = fence::policy(args.fence.as_ref())?;
    let meta = meta(args, sig, span);
    let (definition, callsite) = if args.per_type.is_some() {
        (
            quote_spanned!(span=> static __CALLSITES: #private::Instances = #private::Instances::new::<#private::#policy>(#meta);),
            quote_spanned!(span=> __CALLSITES.of(#private::path_of(&|| {}))),
        )
    } else {
        (
            quote_spanned!(span=> static __CALLSITE: #private::Callsite = #private::Callsite::new::<#private::#policy>(#meta);),
            quote_spanned!(span=> &__CALLSITE),
        )
    };
    let start = start(callsite);
    Ok(quote_spanned!(span=> { #definition #before #start }))
}

// Output: Meta { name: None, path: path_of(&|| {}), module: module_path!(), file: file!(), line: 12, unit: None }
fn meta(args: &Args, sig: &Signature, span: Span) -> TokenStream {
    let private = private(args, span);
    let option = quote_spanned!(span=> ::core::option::Option);
    let name = match &args.name {
        Some(name) => quote_spanned!(span=> #option::Some(#name)),
        None => quote_spanned!(span=> #option::None),
    };
    let unit = match &args.units {
        Some((key, _)) if key == "bytes" => {
            quote_spanned!(span=> #option::Some(#private::Unit::Bytes))
        }
        Some(_) => quote_spanned!(span=> #option::Some(#private::Unit::Items)),
        None => quote_spanned!(span=> #option::None),
    };
    let line = line_of(sig.ident.span());
    quote_spanned! {span=>
        #private::Meta {
            name: #name,
            path: #private::path_of(&|| {}),
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: #line,
            unit: #unit,
        }
    }
}

/// A literal costs the compiler less than a `line!()`, and is the function's own where the attribute stands on a block.
fn line_of(span: Span) -> u32 {
    if proc_macro::is_available() {
        u32::try_from(span.unwrap().line()).unwrap_or(0)
    } else {
        0
    }
}

//! The static that stands for an annotated function.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Result, ReturnType, Signature};

use crate::args::Args;
use crate::fence;
use crate::tokens::mentions;

// Output: { static __CALLSITE: Callsite = Callsite::new::<Lfence>(meta(…)); start(&__CALLSITE) }
//
// With `per_type` the static holds a callsite for each instantiation, distinguished by the type of a closure in the function:
//         { static __CALLSITES: Instances = …; start(__CALLSITES.of(path_of(&|| {}))) }
pub(crate) fn with(
    args: &Args,
    sig: &Signature,
    span: Span,
    start: impl FnOnce(TokenStream) -> TokenStream,
) -> Result<TokenStream> {
    let private = args.private(span);
    let kind = fence::kind(args.light.is_some(), args.fence.as_ref())?;
    let meta = meta(args, sig, span);
    let (definition, callsite) = if args.per_type.is_some() {
        (
            quote_spanned!(span=> static __CALLSITES: #private::Instances = #private::Instances::new::<#private::#kind>(#meta);),
            quote_spanned!(span=> __CALLSITES.of(#private::path_of(&|| {}))),
        )
    } else {
        (
            quote_spanned!(span=> static __CALLSITE: #private::Callsite = #private::Callsite::new::<#private::#kind>(#meta);),
            quote_spanned!(span=> &__CALLSITE),
        )
    };
    let start = start(callsite);
    Ok(quote_spanned!(span=> { #definition #start }))
}

// Output: meta(&|| {}, module_path!(), 12).named("…").bytes().returning_iterator()
fn meta(args: &Args, sig: &Signature, span: Span) -> TokenStream {
    let private = args.private(span);
    let name = args
        .name
        .as_ref()
        .map(|name| quote_spanned!(span=> .named(#name)));
    let unit = args.units.as_ref().map(|(key, _)| {
        let unit = Ident::new(&key.to_string(), span);
        quote_spanned!(span=> .#unit())
    });
    let iterator = returns_iterator(sig).then(|| quote_spanned!(span=> .returning_iterator()));
    let line = Literal::u32_unsuffixed(line_of(sig.ident.span()));
    quote_spanned! {span=>
        #private::meta(&|| {}, #private::module_path!(), #line) #name #unit #iterator
    }
}

/// Whether the function returns an `impl` or `dyn` iterator, whose work is done where it is consumed. A named iterator type cannot be
/// recognised by its name.
fn returns_iterator(sig: &Signature) -> bool {
    let ReturnType::Type(_, ty) = &sig.output else {
        return false;
    };
    let ty = ty.to_token_stream();
    mentions(ty.clone(), |ident| ident == "impl" || ident == "dyn")
        && mentions(ty, |ident| {
            ident.ends_with("Iterator") && ident != "IntoIterator"
        })
}

/// The function's line. A literal costs the compiler less than `line!()`, which would also give every function in a block the line of the
/// block's attribute. If a `macro_rules!` macro has written the name, this is its line in the macro, although the row's file is that of the
/// macro's call: a span does not tell on stable that it comes from a macro.
fn line_of(span: Span) -> u32 {
    if proc_macro::is_available() {
        u32::try_from(span.unwrap().line()).unwrap_or(0)
    } else {
        0
    }
}

//! The rewrite of one function.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::{Result, ReturnType, Signature};

use crate::args::Args;
use crate::body::Body;
use crate::fence;
use crate::function::Function;
use crate::params;
use crate::paths::private;
use crate::refuse;

/// Measures one function.
pub(crate) fn function(args: &Args, function: &Function) -> Result<TokenStream> {
    refuse::function(function)?;
    sync(args, function)
}

// Input:  fn f(a: A) -> R { stmts; tail }
// Output: fn f(a: A) -> R {
//             let __probe = { static __CALLSITE: Callsite = …; escape(&a); Probe::<Lfence>::start(&__CALLSITE) };
//             stmts;
//             result({ tail })
//         }
fn sync(args: &Args, function: &Function) -> Result<TokenStream> {
    let Function {
        head, sig, body, ..
    } = function;
    if body.stream().is_empty() && returns_named_value(sig) {
        // An error, which rustc words and mends best where nothing has been added.
        return Ok(quote_spanned!(Span::mixed_site()=> #head #body));
    }
    // Where a message has to say something of the probe, it points at the body's brace.
    let prologue = Span::mixed_site().located_at(body.span_open());
    let private = private(args, prologue);
    let policy = fence::policy(args.fence.as_ref())?;
    let callsite = callsite(args, sig, prologue)?;
    let escapes = params::escapes(sig, &body.stream(), &private);
    let Body {
        inner_attrs,
        items,
        stmts,
        tail,
    } = Body::split(body, returns_named_value(sig));
    let result = (!tail.is_empty()).then(|| result(args, tail, body.span()));
    let measured = quote_spanned! {prologue=>
        #inner_attrs
        #items
        let __probe = {
            #callsite
            #escapes
            #private::Probe::<#private::#policy>::start(&__CALLSITE)
        };
        #stmts
        #result
    };
    let measured = delimited(Delimiter::Brace, measured, body.span());
    Ok(quote_spanned!(Span::mixed_site()=> #head #measured))
}

// Input:  tail
// Output: result('__tail: { if false { break '__tail absurd(); } tail })
//
// The call hands the return type down to the tail, as no `let` would. That the block can be left early makes the call reachable for
// the lint, whatever the tail does; nothing leaves it so. The spans are the tail's, for the borrow checker blames the call.
fn result(args: &Args, tail: TokenStream, body: Span) -> TokenStream {
    let (first, last) = ends(&tail, body);
    // The label takes the body's span: a labelled block begins with it.
    let label = syn::Lifetime::new("'__tail", body);
    let absurd = private(args, Span::mixed_site());
    let tail =
        quote_spanned!(Span::mixed_site()=> if false { break #label #absurd::absurd(); } #tail);
    let tail = delimited(Delimiter::Brace, tail, body);
    let argument = quote_spanned!(body=> #label: #tail);
    let argument = delimited(Delimiter::Parenthesis, argument, last);
    let private = private(args, first);
    quote_spanned!(first=> #private::result #argument)
}

/// The spans of the first and the last of `tokens`.
fn ends(tokens: &TokenStream, otherwise: Span) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or(otherwise);
    (first, spans.last().unwrap_or(first))
}

// Output: static __CALLSITE: Callsite = Callsite::new::<Lfence>(Meta { … });
fn callsite(args: &Args, sig: &Signature, span: Span) -> Result<TokenStream> {
    let private = private(args, span);
    let policy = fence::policy(args.fence.as_ref())?;
    let name = match &args.name {
        Some(name) => quote_spanned!(span=> ::core::option::Option::Some(#name)),
        None => quote_spanned!(span=> ::core::option::Option::None),
    };
    let line = line_of(sig.ident.span());
    Ok(quote_spanned! {span=>
        static __CALLSITE: #private::Callsite = #private::Callsite::new::<#private::#policy>(#private::Meta {
            name: #name,
            path: #private::path_of(&|| {}),
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: #line,
        });
    })
}

/// A literal costs the compiler less than a `line!()`, and is the function's own where the attribute stands on a block.
fn line_of(span: Span) -> u32 {
    if proc_macro::is_available() {
        u32::try_from(span.unwrap().line()).unwrap_or(0)
    } else {
        0
    }
}

/// Whether the result has a type that can be named and a value worth holding.
fn returns_named_value(sig: &Signature) -> bool {
    let ReturnType::Type(_, ty) = &sig.output else {
        return false;
    };
    match &**ty {
        syn::Type::Never(_) | syn::Type::Slice(_) | syn::Type::TraitObject(_) => false,
        syn::Type::Tuple(tuple) => !tuple.elems.is_empty(),
        ty => !mentions_impl(quote::ToTokens::to_token_stream(ty)),
    }
}

fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => mentions_impl(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// `{ tokens }` or `( tokens )` at `span`. A block's braces stand where the body's do: in which edition they were written decides when
/// temporaries drop.
fn delimited(delimiter: Delimiter, tokens: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    group.into()
}

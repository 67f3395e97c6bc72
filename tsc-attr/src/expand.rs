//! The rewrite of one function.

use proc_macro2::{Delimiter, Span, TokenStream};
use quote::quote_spanned;
use syn::Result;

use crate::args::Args;
use crate::asynchronous;
use crate::body::Body;
use crate::callsite;
use crate::fence;
use crate::function::Function;
use crate::inlining;
use crate::recording;
use crate::refuse;
use crate::return_type;
use crate::tokens::{delimited, ends};

/// Measures one function.
pub(crate) fn function(args: &Args, function: &Function) -> Result<TokenStream> {
    refuse::function(&function.attrs, &function.sig)?;
    if function.body.stream().is_empty() && return_type::is_named_value(&function.sig.output) {
        // This compiles only if the type is another name of `()`. rustc's message and suggestions are best if nothing has been added.
        return Ok(function.as_written());
    }
    if function.sig.asyncness.is_some() {
        return asynchronous::function(args, function);
    }
    match asynchronous::returned(args, function)? {
        Some(measured) => Ok(measured),
        None => sync(args, function),
    }
}

// Input:  fn f(a: A) -> R { body }      with `bytes = expr` or `record = expr`
// Output: fn f(a: A) -> R { if false { check_count(expr); } body }
//
// The function for a build that does not measure. Without these arguments, its tokens are those that the user wrote.
pub(crate) fn bare(args: &Args, function: &Function) -> TokenStream {
    if args.units.is_none() && args.record.is_none() {
        return function.as_written();
    }
    let Function { head, body, .. } = function;
    let span = Span::mixed_site().located_at(body.span_open());
    let private = args.private(span);
    let Body {
        inner_attrs,
        items,
        stmts,
        ..
    } = Body::split(body, false);
    let count = args.units.as_ref();
    let count = count.map(|(_, count)| quote_spanned!(span=> #private::check_count(#count);));
    let value = args.record.as_ref();
    let value = value.map(|(_, value)| recording::check(args, value, span));
    let checked = quote_spanned!(span=> #inner_attrs #items if false { #count #value } #stmts);
    let checked = delimited(Delimiter::Brace, checked, body.span());
    quote_spanned!(Span::mixed_site()=> #head #checked)
}

// Input:  fn f(a: A) -> R { stmts; tail }
// Output: #[inline(never)] fn f(a: A) -> R {
//             let mut __slot = Slot::new();
//             let __probe = { static __CALLSITE: Callsite = …; Probe::<Lfence>::start(&__CALLSITE, &mut __slot) };
//             stmts;
//             result({ tail })
//         }
fn sync(args: &Args, function: &Function) -> Result<TokenStream> {
    let Function { sig, body, .. } = function;
    let returns = return_type::is_named_value(&sig.output);
    // A message about the probe points at the body's brace.
    let prologue = Span::mixed_site().located_at(body.span_open());
    if args.light.is_some() {
        return light(args, function, prologue);
    }
    let Body {
        inner_attrs,
        items,
        stmts,
        tail,
    } = Body::split(body, returns);
    let probe = probe(args, function, prologue)?;
    let held = tail.map(|tail| hold(args, &tail, body.span()));
    let measured = quote_spanned!(prologue=> #inner_attrs #items #probe #stmts #held);
    let measured = delimited(Delimiter::Brace, measured, body.span());
    let head = inlining::prevent(function);
    Ok(quote_spanned!(Span::mixed_site()=> #head #measured))
}

// Input:  fn f(a: A) -> R { body }
// Output: fn f(a: A) -> R {
//             let __callsite = { static __CALLSITE: Callsite = …; &__CALLSITE };
//             let __frame = Frame::new();
//             let __probe = LightProbe::start(__callsite, &__frame);
//             add_light_units(__callsite, expr);    // with `bytes = expr`
//             body
//         }
//
// It may be inlined: the compiler may move work over the probes, as it may without them.
fn light(args: &Args, function: &Function, span: Span) -> Result<TokenStream> {
    let Function {
        head, sig, body, ..
    } = function;
    let private = args.private(span);
    let callsite = callsite::with(args, sig, span, |callsite| callsite)?;
    let units = args
        .units
        .as_ref()
        .map(|(_, count)| quote_spanned!(span=> #private::add_light_units(__callsite, #count);));
    let Body {
        inner_attrs,
        items,
        stmts,
        ..
    } = Body::split(body, false);
    let measured = quote_spanned! {span=>
        #inner_attrs #items
        let __callsite = #callsite;
        let __frame = #private::Frame::new();
        let __probe = #private::LightProbe::start(__callsite, &__frame);
        #units
        #stmts
    };
    let measured = delimited(Delimiter::Brace, measured, body.span());
    Ok(quote_spanned!(Span::mixed_site()=> #head #measured))
}

// Output: let mut __slot = Slot::new();
//         let __probe = { static …; Probe::<Lfence>::start(&__CALLSITE, &mut __slot) };
//
// With `bytes = expr`:
//         let __callsite = { static …; &__CALLSITE };
//         let __units = Units::new(__callsite, expr);
//         let mut __slot = Slot::new();
//         let __probe = Probe::<Lfence>::start(__callsite, &mut __slot);
//
// With `record = expr`, the probe is `RecordingProbe::<Lfence, _>::start(__callsite, &mut __slot, || recorded(expr))`.
fn probe(args: &Args, function: &Function, span: Span) -> Result<TokenStream> {
    let private = args.private(span);
    let policy = fence::policy(args.fence.as_ref())?;
    let record = args.record.as_ref();
    let record = record.map(|(_, value)| recording::closure(args, value, span));
    let start = |callsite| match &record {
        None => {
            quote_spanned!(span=> #private::Probe::<#private::#policy>::start(#callsite, &mut __slot))
        }
        Some(value) => {
            quote_spanned!(span=> #private::RecordingProbe::<#private::#policy, _>::start(#callsite, &mut __slot, #value))
        }
    };
    let slot = quote_spanned!(span=> let mut __slot = #private::Slot::new(););
    let Some((_, count)) = &args.units else {
        let probe = callsite::with(args, &function.sig, span, start)?;
        return Ok(quote_spanned!(span=> #slot let __probe = #probe;));
    };
    let callsite = callsite::with(args, &function.sig, span, |callsite| callsite)?;
    let start = start(quote_spanned!(span=> __callsite));
    Ok(quote_spanned! {span=>
        let __callsite = #callsite;
        let __units = #private::Units::new(__callsite, #count);
        #slot
        let __probe = #start;
    })
}

// Input:  tail
// Output: result('__tail: { if false { break '__tail absurd(); } tail })
//
// Unlike a `let`, the call passes the return type on to the tail. The `break` is never executed; it makes the call reachable for the lint
// `unreachable_code`, whatever the tail does. The call has the tail's spans, because the borrow checker's messages point at the call.
fn hold(args: &Args, tail: &TokenStream, body: Span) -> TokenStream {
    let (first, last) = ends(tail, body);
    // The label takes the body's span: a labelled block begins with it, and its edition decides when temporaries drop.
    let label = syn::Lifetime::new("'__tail", body);
    let inside = Span::mixed_site();
    let absurd = args.private(inside);
    let tail = quote_spanned!(inside=> if false { break #label #absurd::absurd(); } #tail);
    let tail = delimited(Delimiter::Brace, tail, body);
    let argument = quote_spanned!(body=> #label: #tail);
    let argument = delimited(Delimiter::Parenthesis, argument, last);
    let private = args.private(first);
    quote_spanned!(first=> #private::result #argument)
}

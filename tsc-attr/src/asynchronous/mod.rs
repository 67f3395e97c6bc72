//! Futures are measured poll by poll, so that the time while they are suspended does not count.

mod parameters;
mod stays;

use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Expr, Result, ReturnType, Signature, Type};

use crate::args::Args;
use crate::body::Body;
use crate::callsite;
use crate::fence;
use crate::function::Function;
use crate::recording;
use crate::refuse;
use crate::return_type;
use crate::tokens::{self, delimited};
use parameters::bind_inside;
pub(crate) use stays::is_inert;
use stays::must_stay_async;

// Input:  async fn f(a: A, mut b: B, (c, _): (C, D)) -> R { stmts }
// Output: fn f(a: A, b: B, __arg2: (C, D)) -> impl Future<Output = R> {
//             let __callsite = { static __CALLSITE: Callsite = …; || &__CALLSITE };
//             polled::<Lfence, _, _>(__callsite, async move {
//                 let a = a; let mut b = b; let __arg2 = __arg2; let (c, _) = __arg2;
//                 if false { return result_of(|| -> R { loop {} }); }    // gives the block its type
//                 match () { () => { stmts } }
//             })
//         }
//
// The parameters are moved into the future and bound there as rustc does it for an `async fn`, so they drop as in the original function.
// `self` is mentioned before them, because a block captures only the fields that it uses, in the order in which it mentions them. A match arm
// ends the life of the last expression's temporaries, which may borrow parameters, before the parameters drop.
//
// If another attribute has yet to see the function, it must see an `async fn`. Then the function stays `async` and awaits `polled`. Its
// future is larger, because it holds the parameters twice.
//
// rustc's messages about the body call it an `async` block, because only rustc's own desugaring makes an `async` function: a message that
// names the kind of body (`?` without a `Result`, a stray `break`, recursion without a box, a future that is not `Send`) says "block". A
// block cannot declare the lifetimes in its type as a function can, so the error for a closure that borrows what it outlives is E0373 in
// the expansion and E0597 in the bare function. A type that cannot be returned is reported twice, for the signature and for the block. The
// spans of the block and of the call around it are the user's, so all other messages have the wording and the place that they have for the
// bare function, except for secondary labels.
pub(crate) fn function(args: &Args, function: &Function) -> Result<TokenStream> {
    let keeps_async = args.keeps_async || must_stay_async(function);
    let mut sig: Signature = syn::parse2(function.sig.to_token_stream())?;
    let bound = bind_inside(&mut sig, keeps_async);
    if !keeps_async {
        sig.asyncness = None;
        sig.output = future_of(args, &function.sig);
    }
    let body = &function.body;
    let Body {
        inner_attrs,
        items,
        stmts,
        tail,
    } = Body::split(body, true);
    let span = Span::mixed_site().located_at(body.span_open());
    let hint = return_type::hint(args, &function.sig.output, body, span);
    let prologue = prologue(args, span);
    let receiver = function.sig.receiver().map(|receiver| {
        let this = &receiver.self_token;
        quote_spanned!(span=> let _ = &#this;)
    });
    // The items stay with the statements, because the hint is not to find their names, and their macros what the future binds.
    let written = quote_spanned!(span=> #items #stmts #tail);
    let written = delimited(Delimiter::Brace, written, body.span());
    let content =
        quote_spanned!(span=> #receiver #bound #prologue #hint match () { () => #written });
    let content = delimited(Delimiter::Brace, content, body.span());
    let future = quote_spanned!(body.span()=> async move #content);
    let blamed = tail.map_or((span, span), |tail| tokens::ends(&tail, span));
    let Polled {
        callsite,
        future: polled,
    } = polled(args, &function.sig, &future, span, blamed)?;
    let wait = keeps_async.then(|| quote_spanned!(span=> .await));
    let measured = quote_spanned!(span=> #inner_attrs #callsite #polled #wait);
    let measured = delimited(Delimiter::Brace, measured, body.span());
    let before = &function.before_sig;
    // A lint of Clippy for blocks that return a future, which a function may.
    let lints = quote_spanned!(span=> #[allow(clippy::async_yields_async)]);
    Ok(quote_spanned!(Span::mixed_site()=> #lints #before #sig #measured))
}

// Input:  fn f(a: A) -> Pin<Box<dyn Future<Output = R>>> { stmts; Box::pin(async move { … }) }
// Output: fn f(a: A) -> Pin<Box<dyn Future<Output = R>>> {
//             let __units = expr;                             // with `bytes = expr`
//             stmts;
//             Box::pin({ let __callsite = …; add_units(__callsite(), __units); polled(__callsite, async move { … }) })
//         }
//
// The form that `#[async_trait]` gives a function, and the same without a box. `None` for any other function.
pub(crate) fn returned(args: &Args, function: &Function) -> Result<Option<TokenStream>> {
    let Function {
        head, sig, body, ..
    } = function;
    if !return_type::is_future(&sig.output) {
        return Ok(None);
    }
    let Body {
        inner_attrs,
        items,
        stmts,
        tail,
    } = Body::split(body, true);
    let Some(Ok(mut tail)) = tail.map(syn::parse2::<Expr>) else {
        return Ok(None);
    };
    let Some(future) = future_in(&mut tail) else {
        return Ok(None);
    };
    if let Some((key, _)) = &args.record {
        return Err(refuse::record_of_returned_future(key));
    }
    let span = Span::mixed_site().located_at(body.span_open());
    let [counted, added] = counted(args, span);
    let called = polled(args, sig, &future.to_token_stream(), span, (span, span))?;
    let Polled {
        callsite,
        future: call,
    } = called;
    *future = Expr::Verbatim(quote_spanned!(span=> { #callsite #added #call }));
    let measured = quote_spanned!(span=> #inner_attrs #items #counted #stmts #tail);
    let measured = delimited(Delimiter::Brace, measured, body.span());
    Ok(Some(quote_spanned!(Span::mixed_site()=> #head #measured)))
}

/// The `async` block that `tail` consists of or pins.
fn future_in(tail: &mut Expr) -> Option<&mut Expr> {
    match tail {
        Expr::Async(_) => Some(tail),
        Expr::Call(call) if is_pin(&call.func) && call.args.len() == 1 => call
            .args
            .first_mut()
            .filter(|future| matches!(future, Expr::Async(_))),
        _ => None,
    }
}

fn is_pin(callee: &Expr) -> bool {
    matches!(callee, Expr::Path(callee) if callee.path.segments.last().is_some_and(|last| last.ident == "pin"))
}

/// A measured future.
struct Polled {
    callsite: TokenStream,
    future: TokenStream,
}

// Output: let __callsite = { static …; || &__CALLSITE };
// and     polled::<Lfence, _, _>(__callsite, future)      or light_polled(__callsite, future)
fn polled(
    args: &Args,
    sig: &Signature,
    future: &TokenStream,
    span: Span,
    (first, last): (Span, Span),
) -> Result<Polled> {
    let private = args.private(first);
    let polled = match &args.light {
        Some(_) => quote_spanned!(first=> #private::light_polled),
        None => {
            let policy = fence::policy(args.fence.as_ref())?;
            quote_spanned!(first=> #private::polled::<#private::#policy, _, _>)
        }
    };
    let callsite = callsite::with(
        args,
        sig,
        span,
        |callsite| quote_spanned!(span=> || #callsite),
    )?;
    let arguments = quote_spanned!(span=> __callsite, #future);
    let arguments = delimited(Delimiter::Parenthesis, arguments, last);
    Ok(Polled {
        callsite: quote_spanned!(span=> let __callsite = #callsite;),
        future: quote_spanned!(span=> #polled #arguments),
    })
}

// Output: let __units = expr;      and      add_units(__callsite(), __units);
//
// The expression comes first, because the function may move its parameters. An error in its type has its place.
fn counted(args: &Args, span: Span) -> [TokenStream; 2] {
    let Some((_, count)) = &args.units else {
        return Default::default();
    };
    let (first, _) = tokens::ends(&count.to_token_stream(), span);
    let name = Ident::new("__units", Span::mixed_site().located_at(first));
    let added = add_units(args, &name.to_token_stream(), span);
    [quote_spanned!(span=> let #name = #count;), added]
}

// Output: add_units(__callsite(), expr);      or, for a light probe, add_light_units(__callsite(), expr);
fn add_units(args: &Args, count: &TokenStream, span: Span) -> TokenStream {
    let private = args.private(span);
    match args.light {
        Some(_) => quote_spanned!(span=> #private::add_light_units(__callsite(), #count);),
        None => quote_spanned!(span=> #private::add_units(__callsite(), #count);),
    }
}

// Output: add_units(__callsite(), expr);
//         let __value = PolledValue::new(__callsite(), || recorded(expr));      with `record = expr`
fn prologue(args: &Args, span: Span) -> TokenStream {
    let private = args.private(span);
    let units = args.units.as_ref();
    let units = units.map(|(_, count)| add_units(args, &count.to_token_stream(), span));
    let record = args.record.as_ref().map(|(_, value)| {
        let value = recording::closure(args, value, span);
        quote_spanned!(span=> let __value = #private::PolledValue::new(__callsite(), #value);)
    });
    quote_spanned!(span=> #units #record)
}

fn future_of(args: &Args, sig: &Signature) -> ReturnType {
    let name = sig.ident.span();
    let ty = match &sig.output {
        ReturnType::Default => quote_spanned!(Span::mixed_site().located_at(name)=> ()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    let (first, last) = tokens::ends(&ty, name);
    let [first, last] = [first, last].map(|at| Span::mixed_site().located_at(at));
    let private = args.private(first);
    let mut future = quote_spanned!(first=> impl #private::Future<Output = #ty);
    future.extend(quote_spanned!(last=> >));
    ReturnType::Type(syn::token::RArrow(first), Box::new(Type::Verbatim(future)))
}

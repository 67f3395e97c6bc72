//! The type that a function returns, as far as its tokens tell.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{GenericArgument, Path, PathArguments, ReturnType, Type, TypeParamBound, parse_quote};

use crate::args::Args;
use crate::tokens::{self, delimited, mentions};

/// Whether the result has a type that can be named and a value that must be computed before the stop.
pub(crate) fn is_named_value(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else {
        return false;
    };
    match peeled(ty) {
        Type::Never(_) | Type::Slice(_) | Type::TraitObject(_) => false,
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        ty => !mentions(ty.to_token_stream(), |ident| ident == "impl"),
    }
}

// Output: #[allow(clippy::all, clippy::pedantic)] if false { return result_of(|| -> R { loop {} }); }
//
// What gives an `async` block its type. The expression has the spans of `R`, because rustc points there if the body has another type. `R`
// is not a generic argument (`absurd::<R>()`), because rustc would then report an unknown `R` a second time, with another message. Clippy
// has reported what it has to say of `R` where the signature has it. An `impl Trait` in `R` cannot be named here, so `_` is in its place.
pub(crate) fn hint(
    args: &Args,
    output: &ReturnType,
    body: &Group,
    span: Span,
) -> Option<TokenStream> {
    let ty = match output {
        ReturnType::Default => quote_spanned!(body.span_open()=> ()),
        ReturnType::Type(_, ty) => without_impl(ty)?,
    };
    if is_never(output) {
        return None;
    }
    let (first, last) = tokens::ends(&ty, span);
    let closure = quote_spanned!(span=> || -> #ty { loop {} });
    let closure = delimited(Delimiter::Parenthesis, closure, last);
    let private = args.private(first);
    let result = quote_spanned!(first=> #private::result_of #closure);
    let lints = quote_spanned!(span=> #[allow(clippy::all, clippy::pedantic)]);
    Some(quote_spanned!(span=> #lints if false { return #result; }))
}

pub(crate) fn is_never(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if matches!(peeled(ty), Type::Never(_)))
}

/// Whether the word `Future` is in the type.
pub(crate) fn is_future(output: &ReturnType) -> bool {
    mentions(output.to_token_stream(), |ident| ident.ends_with("Future"))
}

/// The type without parentheses, and without the invisible ones around a macro's `$ty:ty`.
fn peeled(mut ty: &Type) -> &Type {
    while let Type::Group(syn::TypeGroup { elem, .. }) | Type::Paren(syn::TypeParen { elem, .. }) =
        ty
    {
        ty = elem;
    }
    ty
}

/// The tokens of the type with `_` in place of each `impl Trait`. `None` if that is all of it, or if one is in a place that is not looked at.
fn without_impl(ty: &Type) -> Option<TokenStream> {
    let has_impl = |tokens: &TokenStream| mentions(tokens.clone(), |ident| ident == "impl");
    let tokens = ty.to_token_stream();
    if !has_impl(&tokens) {
        return Some(tokens);
    }
    let mut ty = syn::parse2(tokens).ok()?;
    replace_impl(&mut ty);
    let tokens = ty.to_token_stream();
    let is_known = !has_impl(&tokens) && !matches!(peeled(&ty), Type::Infer(_));
    is_known.then_some(tokens)
}

fn replace_impl(ty: &mut Type) {
    match ty {
        Type::ImplTrait(_) => *ty = parse_quote!(_),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(replace_impl),
        Type::Reference(reference) => replace_impl(&mut reference.elem),
        Type::Array(array) => replace_impl(&mut array.elem),
        Type::Slice(slice) => replace_impl(&mut slice.elem),
        Type::Paren(inner) => replace_impl(&mut inner.elem),
        Type::Group(inner) => replace_impl(&mut inner.elem),
        Type::Path(path) => replace_in_path(&mut path.path),
        Type::TraitObject(object) => {
            for bound in &mut object.bounds {
                if let TypeParamBound::Trait(bound) = bound {
                    replace_in_path(&mut bound.path);
                }
            }
        }
        _ => {}
    }
}

fn replace_in_path(path: &mut Path) {
    for segment in &mut path.segments {
        let PathArguments::AngleBracketed(generics) = &mut segment.arguments else {
            continue;
        };
        for argument in &mut generics.args {
            match argument {
                GenericArgument::Type(ty) => replace_impl(ty),
                GenericArgument::AssocType(of) => replace_impl(&mut of.ty),
                _ => {}
            }
        }
    }
}

//! Syntax of older editions that the parser does not know: trait objects without `dyn` that have arguments in parentheses, and parameters of
//! trait methods that are only a type.

use std::iter;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{File, Signature};

/// So many places of a file are completed. For each of them it is parsed once more.
const MOST: usize = 1000;

/// Parses a file. Where it has such syntax, the tokens that today's has there are inserted before. All others keep their places.
pub(super) fn parse(mut tokens: TokenStream) -> syn::Result<File> {
    for _ in 0..MOST {
        let error = match syn::parse2(tokens.clone()) {
            Ok(file) => return Ok(file),
            Err(error) => error,
        };
        let at = error.span().byte_range().start;
        match completed(tokens.clone(), at) {
            Some(more) => tokens = more,
            None => return Err(at_end(error, tokens)),
        }
    }
    syn::parse2(tokens)
}

/// Whether the signature has such syntax. The attribute cannot parse it, either.
pub(super) fn is_in(sig: &Signature) -> bool {
    holds_inserted(sig.to_token_stream())
}

/// Whether a token has no place, as those have that are inserted.
fn holds_inserted(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => holds_inserted(group.stream()),
        _ => tree.span().byte_range().is_empty(),
    })
}

/// The error, at the last token if it is that there is none after it. The parser gives this no place.
fn at_end(error: syn::Error, tokens: TokenStream) -> syn::Error {
    match tokens.into_iter().last() {
        Some(last) if error.span().byte_range().is_empty() => syn::Error::new(last.span(), error),
        _ => error,
    }
}

/// The tokens with those inserted that the parser may have missed at this offset.
fn completed(tokens: TokenStream, at: usize) -> Option<TokenStream> {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut places = trees.iter();
    let place = places.position(|tree| at < tree.span().byte_range().end)?;
    let TokenTree::Group(group) = &trees[place] else {
        return None;
    };
    if at < group.span_open().byte_range().end {
        let object = trait_object(&trees[..place])?;
        let word = Ident::new("dyn", Span::call_site());
        trees.insert(object, word.into());
    } else {
        let inner = completed(group.stream(), at).or_else(|| {
            let are_parameters = group.delimiter() == Delimiter::Parenthesis
                && ends_before_parameters(&trees[..place]);
            are_parameters.then(|| named(group.stream())).flatten()
        })?;
        let mut with_more = Group::new(group.delimiter(), inner);
        with_more.set_span(group.span());
        trees[place] = with_more.into();
    }
    Some(trees.into_iter().collect())
}

/// Where the trait object begins whose arguments in parentheses come after these tokens, if it has no `dyn`.
fn trait_object(trees: &[TokenTree]) -> Option<usize> {
    let (name, before) = trees.split_last()?;
    let mut names = ["Fn", "FnMut", "FnOnce"].iter();
    if !names.any(|function| is_word(name, function)) {
        return None;
    }
    let begin = match before {
        // The word would have to be before the whole path.
        [.., last] if is_sign(last, ':') => return None,
        // The end of `for<'a>`.
        [.., last] if is_sign(last, '>') => before.iter().rposition(|it| is_word(it, "for"))?,
        _ => before.len(),
    };
    let has_word = before[..begin].last().is_some_and(|it| is_word(it, "dyn"));
    (!has_word).then_some(begin)
}

/// Whether these tokens end with a function's name, and its generic parameters if it has some.
fn ends_before_parameters(trees: &[TokenTree]) -> bool {
    let is_fn = |tree: &TokenTree| is_word(tree, "fn");
    let Some(place) = trees.iter().rposition(is_fn) else {
        return false;
    };
    match &trees[place + 1..] {
        [TokenTree::Ident(_), generics @ ..] => {
            let mut outside = outside_angles(generics);
            outside.all(|place| is_sign(&generics[place], '>'))
        }
        _ => false,
    }
}

/// The parameters with a pattern for each that is only a type. `None` if there is no such one.
fn named(parameters: TokenStream) -> Option<TokenStream> {
    let mut trees: Vec<TokenTree> = parameters.into_iter().collect();
    let commas = outside_angles(&trees).filter(|place| is_sign(&trees[*place], ','));
    let ends: Vec<usize> = commas.chain([trees.len()]).collect();
    let begins = iter::once(0).chain(ends.iter().map(|end| end + 1));
    let types: Vec<usize> = begins
        .zip(&ends)
        .map(|(begin, end)| (after_attributes(&trees, begin), *end))
        .filter(|(begin, end)| is_only_type(&trees[*begin..*end]))
        .map(|(begin, _)| begin)
        .collect();
    for begin in types.iter().rev() {
        trees.splice(*begin..*begin, quote!(_:));
    }
    (!types.is_empty()).then(|| trees.into_iter().collect())
}

fn after_attributes(trees: &[TokenTree], begin: usize) -> usize {
    match &trees[begin..] {
        [sign, TokenTree::Group(_), ..] if is_sign(sign, '#') => after_attributes(trees, begin + 2),
        _ => begin,
    }
}

/// Whether the parameter has no pattern, and is neither `self` nor `...`.
fn is_only_type(parameter: &[TokenTree]) -> bool {
    let is_whole = |last| !is_word(last, "self") && !is_sign(last, '.');
    let begins_path = |place: usize| match parameter.get(place..place + 2) {
        Some([TokenTree::Punct(first), second]) => {
            first.as_char() == ':' && first.spacing() == Spacing::Joint && is_sign(second, ':')
        }
        _ => false,
    };
    let mut colons = outside_angles(parameter).filter(|place| is_sign(&parameter[*place], ':'));
    parameter.last().is_some_and(is_whole)
        && colons.all(|place| begins_path(place) || place > 0 && begins_path(place - 1))
}

/// The places of the tokens that are not in angle brackets. The brackets that close are among them.
fn outside_angles(trees: &[TokenTree]) -> impl Iterator<Item = usize> {
    let mut depth = 0_usize;
    (0..trees.len()).filter(move |&place| {
        let is_arrow = place > 0 && is_sign(&trees[place - 1], '-');
        if is_sign(&trees[place], '<') {
            depth += 1;
        } else if is_sign(&trees[place], '>') && !is_arrow {
            depth = depth.saturating_sub(1);
        }
        depth == 0
    })
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use crate::annotate::{ATTRIBUTE, Probe, Where, annotate, left_as_it_is, strip};
    use std::path::Path;

    /// Checks that annotating `marked` without `$` inserts an attribute at each `$`, and that stripping removes them.
    #[track_caller]
    fn check(marked: &str) {
        let source = marked.replace('$', "");
        let annotated = annotate(&source, Where::Functions, &|_| Some(Probe::Timed)).unwrap();
        assert_eq!(annotated.text, marked.replace('$', ATTRIBUTE));
        let count = marked.matches('$').count();
        assert_eq!(strip(&annotated.text).unwrap(), (source, count));
    }

    #[test]
    fn trait_objects_need_no_dyn() {
        check(
            "\u{feff}#!/bin/x ☃\n#![allow(bare_trait_objects)]\n//! Doc.\n/// Doc.\nfn a(f: &Fn(u32)) {}\n$fn b() { let _: Box<Fn()> = g(); }\n\
             type T = FnMut(&u8) -> u8 + Send;\nstruct S<'a> { f: Option<Rc<Fn(String) -> Result<(), String>>>, g: &'a mut FnMut(Box<FnOnce()>) }\n\
             impl U for Box<for<'a> Fn(&'a u8) -> &'a u8 + Send> { #[inline] $fn b() { Box::new(|x| h(x as &Fn(u8))) } fn c() -> Box<Fn(u8)> {} }\n\
             $fn c<F: Fn(u8)>(f: F, g: &dyn Fn(u8)) where F: Fn(u8) {}\nfn d(f: &(Fn() + Send)) {}\n",
        );
    }

    #[test]
    fn parameters_of_trait_methods_need_no_pattern() {
        check(
            "trait T<A, B> { fn a(&self, u32, u32) -> u32; fn b(&mut self, Self); fn c(x: ::std::string::String, ::std::string::String, y: u8,);\n\
             fn d(io::Result<u8>, Vec<u8>, HashMap<u8, Vec<u8>>) { $fn e() {} }\nfn f<F: Fn(A) -> B>(self, F, *const u8, [u8; 4], (u8, Vec<u8>), &'static [A]);\n\
             fn g(self: Box<Self>, fn(u8) -> u8, Box<Fn(u8)>, &Fn(u8), #[x] A); }\n$fn h() { trait U { fn i(u8); } }\n",
        );
    }

    #[test]
    fn what_does_not_parse_has_a_place() {
        for (source, place) in [
            ("fn a(f: &Fn(u8)) {}\nfn b(f: Fn!(u8), +) {}\n", "2:18"),
            ("fn a() {}\nfn ☃() {}", "2:4"),
            ("#!/bin/x\n\nfn a(u8) { let }", "3:16"),
            ("fn a() {}\nfn b", "2:4"),
            ("fn a() {\n(}", "2:2"),
        ] {
            let error = annotate(source, Where::Functions, &|_| Some(Probe::Timed)).unwrap_err();
            let said = left_as_it_is(Path::new("a.rs"), &error);
            let expected = format!("a.rs:{place}: left as it is: {error}");
            assert_eq!(said, expected, "{source}");
        }
    }
}

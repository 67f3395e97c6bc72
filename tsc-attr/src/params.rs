//! The names that a function's parameters bind, and the calls of `escape` that keep the compiler from moving work on them out of the
//! measured region.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Attribute, FnArg, Pat, Signature};

/// A name that a parameter brings into the body.
struct Binding<'a> {
    attrs: Vec<&'a Attribute>,
    name: TokenStream,
}

// Input:  fn f(self, a: A, #[cfg(x)] (b, _): (B, C), unused: D) { a + b }
// Output: escape(&self); escape(&a); #[cfg(x)] escape(&b);
//
// A name that the body does not mention is left alone: no work depends on it, and the compiler still warns that it is unused.
pub(crate) fn escapes(sig: &Signature, body: &TokenStream, private: &TokenStream) -> TokenStream {
    let mentioned = Mentioned::of(body);
    let span = proc_macro2::Span::mixed_site();
    bindings(sig)
        .into_iter()
        .filter(|binding| mentioned.contains(&binding.name))
        .map(|Binding { attrs, name }| quote_spanned!(span=> #(#attrs)* #private::escape(&#name);))
        .collect()
}

/// Every binding of every parameter, in the order of declaration.
fn bindings(sig: &Signature) -> Vec<Binding<'_>> {
    let mut bindings = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => bindings.push(Binding {
                attrs: cfgs(&receiver.attrs).collect(),
                name: receiver.self_token.to_token_stream(),
            }),
            FnArg::Typed(typed) => {
                let attrs: Vec<_> = cfgs(&typed.attrs).collect();
                collect(&typed.pat, &attrs, &mut bindings);
            }
        }
    }
    bindings
}

fn cfgs(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}

fn collect<'a>(pat: &'a Pat, attrs: &[&'a Attribute], bindings: &mut Vec<Binding<'a>>) {
    match pat {
        Pat::Ident(pat) => {
            if may_bind(&pat.ident) {
                bindings.push(Binding {
                    attrs: attrs.to_vec(),
                    name: pat.ident.to_token_stream(),
                });
            }
            if let Some((_, subpat)) = &pat.subpat {
                collect(subpat, attrs, bindings);
            }
        }
        Pat::Paren(pat) => collect(&pat.pat, attrs, bindings),
        Pat::Reference(pat) => collect(&pat.pat, attrs, bindings),
        Pat::Tuple(pat) => each(&pat.elems, attrs, bindings),
        Pat::TupleStruct(pat) => each(&pat.elems, attrs, bindings),
        Pat::Slice(pat) => each(&pat.elems, attrs, bindings),
        Pat::Struct(pat) => {
            for field in &pat.fields {
                let mut attrs = attrs.to_vec();
                attrs.extend(cfgs(&field.attrs));
                collect(&field.pat, &attrs, bindings);
            }
        }
        // Alternatives bind the same names, so the first has them all.
        Pat::Or(pat) => {
            if let Some(first) = pat.cases.first() {
                collect(first, attrs, bindings);
            }
        }
        _ => {}
    }
}

fn each<'a>(
    pats: impl IntoIterator<Item = &'a Pat>,
    attrs: &[&'a Attribute],
    bindings: &mut Vec<Binding<'a>>,
) {
    for pat in pats {
        collect(pat, attrs, bindings);
    }
}

/// `None`, `MAX`, `Empty`: in a pattern these may name a constant or a unit struct, which need no `escape`.
fn may_bind(ident: &Ident) -> bool {
    !ident.to_string().starts_with(char::is_uppercase)
}

/// The identifiers in a body, including those in the braces of a format string.
struct Mentioned(BTreeSet<String>);

impl Mentioned {
    fn of(body: &TokenStream) -> Self {
        let mut names = BTreeSet::new();
        gather(body.clone(), &mut names);
        Self(names)
    }

    fn contains(&self, name: &TokenStream) -> bool {
        self.0.contains(&name.to_string())
    }
}

fn gather(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) => {
                names.insert(ident.to_string());
            }
            TokenTree::Group(group) => gather(group.stream(), names),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let captured = text.split('{').skip(1);
                names.extend(captured.map(|rest| leading_name(rest).to_owned()));
            }
            TokenTree::Punct(_) => {}
        }
    }
}

fn leading_name(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    &text[..end]
}

//! A function taken apart: the tokens before its body, what they say, and the body.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Result, Signature, Token, Visibility};

use crate::items;
use crate::refuse;

/// A function with a body.
pub(crate) struct Function {
    /// Attributes, visibility and signature, as written.
    pub(crate) head: TokenStream,
    /// The part of the head before the signature.
    pub(crate) before_sig: TokenStream,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

impl Function {
    /// Takes `item` apart, or says what it is instead of a function with a body.
    pub(crate) fn parse(item: TokenStream) -> Result<Self> {
        let mut trees: Vec<TokenTree> = item.into_iter().collect();
        let keyword = items::keyword(&trees);
        if keyword.to_string() != "fn" {
            return Err(refuse::not_a_function(&keyword));
        }
        let body = trees.pop().and_then(braces);
        let head: TokenStream = trees.into_iter().collect();
        let parse = |input: ParseStream<'_>| parse_head(input, &head);
        let (before_sig, attrs, sig) = parse.parse2(head.clone())?;
        let body = body.ok_or_else(|| refuse::without_body(&sig.ident))?;
        Ok(Self {
            head,
            before_sig,
            attrs,
            sig,
            body,
        })
    }

    pub(crate) fn as_written(&self) -> TokenStream {
        let mut tokens = self.head.clone();
        tokens.extend([TokenTree::Group(self.body.clone())]);
        tokens
    }
}

fn parse_head(
    input: ParseStream<'_>,
    head: &TokenStream,
) -> Result<(TokenStream, Vec<Attribute>, Signature)> {
    let len = |tokens: TokenStream| tokens.into_iter().count();
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Option<Token![default]>>()?;
    let rest = len(input.fork().parse()?);
    let before_sig = head.clone().into_iter().take(len(head.clone()) - rest);
    Ok((before_sig.collect(), attrs, input.parse()?))
}

/// The braced group that `tree` is, also inside the invisible delimiters that a `$body:block` brings.
pub(crate) fn braces(tree: TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = tree else {
        return None;
    };
    match group.delimiter() {
        Delimiter::Brace => Some(group),
        Delimiter::None => {
            let mut inner = group.stream().into_iter();
            let only = inner.next()?;
            if inner.next().is_some() {
                None
            } else {
                braces(only)
            }
        }
        Delimiter::Parenthesis | Delimiter::Bracket => None,
    }
}

//! A function in parts: the tokens before its body, what they mean, and the body.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Result, Signature, Token, Visibility};

use crate::items;
use crate::precedence;
use crate::refuse;
use crate::return_type;
use crate::tokens::mentions;

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
    /// Splits `item`; an error if it is anything but a function with a body.
    pub(crate) fn parse(item: TokenStream) -> Result<Self> {
        let mut trees = precedence::trees(item);
        let keyword = items::keyword(&trees);
        if keyword.to_string() != "fn" {
            return Err(refuse::not_a_function(&keyword));
        }
        let body = trees.pop().and_then(braces);
        let head: TokenStream = trees.into_iter().collect();
        let parse = |input: ParseStream<'_>| parse_head(input, &head);
        let parsed = parse.parse2(precedence::at_any_depth(head.clone()));
        let (before_sig, attrs, sig) = parsed.map_err(refuse::old_signature)?;
        let body = body.ok_or_else(|| refuse::without_body(&sig.ident))?;
        Ok(Self {
            head,
            before_sig,
            attrs,
            sig,
            body,
        })
    }

    /// Whether another `#[cycles]` has already put a probe into the body: one above this attribute, or one on a block around the function,
    /// which does not recognise this attribute under another name. The body then begins as an expansion does; a function that returns a
    /// pinned future has the expansion further inside.
    pub(crate) fn is_measured(&self) -> bool {
        let trees: Vec<TokenTree> = self.body.stream().into_iter().collect();
        let rest = &trees[items::inner_attrs_len(&trees)..];
        let rest = &rest[items::leading_items_len(rest)..];
        let is = |at: usize, name: &str| matches!(rest.get(at), Some(TokenTree::Ident(ident)) if ident == name);
        let begins = is(0, "let") && (is(1, "__callsite") || is(1, "mut") && is(2, "__slot"));
        begins || return_type::is_future(&self.sig.output) && holds_probes(&self.body.stream())
    }

    pub(crate) fn as_written(&self) -> TokenStream {
        let mut tokens = self.head.clone();
        tokens.extend([TokenTree::Group(self.body.clone())]);
        tokens
    }
}

/// Whether an expansion of this macro is anywhere in `tokens`.
pub(crate) fn holds_probes(tokens: &TokenStream) -> bool {
    mentions(tokens.clone(), |ident| {
        ident == "__callsite" || ident == "__slot"
    })
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

/// The braced group that `tree` consists of, also inside the invisible delimiters around a macro's `$body:block`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_of_an_older_edition_says_what_to_write() {
        let item = "fn apply(of: &Fn(u32) -> u32) -> u32 { of(1) }";
        let error = Function::parse(item.parse().unwrap()).err().unwrap();
        let error = error.to_string();
        assert!(
            error.contains("write `dyn` before trait objects"),
            "{error}"
        );
    }
}

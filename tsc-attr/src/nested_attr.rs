//! The `#[cycles(…)]` attributes of an item inside an annotated block.

use proc_macro2::{Delimiter, Punct, Spacing, TokenStream, TokenTree};
use syn::Result;

use crate::args::Args;
use crate::tokens::{is_punct, mentions};

/// An item's attributes, with this macro's separated from all others.
pub(crate) struct NestedAttr {
    /// The arguments of each `#[cycles]`, without their parentheses.
    arguments: Vec<TokenStream>,
    /// Whether a `#[cfg_attr(…)]` may add the attribute later. The block then leaves the item to that attribute.
    pub(crate) is_conditional: bool,
    /// All other attributes, in order.
    pub(crate) others: Vec<TokenTree>,
}

impl NestedAttr {
    /// Separates `attrs`, a sequence of `#` and `[…]`.
    pub(crate) fn split(attrs: &[TokenTree]) -> Self {
        let mut nested = Self {
            arguments: Vec::new(),
            is_conditional: false,
            others: Vec::new(),
        };
        for attr in attrs.chunks(2) {
            match cycles_arguments(attr) {
                Some(arguments) => nested.arguments.push(arguments),
                None => {
                    nested.is_conditional |= is_conditional(attr);
                    nested.others.extend_from_slice(attr);
                }
            }
        }
        nested
    }

    /// The arguments of all `#[cycles]` together. An argument that stands in two of them is an error.
    pub(crate) fn args(&self) -> Result<Args> {
        let mut joined = TokenStream::new();
        for arguments in &self.arguments {
            if !joined.is_empty() {
                joined.extend([TokenTree::Punct(Punct::new(',', Spacing::Alone))]);
            }
            joined.extend(arguments.clone());
        }
        Args::parse(joined)
    }

    pub(crate) const fn is_present(&self) -> bool {
        !self.arguments.is_empty()
    }
}

/// The tokens in the parentheses of `#[path::to::cycles(…)]`; `None` for another attribute.
fn cycles_arguments(attr: &[TokenTree]) -> Option<TokenStream> {
    let trees = content(attr)?;
    let (path, arguments) = match trees.split_last()? {
        (TokenTree::Group(group), path) if group.delimiter() == Delimiter::Parenthesis => {
            (path, group.stream())
        }
        _ => (trees.as_slice(), TokenStream::new()),
    };
    let (name, qualifiers) = path.split_last()?;
    let is_path = qualifiers
        .iter()
        .all(|tree| matches!(tree, TokenTree::Ident(_)) || is_punct(Some(tree), ':'));
    (is_path && name.to_string() == "cycles").then_some(arguments)
}

fn is_conditional(attr: &[TokenTree]) -> bool {
    let Some(trees) = content(attr) else {
        return false;
    };
    let is_cfg_attr = trees
        .first()
        .is_some_and(|tree| tree.to_string() == "cfg_attr");
    is_cfg_attr && mentions_cycles(trees.into_iter().collect())
}

/// The tokens in the brackets of `#[…]`.
fn content(attr: &[TokenTree]) -> Option<Vec<TokenTree>> {
    let [_, TokenTree::Group(group)] = attr else {
        return None;
    };
    let mut trees: Vec<TokenTree> = group.stream().into_iter().collect();
    // A macro's `$meta` has invisible delimiters.
    while let [TokenTree::Group(meta)] = &trees[..]
        && meta.delimiter() == Delimiter::None
    {
        trees = meta.stream().into_iter().collect();
    }
    Some(trees)
}

/// Whether the attribute's name stands anywhere in `tokens`.
pub(crate) fn mentions_cycles(tokens: TokenStream) -> bool {
    mentions(tokens, |ident| ident == "cycles")
}

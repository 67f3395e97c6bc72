//! The `#[cycles(…)]` that a function inside an annotated block has of its own.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Result;

use crate::args::Args;

/// An item's attributes, parted.
pub(crate) struct Own {
    /// The arguments of each `#[cycles]`, without their parentheses.
    arguments: Vec<TokenStream>,
    /// Whether a `#[cfg_attr(…)]` may add the attribute later; the item is then left to it.
    pub(crate) is_conditional: bool,
    /// All other attributes, in order.
    pub(crate) others: Vec<TokenTree>,
}

/// Parts `attrs`, a sequence of `#` and `[…]`.
pub(crate) fn take(attrs: &[TokenTree]) -> Own {
    let mut own = Own {
        arguments: Vec::new(),
        is_conditional: false,
        others: Vec::new(),
    };
    for attr in attrs.chunks(2) {
        match attr {
            [_, TokenTree::Group(group)] if let Some(arguments) = arguments(group) => {
                own.arguments.push(arguments);
            }
            attr => {
                own.is_conditional |= is_conditional(attr);
                own.others.extend_from_slice(attr);
            }
        }
    }
    own
}

impl Own {
    /// What the attributes say together; an argument told twice is refused.
    pub(crate) fn args(&self) -> Result<Args> {
        let mut joined = TokenStream::new();
        for arguments in &self.arguments {
            if !joined.is_empty() {
                joined.extend([TokenTree::Punct(proc_macro2::Punct::new(
                    ',',
                    proc_macro2::Spacing::Alone,
                ))]);
            }
            joined.extend(arguments.clone());
        }
        Args::parse(joined)
    }

    pub(crate) const fn is_present(&self) -> bool {
        !self.arguments.is_empty()
    }
}

/// What stands in the parentheses of `[path::to::cycles(…)]`; `None` for another attribute.
fn arguments(attr: &Group) -> Option<TokenStream> {
    let trees: Vec<_> = attr.stream().into_iter().collect();
    let (path, arguments) = match trees.split_last()? {
        (TokenTree::Group(group), path) if group.delimiter() == Delimiter::Parenthesis => {
            (path, group.stream())
        }
        _ => (trees.as_slice(), TokenStream::new()),
    };
    let (name, qualifiers) = path.split_last()?;
    let is_path = qualifiers.iter().all(|tree| {
        matches!(tree, TokenTree::Ident(_))
            || matches!(tree, TokenTree::Punct(colon) if colon.as_char() == ':')
    });
    (is_path && name.to_string() == "cycles").then_some(arguments)
}

fn is_conditional(attr: &[TokenTree]) -> bool {
    let [_, TokenTree::Group(group)] = attr else {
        return false;
    };
    let mut trees = group.stream().into_iter();
    let is_cfg_attr = trees
        .next()
        .is_some_and(|tree| tree.to_string() == "cfg_attr");
    is_cfg_attr && mentions_cycles(trees.collect())
}

/// Whether the attribute's name stands anywhere in `tokens`.
pub(crate) fn mentions_cycles(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == "cycles",
        TokenTree::Group(group) => mentions_cycles(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

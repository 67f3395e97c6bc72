//! Finds the end of an item from its tokens alone.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};

use crate::precedence;
use crate::tokens::is_punct;

/// The number of tokens of the item at the front of `trees`; `None` if a statement that is no item may begin there.
fn leading_item_len(trees: &[TokenTree]) -> Option<usize> {
    let start = attrs_len(trees);
    let rest = &trees[start..];
    begins_item(rest).then(|| start + item_len(rest))
}

/// The number of tokens of the items at the front of `trees`.
pub(crate) fn leading_items_len(trees: &[TokenTree]) -> usize {
    let mut len = 0;
    while let Some(item) = leading_item_len(&trees[len..]) {
        len += item;
    }
    len
}

/// The number of tokens of the outer attributes and doc comments at the front of `trees`.
pub(crate) fn attrs_len(trees: &[TokenTree]) -> usize {
    let mut len = 0;
    while let [hash, TokenTree::Group(group), ..] = &trees[len..] {
        if !is_punct(Some(hash), '#') || group.delimiter() != Delimiter::Bracket {
            break;
        }
        len += 2;
    }
    len
}

/// The keyword that says what kind of item `trees` are: `fn`, `impl`, `struct`, …; the first token that is no attribute, visibility
/// or qualifier.
pub(crate) fn keyword(trees: &[TokenTree]) -> TokenTree {
    let rest = &trees[attrs_len(trees)..];
    let rest = &rest[visibility_len(rest)..];
    let kind = rest.iter().enumerate().find(|(index, tree)| match tree {
        TokenTree::Ident(ident) => !is_qualifier(ident, ident_at(rest, index + 1)),
        // The ABI of `extern "C" fn`, also as a macro's `$abi:literal`.
        TokenTree::Literal(_) => false,
        TokenTree::Group(group) => group.delimiter() != Delimiter::None,
        TokenTree::Punct(_) => true,
    });
    let kind = kind.map(|(_, tree)| tree).or(rest.first());
    kind.cloned()
        .unwrap_or_else(|| TokenTree::Group(Group::new(Delimiter::None, TokenStream::new())))
}

fn is_qualifier(ident: &Ident, next: Option<&Ident>) -> bool {
    match ident.to_string().as_str() {
        "unsafe" | "async" | "extern" => true,
        "const" => next.is_some_and(|next| qualifies_fn(&next.to_string())),
        "default" | "safe" | "auto" => next.is_some(),
        _ => false,
    }
}

/// The number of tokens up to the end of the item, which begins after its attributes.
///
/// Constants, statics, aliases and imports end with a `;`. All others end with it or with a braced group, whichever is first; braces
/// between `<` and `>` are arguments of a type.
pub(crate) fn item_len(trees: &[TokenTree]) -> usize {
    let to_semicolon = ends_with_semicolon(&trees[visibility_len(trees)..]);
    let end = trees
        .iter()
        .zip(depths(trees))
        .position(|(tree, depth)| match tree {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => {
                !to_semicolon && depth == 0 && group.delimiter() == Delimiter::Brace
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        });
    end.map_or(trees.len(), |end| end + 1)
}

/// The number of tokens of `pub`, `pub(crate)` and the like.
pub(crate) fn visibility_len(trees: &[TokenTree]) -> usize {
    match trees {
        [TokenTree::Ident(public), TokenTree::Group(group), ..]
            if public == "pub" && group.delimiter() == Delimiter::Parenthesis =>
        {
            2
        }
        // A macro's `$vis`, in invisible delimiters. It may be empty.
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::None => {
            let first = group.stream().into_iter().next();
            let is_visibility = first.is_none_or(|first| first.to_string() == "pub");
            usize::from(is_visibility)
        }
        [TokenTree::Ident(public), ..] if public == "pub" => 1,
        _ => 0,
    }
}

fn ends_with_semicolon(trees: &[TokenTree]) -> bool {
    let Some(first) = ident_at(trees, 0) else {
        return false;
    };
    match first.to_string().as_str() {
        "use" | "static" | "type" => true,
        "const" => !ident_at(trees, 1).is_some_and(|next| qualifies_fn(&next.to_string())),
        "extern" => ident_at(trees, 1).is_some_and(|next| next == "crate"),
        _ => false,
    }
}

/// The tokens of a macro's `$item`, without the invisible delimiters around them; of anything else, the token itself.
pub(crate) fn unwrapped(tree: TokenTree) -> Vec<TokenTree> {
    if let TokenTree::Group(group) = &tree
        && group.delimiter() == Delimiter::None
    {
        let inside = precedence::trees(group.stream());
        if begins_item(&inside[attrs_len(&inside)..]) {
            return inside;
        }
    }
    vec![tree]
}

fn begins_item(trees: &[TokenTree]) -> bool {
    let trees = &trees[visibility_len(trees)..];
    let Some(first) = ident_at(trees, 0) else {
        return false;
    };
    let next = ident_at(trees, 1).map(ToString::to_string);
    let next = next.as_deref();
    match first.to_string().as_str() {
        "use" | "static" | "type" | "struct" | "enum" | "trait" | "mod" | "impl" | "fn"
        | "extern" => true,
        "const" => next.is_some_and(|next| next != "move" && next != "async"),
        "unsafe" => next.is_some_and(|next| qualifies_fn(next) || is_block(next)),
        "async" => next.is_some_and(qualifies_fn),
        "union" => next.is_some_and(|next| next != "as"),
        "macro_rules" => is_punct(trees.get(1), '!'),
        _ => false,
    }
}

/// Whether an item with this keyword holds functions.
pub(crate) fn is_block(keyword: &str) -> bool {
    matches!(keyword, "impl" | "trait" | "mod")
}

fn qualifies_fn(keyword: &str) -> bool {
    matches!(keyword, "fn" | "unsafe" | "extern" | "async" | "safe")
}

fn ident_at(trees: &[TokenTree], index: usize) -> Option<&Ident> {
    match trees.get(index)? {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

/// The number of tokens of `<…>` at the front of `trees`.
pub(crate) fn generics_len(trees: &[TokenTree]) -> usize {
    if !is_punct(trees.first(), '<') {
        return 0;
    }
    let end = depths(trees).position(|depth| depth == 0);
    end.map_or(trees.len(), |end| end + 1)
}

/// The index of the `for` between an `impl`'s trait and its type, other than that of a `for<'a>`.
pub(crate) fn outer_for(trees: &[TokenTree]) -> Option<usize> {
    let at_for = |index: usize| ident_at(trees, index).is_some_and(|ident| ident == "for");
    let mut depths = depths(trees).enumerate();
    depths.find_map(|(index, depth)| {
        let parts = depth == 0 && at_for(index) && !is_punct(trees.get(index + 1), '<');
        parts.then_some(index)
    })
}

/// After each token, how many `<` are open.
fn depths(trees: &[TokenTree]) -> impl Iterator<Item = usize> {
    trees
        .iter()
        .scan((0_usize, false), |(depth, after_minus), tree| {
            let mut minus = false;
            if let TokenTree::Punct(punct) = tree {
                match punct.as_char() {
                    '<' => *depth += 1,
                    '>' if !*after_minus => *depth = depth.saturating_sub(1),
                    '-' => minus = punct.spacing() == Spacing::Joint,
                    _ => {}
                }
            }
            *after_minus = minus;
            Some(*depth)
        })
}

/// The number of tokens of `#![…]` and `//!` at the front of `trees`.
pub(crate) fn inner_attrs_len(trees: &[TokenTree]) -> usize {
    let mut len = 0;
    while let [hash, bang, TokenTree::Group(_), ..] = &trees[len..] {
        if !is_punct(Some(hash), '#') || !is_punct(Some(bang), '!') {
            break;
        }
        len += 3;
    }
    len
}

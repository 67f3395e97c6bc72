//! Where an item ends, told from its tokens alone.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};

/// The number of tokens of the item at the front of `trees`; `None` where a statement may begin that is no item.
pub(crate) fn leading_item_len(trees: &[TokenTree]) -> Option<usize> {
    let start = attrs_len(trees);
    let rest = &trees[start..];
    begins_item(rest).then(|| start + item_len(rest))
}

/// The number of tokens of the outer attributes and doc comments at the front of `trees`.
pub(crate) fn attrs_len(trees: &[TokenTree]) -> usize {
    let mut len = 0;
    while let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = &trees[len..] {
        if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
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
        // The ABI of `extern "C" fn`.
        TokenTree::Literal(_) => false,
        TokenTree::Group(_) | TokenTree::Punct(_) => true,
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
    let mut depth = 0_usize;
    let mut after_minus = false;
    for (index, tree) in trees.iter().enumerate() {
        let mut minus = false;
        match tree {
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => return index + 1,
                '<' => depth += 1,
                '>' if !after_minus => depth = depth.saturating_sub(1),
                '-' => minus = punct.spacing() == Spacing::Joint,
                _ => {}
            },
            TokenTree::Group(group) if !to_semicolon && depth == 0 && is_braced(group) => {
                return index + 1;
            }
            _ => {}
        }
        after_minus = minus;
    }
    trees.len()
}

fn is_braced(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
}

/// The number of tokens of `pub`, `pub(crate)` and the like.
pub(crate) fn visibility_len(trees: &[TokenTree]) -> usize {
    match trees {
        [TokenTree::Ident(public), TokenTree::Group(group), ..]
            if public == "pub" && group.delimiter() == Delimiter::Parenthesis =>
        {
            2
        }
        // What `$vis` brings.
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::None => 1,
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
        "unsafe" => next.is_some_and(|next| qualifies_fn(next) || is_block_item(next)),
        "async" => next.is_some_and(qualifies_fn),
        "union" => next.is_some(),
        "macro_rules" => {
            matches!(trees.get(1), Some(TokenTree::Punct(bang)) if bang.as_char() == '!')
        }
        _ => false,
    }
}

fn is_block_item(keyword: &str) -> bool {
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

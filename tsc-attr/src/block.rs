//! `#[cycles]` on an `impl`, a `trait` or an inline `mod`: measures each function inside.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::Parser as _;
use syn::{Attribute, Error, Result};

use crate::args::Args;
use crate::asynchronous;
use crate::expand;
use crate::function::{self, Function};
use crate::items;
use crate::nested_attr::{self, NestedAttr};
use crate::precedence;
use crate::refuse;
use crate::row_name;
use crate::tokens::delimited;

/// Both forms of a block: the measured one, and the one as written except for the attributes of this macro.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) measured: TokenStream,
    pub(crate) bare: TokenStream,
    /// All errors inside.
    pub(crate) error: Option<Error>,
}

impl Block {
    /// Both forms of one function.
    pub(crate) fn of(args: &Args, function: &Function) -> Result<Self> {
        Ok(Self {
            measured: expand::function(args, function)?,
            bare: expand::bare(args, function),
            error: None,
        })
    }
}

// Input:  impl T { fn f() { … }  #[cycles(skip)] fn g() { … }  const fn h() { … } }
// Output: impl T { fn f() { probe; … }  fn g() { … }  const fn h() { … } }
pub(crate) fn expand(args: &Args, item: TokenStream) -> Result<Block> {
    let mut trees = precedence::trees(item);
    let keyword = items::keyword(&trees);
    let Some(body) = trees.pop().and_then(function::braces) else {
        return Err(refuse::not_a_function(&keyword));
    };
    let units = args.units.as_ref().map(|(key, _)| key);
    if let Some(key) = units.or(args.record.as_ref().map(|(key, _)| key)) {
        return Err(refuse::expression_of_block(key));
    }
    let args = Args {
        keeps_async: args.keeps_async || !all_inert(&trees),
        ..Args::default().over(args)
    };
    let mut walk = Walk::default();
    walk.items(&args, body.stream());
    let around = |content| {
        let head: TokenStream = trees.iter().cloned().collect();
        with_body(head, &body, content)
    };
    Ok(Block {
        measured: around(walk.0.measured),
        bare: around(walk.0.bare),
        error: walk.0.error,
    })
}

/// Whether no other attribute on the block can be a macro.
fn all_inert(head: &[TokenTree]) -> bool {
    let attrs: TokenStream = head[..items::attrs_len(head)].iter().cloned().collect();
    let attrs = Attribute::parse_outer.parse2(attrs);
    attrs.is_ok_and(|attrs| attrs.iter().all(asynchronous::is_inert))
}

fn with_body(mut head: TokenStream, body: &Group, content: TokenStream) -> TokenStream {
    head.extend([delimited(body.delimiter(), content, body.span())]);
    head
}

/// The items that were handled so far.
#[derive(Default)]
struct Walk(Block);

impl Walk {
    fn items(&mut self, args: &Args, content: TokenStream) {
        let trees = precedence::trees(content).into_iter();
        let mut trees: Vec<TokenTree> = trees.flat_map(items::unwrapped).collect();
        let inner_attrs = items::inner_attrs_len(&trees);
        self.keep(trees.drain(..inner_attrs).collect());
        let mut rest = trees.as_slice();
        while !rest.is_empty() {
            let attrs = items::attrs_len(rest);
            let len = attrs + items::item_len(&rest[attrs..]);
            self.item(args, &rest[..attrs], &rest[attrs..len]);
            rest = &rest[len..];
        }
    }

    /// One item: `attrs` are its attributes, `trees` the rest of it.
    fn item(&mut self, block: &Args, attrs: &[TokenTree], trees: &[TokenTree]) {
        let nested = NestedAttr::split(attrs);
        let mut bare: TokenStream = nested.others.iter().chain(trees).cloned().collect();
        if imports_cycles(trees) {
            // The attributes that the block takes away may have been the only ones that used it.
            bare = quote_spanned!(Span::mixed_site()=> #[allow(unused_imports)] #bare);
        }
        match measure(block, &nested, &bare, trees) {
            Ok(Some(Block {
                measured,
                bare,
                error,
            })) => {
                self.0.measured.extend(measured);
                self.0.bare.extend(bare);
                error.into_iter().for_each(|error| self.blame(error));
            }
            Ok(None) => self.keep(bare),
            Err(error) => {
                self.keep(bare);
                self.blame(error);
            }
        }
    }

    fn keep(&mut self, tokens: TokenStream) {
        self.0.measured.extend(tokens.clone());
        self.0.bare.extend(tokens);
    }

    fn blame(&mut self, error: Error) {
        refuse::also(&mut self.0.error, error);
    }
}

fn imports_cycles(trees: &[TokenTree]) -> bool {
    matches!(items::keyword(trees), TokenTree::Ident(word) if word == "use")
        && nested_attr::mentions_cycles(trees.iter().cloned().collect())
}

/// `None` if the item is to stay as it is.
fn measure(
    block: &Args,
    nested: &NestedAttr,
    bare: &TokenStream,
    trees: &[TokenTree],
) -> Result<Option<Block>> {
    let mut args = nested.args()?;
    let is_explicit = nested.is_present();
    if nested.is_conditional || args.skip.is_some() {
        return Ok(None);
    }
    let keyword = items::keyword(trees).to_string();
    if items::is_block(&keyword) && ends_in_body(trees) {
        let name = args.name.take();
        args.name = name.or_else(|| row_name::of_block(block.name.as_ref(), trees));
        return expand(&args.over(block), bare.clone()).map(Some);
    }
    let can_be_measured = keyword == "fn" && ends_in_body(trees);
    if !is_explicit && !can_be_measured {
        return Ok(None);
    }
    // A function that cannot be measured is skipped, unless it has an attribute of its own.
    let pass_over = |error| if is_explicit { Err(error) } else { Ok(None) };
    let function = match Function::parse(bare.clone()) {
        Ok(function) => function,
        Err(error) => return pass_over(error),
    };
    let name = args.name.take();
    args.name = name.or_else(|| row_name::of_function(block.name.as_ref(), &function.sig));
    let args = args.over(block);
    if function.is_measured() {
        return refuse::already_measured(args.first_argument()).map(|()| None);
    }
    Block::of(&args, &function).map(Some).or_else(pass_over)
}

pub(crate) fn ends_in_body(trees: &[TokenTree]) -> bool {
    trees.last().cloned().and_then(function::braces).is_some()
}

//! Where an annotated item measures: decided by this crate's features and by the profile of the crate that holds the item.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::Result;

use crate::args::Args;
use crate::block::{self, Block};
use crate::expand;
use crate::function::Function;
use crate::items;
use crate::own;

/// Whether no build measures.
const OFF: bool = cfg!(not(any(
    feature = "debug-builds",
    feature = "release-builds"
)));

/// The item as this build wants it.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if OFF && !own::mentions_cycles(item.clone()) {
        return Ok(item);
    }
    let trees: Vec<TokenTree> = item.clone().into_iter().collect();
    if block::is_block(&items::keyword(&trees)) {
        return Ok(choose(block::expand(&Args::parse(args)?, item)?));
    }
    if OFF {
        return Ok(item);
    }
    let args = Args::parse(args)?;
    if args.skip.is_some() {
        return Ok(item);
    }
    let measured = expand::function(&args, &Function::parse(item.clone())?)?;
    Ok(choose(Block {
        measured,
        bare: item,
        error: None,
    }))
}

// Input:  fn f() { … }            with `debug-builds` alone
// Output: #[cfg(debug_assertions)]      fn f() { probe; … }
//         #[cfg(not(debug_assertions))] fn f() { … }
fn choose(
    Block {
        measured,
        bare,
        error,
    }: Block,
) -> TokenStream {
    if OFF {
        return bare;
    }
    let errors = error.map(syn::Error::into_compile_error);
    if cfg!(feature = "release-builds") {
        return quote!(#errors #measured);
    }
    quote! {
        #errors
        #[cfg(debug_assertions)]
        #measured
        #[cfg(not(debug_assertions))]
        #bare
    }
}

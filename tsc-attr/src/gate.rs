//! Whether an annotated item measures in this build. The features of this crate and the profile of the crate with the item decide.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::Result;

use crate::args::Args;
use crate::block::{self, Block};
use crate::function::{self, Function};
use crate::items;
use crate::nested_attr;
use crate::refuse;

/// Whether no build measures: neither feature is on.
const OFF: bool = cfg!(not(any(
    feature = "debug-builds",
    feature = "release-builds"
)));

/// The item in the form for this build.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let trees: Vec<TokenTree> = item.clone().into_iter().collect();
    let is_block = items::is_block(&items::keyword(&trees).to_string());
    let holds_attrs = is_block && nested_attr::mentions_cycles(item.clone());
    if OFF && args.is_empty() && !holds_attrs {
        // What a build that measures refuses is refused where it was written, and not only in the program that measures.
        if !is_block || !block::ends_in_body(&trees) {
            let function = Function::parse(item.clone())?;
            refuse::function(&function.attrs, &function.sig)?;
        }
        return Ok(item);
    }
    let args = Args::parse(args)?;
    if let Some(skip) = &args.skip {
        return match function::holds_probes(&item) {
            false => Ok(item),
            true => Err(refuse::comes_too_late(&skip.to_token_stream())),
        };
    }
    if is_block {
        return Ok(choose(&args, block::expand(&args, item)?));
    }
    let function = Function::parse(item.clone())?;
    if function.is_measured() {
        return refuse::already_measured(args.first_argument()).map(|()| item);
    }
    Ok(choose(&args, Block::of(&args, &function)?))
}

// Input:  fn f() { … }            with `debug-builds` alone
// Output: #[cfg(all(debug_assertions, not(doc)))]      require_runtime! {}
//         #[cfg(all(debug_assertions, not(doc)))]      fn f() { probe; … }
//         #[cfg(not(all(debug_assertions, not(doc))))] fn f() { … }
//
// The first line is an error if the runtime was built without debug assertions, and so does not measure. Otherwise it is nothing. rustdoc
// shows the function as written: the measured form of an `async fn` has another signature.
fn choose(
    args: &Args,
    Block {
        measured,
        bare,
        error,
    }: Block,
) -> TokenStream {
    let errors = error.map(syn::Error::into_compile_error);
    if OFF {
        return quote!(#errors #bare);
    }
    if cfg!(feature = "release-builds") {
        return quote!(#errors #measured);
    }
    let private = args.private(Span::call_site());
    quote! {
        #errors
        #[cfg(all(debug_assertions, not(doc)))]
        #private::require_runtime! {}
        #[cfg(all(debug_assertions, not(doc)))]
        #measured
        #[cfg(not(all(debug_assertions, not(doc))))]
        #bare
    }
}

//! Where an annotated item measures: decided by this crate's features and by the profile of the crate that holds the item.

use proc_macro2::TokenStream;
use quote::quote;

/// Whether no build measures.
pub(crate) const fn is_off() -> bool {
    cfg!(not(any(
        feature = "debug-builds",
        feature = "release-builds"
    )))
}

// Input:  fn f() { … }            with `debug-builds` alone
// Output: #[cfg(debug_assertions)]      fn f() { probe; … }
//         #[cfg(not(debug_assertions))] fn f() { … }
pub(crate) fn choose(measured: TokenStream, bare: TokenStream) -> TokenStream {
    if cfg!(feature = "release-builds") {
        return measured;
    }
    quote! {
        #[cfg(debug_assertions)]
        #measured
        #[cfg(not(debug_assertions))]
        #bare
    }
}

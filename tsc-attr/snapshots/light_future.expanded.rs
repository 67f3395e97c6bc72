#[allow(clippy::async_yields_async)]
fn fetch(url: String) -> impl ::core::future::Future<Output = usize> {
    let __callsite = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Light>(
                ::tsc_runtime::__private::meta(&|| {}, ::core::module_path!(), 0),
            );
        || &__CALLSITE
    };
    ::tsc_runtime::__private::light_polled(__callsite, async move {
        let url = url;
        #[allow(clippy::all, clippy::pedantic)]
        if false {
            return ::tsc_runtime::__private::result_of(|| -> usize {
                loop {}
            });
        }
        match () {
            () => {
                get(&url).await
            }
        }
    })
}

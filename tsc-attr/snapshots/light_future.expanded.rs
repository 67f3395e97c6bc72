#[allow(clippy::async_yields_async)]
fn fetch(url: String) -> impl ::tsc_runtime::__private::Future<Output = usize> {
    let __callsite = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Light>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0),
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

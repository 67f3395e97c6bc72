#[allow(clippy::async_yields_async)]
fn handle(id: u64) -> impl ::tsc_runtime::__private::Future<Output = Response> {
    let __callsite = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0),
            );
        || &__CALLSITE
    };
    ::tsc_runtime::__private::polled::<::tsc_runtime::__private::Lfence, _, _>(
        __callsite,
        async move {
            let id = id;
            let __value = ::tsc_runtime::__private::PolledValue::new(__callsite(), move || ::tsc_runtime::__private::recorded(id));
            #[allow(clippy::all, clippy::pedantic)]
            if false {
                return ::tsc_runtime::__private::result_of(|| -> Response {
                    loop {}
                });
            }
            match () {
                () => {
                    answer(id).await
                }
            }
        },
    )
}

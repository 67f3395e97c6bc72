#[allow(clippy::async_yields_async)]
#[tokio::main]
async fn main() {
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
            #[allow(clippy::all, clippy::pedantic)]
            if false {
                return ::tsc_runtime::__private::result_of(|| -> () {
                    loop {}
                });
            }
            match () {
                () => {
                    serve().await;
                }
            }
        },
    )
    .await
}

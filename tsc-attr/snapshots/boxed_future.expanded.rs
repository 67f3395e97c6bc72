fn fetch<'a>(&'a self) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>> {
    let this = self;
    Box::pin({
        let __callsite = {
            static __CALLSITE: ::tsc_runtime::__private::Callsite =
                ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                    ::tsc_runtime::__private::meta(
                        &|| {},
                        ::tsc_runtime::__private::module_path!(),
                        0,
                    ),
                );
            || &__CALLSITE
        };
        ::tsc_runtime::__private::polled::<::tsc_runtime::__private::Lfence, _, _>(
            __callsite,
            async move { this.get().await },
        )
    })
}

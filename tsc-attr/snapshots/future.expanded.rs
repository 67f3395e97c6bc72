#[allow(clippy::async_yields_async)]
pub fn fetch(
    &self,
    url: String,
    __arg2: (u32, u32),
) -> impl ::tsc_runtime::__private::Future<Output = Result<Vec<u8>, Error>> {
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
            let _ = &self;
            let mut url = url;
            let __arg2 = __arg2;
            let (retries, _) = __arg2;
            #[allow(clippy::all, clippy::pedantic)]
            if false {
                return ::tsc_runtime::__private::result_of(|| -> Result<Vec<u8>, Error> {
                    loop {}
                });
            }
            match () {
                () => {
                    url.push('/');
                    self.get(&url, retries).await?;
                    Ok(Vec::new())
                }
            }
        },
    )
}

#[inline(never)]
fn handle(request: &Request) -> Response {
    let mut __slot = ::tsc_runtime::__private::Slot::new();
    let __probe = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0),
            );
        ::tsc_runtime::__private::RecordingProbe::<::tsc_runtime::__private::Lfence, _>::start(
            &__CALLSITE,
            &mut __slot,
            || ::tsc_runtime::__private::recorded(request.path()),
        )
    };
    ::tsc_runtime::__private::result('__tail: {
        if false {
            break '__tail ::tsc_runtime::__private::absurd();
        }
        request.answer()
    })
}

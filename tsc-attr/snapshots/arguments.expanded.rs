#[inline(never)]
fn parse(text: &str) -> Option<u32> {
    let __callsite = {
        static __CALLSITE: crate::profiler::__private::Callsite =
            crate::profiler::__private::Callsite::new::<crate::profiler::__private::Unfenced>(
                crate::profiler::__private::meta(
                    &|| {},
                    crate::profiler::__private::module_path!(),
                    0,
                )
                .named("parse")
                .bytes(),
            );
        &__CALLSITE
    };
    let __units = crate::profiler::__private::Units::new(__callsite, text.len());
    let mut __slot = crate::profiler::__private::Slot::new();
    let __probe = crate::profiler::__private::Probe::<crate::profiler::__private::Unfenced>::start(
        __callsite,
        &mut __slot,
    );
    crate::profiler::__private::result('__tail: {
        if false {
            break '__tail crate::profiler::__private::absurd();
        }
        text.parse().ok()
    })
}

fn parse(text: &str) -> Option<u32> {
    let __callsite = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Light>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0)
                    .bytes(),
            );
        &__CALLSITE
    };
    let __frame = ::tsc_runtime::__private::Frame::new();
    let __probe = ::tsc_runtime::__private::LightProbe::start(__callsite, &__frame);
    ::tsc_runtime::__private::add_light_units(__callsite, text.len());
    let trimmed = text.trim();
    trimmed.parse().ok()
}

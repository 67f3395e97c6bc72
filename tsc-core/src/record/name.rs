//! The names of callsites, as the report shows them.

use crate::record::callsite::Callsite;

/// The given name, or the function's path in its module: `parse`, `Index::insert`, `<Index as Extend<Word>>::extend`. That of a part of
/// the function is `parse::{closure#0}`.
pub(crate) fn of(callsite: &Callsite) -> String {
    let meta = callsite.meta();
    let name = match meta.name {
        Some(name) => name.to_owned(),
        None => within((meta.path)(), meta.module),
    };
    match meta.part {
        Some(part) => format!("{name}::{part}"),
        None => name,
    }
}

/// The function's path in its module, from the path of what the expansion defines inside the function.
pub(crate) fn within(path: &str, module: &str) -> String {
    let inside = path.trim_end_matches("::{{closure}}");
    let of_static = |name| inside.strip_suffix(name);
    let function = of_static("::__CALLSITE").or_else(|| of_static("::__CALLSITES"));
    // The names of types have no `r#`.
    let module = module.replace("r#", "");
    without(function.unwrap_or(inside), &format!("{module}::")).replace("::{{closure}}", "")
}

/// `path` without this module, but with others whose names end with the module's, and with what is named like the module and follows it.
fn without(path: &str, module: &str) -> String {
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut is_inside = false;
    let parts = path.split_inclusive(module);
    let kept = parts.map(|part| {
        let before = part.strip_suffix(module);
        let is_next = is_inside && before.is_some_and(str::is_empty);
        let outside = before.filter(|before| !is_next && !before.ends_with(is_in_name));
        is_inside = outside.is_some();
        outside.unwrap_or(part)
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_and_helper_are_left_out() {
        let name = |path| within(path, "app::index");
        assert_eq!(name("app::index::parse::__CALLSITE::{{closure}}"), "parse");
        assert_eq!(name("app::index::__parse::__CALLSITE"), "__parse");
        assert_eq!(
            name("app::index::Index<T>::insert::__CALLSITE::{{closure}}"),
            "Index<T>::insert"
        );
        assert_eq!(
            name("<app::index::Index as app::index::Grow>::grow::__CALLSITE::{{closure}}"),
            "<Index as Grow>::grow"
        );
        assert_eq!(
            name("app::index::parse::{{closure}}::__CALLSITE::{{closure}}"),
            "parse"
        );
        assert_eq!(
            name("<my_app::index::Index as app::index::Grow>::grow::__CALLSITE"),
            "<my_app::index::Index as Grow>::grow"
        );
        assert_eq!(
            within("<re::Word as core::Show>::show::__CALLSITE", "re"),
            "<Word as core::Show>::show"
        );
        assert_eq!(within("app::type::f::__CALLSITE", "app::r#type"), "f");
        assert_eq!(within("app::app::{{closure}}::__CALLSITE", "app"), "app");
        assert_eq!(
            within("<app::App as app::app::Run>::app::__CALLSITE", "app"),
            "<App as app::Run>::app"
        );
    }

    #[test]
    fn underscores_of_others_stay() {
        let name = |path| within(path, "app");
        assert_eq!(name("app::__conv<u8>::{{closure}}"), "__conv<u8>");
        assert_eq!(
            name("app::conv<de::__private::Map>::{{closure}}::{{closure}}"),
            "conv<de::__private::Map>"
        );
        assert_eq!(name("app::conv<u8>::__CALLSITES::{{closure}}"), "conv<u8>");
    }
}

//! The crate of a function, by its linker name.

/// The crate in which the function is written: that of the `impl` for a method, and that of the trait for a method that only the trait has.
/// `None` if it is not a name of the `v0` scheme: the older one has no crate for an `impl`.
#[must_use]
pub fn of_symbol(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_R")?;
    loop {
        let tag = rest.chars().next()?;
        rest = &rest[tag.len_utf8()..];
        match tag {
            // A path in another one; a letter says what the other one contains.
            'N' => rest = rest.get(1..)?,
            // A path with generic arguments.
            'I' => {}
            // An `impl`: its own path comes before the type.
            'M' | 'X' => rest = without_disambiguator(rest),
            'C' => return identifier(without_disambiguator(rest)),
            // A method of a trait for a type. What follows is the type, so the readable name is used.
            'Y' => return of_trait(symbol),
            _ => return None,
        }
    }
}

/// `s` and a number in base 62 that ends with an underscore, which distinguish what has the same name.
fn without_disambiguator(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('s') else {
        return text;
    };
    rest.split_once('_').map_or(text, |(_, rest)| rest)
}

fn identifier(text: &str) -> Option<String> {
    let digits = text.find(|char: char| !char.is_ascii_digit())?;
    let (length, rest) = text.split_at(digits);
    let name = rest.strip_prefix('_').unwrap_or(rest);
    name.get(..length.parse().ok()?).map(str::to_owned)
}

fn of_trait(symbol: &str) -> Option<String> {
    let name = format!("{:#}", rustc_demangle::demangle(symbol));
    let mut depth = 0_u32;
    for (at, char) in name.char_indices() {
        match char {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 1 => {
                let path = name[at..].strip_prefix(" as ")?;
                return path.split("::").next().map(str::to_owned);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of_symbol;

    #[test]
    fn a_function_belongs_to_the_crate_that_it_is_written_in() {
        for (symbol, krate) in [
            (
                "_RNvNtCs4X4t9plMPHF_9addr2line4line9path_push",
                Some("addr2line"),
            ),
            (
                "_RNvMCs2wvwJDwge2F_6adler2NtB2_7Adler3211write_slice",
                Some("adler2"),
            ),
            (
                "_RNvXs0_NtCsgY6Mt91CT9J_14rustc_demangle2v0NtB5_5IdentNtNtCsgEmfK2I1SDS_4core3fmt7Display3fmt",
                Some("rustc_demangle"),
            ),
            (
                "_RINvMNtCsgEmfK2I1SDS_4core3stre18trim_start_matchesReECsgY6Mt91CT9J_14rustc_demangle",
                Some("core"),
            ),
            (
                "_RNCNvMs4_NtCsgY6Mt91CT9J_14rustc_demangle2v0NtB7_7Printer10print_type0B9_",
                Some("rustc_demangle"),
            ),
            (
                "_RNvYINtNtCslNYArtu3iFV_5alloc3vec3VechENtNtCsjrHSEGnQ3l9_3std2io5Write9write_fmtBF_",
                Some("std"),
            ),
            ("memcpy", None),
            ("_R", None),
        ] {
            assert_eq!(of_symbol(symbol).as_deref(), krate, "{symbol}");
        }
    }
}

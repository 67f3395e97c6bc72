//! Source text: the arguments up to the first newline, then the item.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    // The tokenizer recurses with the nesting, before `check` can see it.
    if text.matches(['(', '[', '{']).count() > 200 {
        return;
    }
    let (args, item) = text.split_once('\n').unwrap_or(("", text));
    if let (Ok(args), Ok(item)) = (args.parse(), item.parse()) {
        tsc_fuzz::check(args, item);
    }
});

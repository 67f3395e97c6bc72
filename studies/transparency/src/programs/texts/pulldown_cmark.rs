//! pulldown-cmark: a Markdown document is parsed and rendered.

fn input() -> String {
    let mut text = String::new();
    for chapter in 0..6000 {
        text += &format!(
            "# Chapter {chapter}\n\nSome *emphasis*, some `code` and a [link](https://example.org/{chapter} \"title\").\n\
             A second line with **strong _nested_ text** & an entity &amp; a<br>tag.\n\n\
             - first item\n- second item with ![image](a.png)\n  - nested, ~~deleted~~\n\n\
             1. one\n2. two\n\n> a quotation\n> of two lines\n\n```rust\nfn main() {{ println!(\"{chapter}\"); }}\n```\n\n\
             | a | b |\n|---|--:|\n| {chapter} | *x* |\n\n[ref]: https://example.org\n\nSee [ref] and <https://example.org>.\n\n---\n\n"
        );
    }
    text
}

#[inline(never)]
fn root(text: &String) -> u64 {
    let mut html = String::new();
    let parser = pulldown_cmark::Parser::new_ext(text, pulldown_cmark::Options::all());
    pulldown_cmark::html::push_html(&mut html, parser);
    html.len() as u64
}

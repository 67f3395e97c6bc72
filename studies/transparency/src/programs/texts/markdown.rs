//! markdown: a document is parsed and rendered.

fn input() -> String {
    let mut text = String::new();
    let mut state = 7_u64;
    for chapter in 0..250 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = state >> 33;
        text += &format!(
            "## Chapter {chapter}\n\nSome *emphasis {}*, some `code {}` and [a link](https://example.org/{random}).\n\n\
             * first item\n* item **two**\n\n> quotation {}\n\n",
            random % 1000,
            random % 77,
            random % 10
        );
    }
    text
}

#[inline(never)]
fn root(text: &String) -> u64 {
    markdown::to_html(text).len() as u64
}

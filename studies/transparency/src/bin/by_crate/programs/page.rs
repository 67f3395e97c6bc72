//! Makes pages of Markdown texts, and texts of these pages.
// html-escape = "*"
// minijinja = "*"
// pulldown-cmark = { version = "*", default-features = false, features = ["html"] }
// textwrap = "*"

fn main() {
    let mut environment = minijinja::Environment::new();
    let template = "<h1>{{ title|upper }}</h1>{% for line in lines %}{% if line|length > 3 %}<p>{{ loop.index }}: {{ line }}</p>{% endif %}{% endfor %}";
    environment.add_template("page", template).unwrap();
    let template = environment.get_template("page").unwrap();
    let mut sum = 0;
    for chapter in 0..20_000 {
        let text = text(chapter);
        let mut html = String::new();
        let parser = pulldown_cmark::Parser::new_ext(&text, pulldown_cmark::Options::all());
        pulldown_cmark::html::push_html(&mut html, parser);
        let escaped = html_escape::encode_text(&html);
        let lines = textwrap::wrap(&escaped, 60);
        let context = minijinja::context! { title => format!("Chapter {chapter}"), lines => lines.iter().map(ToString::to_string).collect::<minijinja::Value>() };
        let page = template.render(context).unwrap();
        sum += html_escape::decode_html_entities(&page).len();
    }
    println!("{sum}");
}

fn text(chapter: usize) -> String {
    format!(
        "# Chapter {chapter}\n\nSome *emphasis*, some `code` and a [link](https://example.org/{chapter} \"title\").\n\
         A second line with **strong _nested_ text** & an entity &amp; a<br>tag.\n\n- first item\n- second ![image](a.png)\n  - nested\n\n\
         > a quotation\n> of two lines\n\n```rust\nfn main() {{ println!(\"{chapter}\"); }}\n```\n\n| a | b |\n|---|--:|\n| {chapter} | *x* |\n\n"
    )
}

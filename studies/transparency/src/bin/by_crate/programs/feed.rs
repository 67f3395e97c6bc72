//! Reads documents, and writes others.
// heck = "*"
// quick-xml = "*"
// roxmltree = "*"
// strsim = "*"
// xmlwriter = "*"
// indexmap = "*"

use heck::ToSnakeCase as _;

fn main() {
    let text = document(3000);
    let mut sum = 0.0;
    for _ in 0..250 {
        let tree = roxmltree::Document::parse(&text).unwrap();
        let mut counts = indexmap::IndexMap::<String, usize>::new();
        let mut writer = xmlwriter::XmlWriter::new(xmlwriter::Options::default());
        writer.start_element("all");
        let mut last = "";
        for node in tree.descendants().filter(roxmltree::Node::is_element) {
            writer.start_element(node.tag_name().name());
            for attribute in node.attributes() {
                writer.write_attribute(attribute.name(), attribute.value());
                *counts.entry(attribute.value().to_snake_case()).or_default() += 1;
            }
            let name = node.attribute("name").unwrap_or_default();
            sum += strsim::jaro_winkler(last, name) + strsim::levenshtein(last, name) as f64;
            last = name;
            writer.end_element();
        }
        let written = writer.end_document();
        sum += events(&written) as f64 + counts.len() as f64;
    }
    println!("{sum:.3}");
}

fn events(text: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut count = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => return count,
            quick_xml::events::Event::Start(start) | quick_xml::events::Event::Empty(start) => {
                count += start.attributes().map(|one| one.unwrap().value.len()).sum::<usize>();
            }
            _ => count += 1,
        }
    }
}

fn document(items: usize) -> String {
    let mut text = "<?xml version=\"1.0\"?><feed xmlns:a=\"urn:a\">".to_owned();
    for item in 0..items {
        let kind = ["readWords", "CountAll", "write_it"][item % 3];
        text += &format!("<item id=\"{item}\" name=\"{kind}{}\"><a:title lang=\"en\">One &amp; {item}</a:title><!-- {item} --><p>some <b>text</b></p></item>", item * 7919 % 1013);
    }
    text + "</feed>"
}

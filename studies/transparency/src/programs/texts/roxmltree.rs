//! roxmltree: an XML document is parsed and its tree is walked.

fn input() -> String {
    let mut text = "<?xml version='1.0'?>\n<catalog xmlns:x='urn:x'>\n".to_owned();
    for number in 0..12000 {
        text += &format!(
            "  <book id='b{number}' x:kind=\"a &amp; b\">\n    <title>Title &lt;{number}&gt;</title>\n    <!-- a comment -->\n\
             \x20   <price currency='EUR'>{number}.50</price>\n    <![CDATA[raw <data>]]>\n  </book>\n"
        );
    }
    text + "</catalog>\n"
}

#[inline(never)]
fn root(text: &String) -> u64 {
    let document = roxmltree::Document::parse(text).unwrap();
    document
        .descendants()
        .map(|node| {
            let values = node.attributes().map(|attribute| attribute.value().len());
            node.tag_name().name().len() + values.sum::<usize>() + node.text().map_or(0, str::len)
        })
        .sum::<usize>() as u64
}

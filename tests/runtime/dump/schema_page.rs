//! A JSON Schema as tables of its keys.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

const DEFINITION: &str = "#/$defs/";

/// The tables: first that of the whole, then one for each definition, under the place where it occurs first.
pub(crate) fn page(schema: &Value) -> String {
    let mut page = String::from("## The report\n\n");
    write_table(&mut page, schema);
    let definitions = &schema["$defs"];
    let mut places = BTreeMap::new();
    let mut order = Vec::new();
    find_places(schema, definitions, "", &mut places, &mut order);
    for name in order {
        write!(page, "\n## `{}`\n\n", places[&name]).expect("a String takes all");
        write_table(&mut page, &definitions[&name]);
    }
    // The descriptions are those of the fields in Rust.
    page.replace("`None`", "`null`")
}

fn write_table(page: &mut String, object: &Value) {
    page.push_str("| key | type | meaning |\n|---|---|---|\n");
    for (key, of) in object["properties"].as_object().expect("keys") {
        let meaning = of["description"].as_str().expect("a description");
        writeln!(page, "| `{key}` | {} | {meaning} |", type_of(of)).expect("a String takes all");
    }
}

/// Where each definition occurs first, in the order in which a reader meets them.
fn find_places(
    object: &Value,
    definitions: &Value,
    path: &str,
    places: &mut BTreeMap<String, String>,
    order: &mut Vec<String>,
) {
    for (key, of) in object["properties"].as_object().expect("keys") {
        let array = if of["items"].is_object() { "[]" } else { "" };
        let Some(name) = definition(of) else { continue };
        if places.contains_key(&name) {
            continue;
        }
        let dot = if path.is_empty() { "" } else { "." };
        let place = format!("{path}{dot}{key}{array}");
        places.insert(name.clone(), place.clone());
        order.push(name.clone());
        find_places(&definitions[&name], definitions, &place, places, order);
    }
}

/// The definition that a value or its elements refer to.
fn definition(of: &Value) -> Option<String> {
    let any = of["anyOf"].as_array().into_iter().flatten();
    let reference = any
        .chain([of, &of["items"]])
        .find_map(|of| of["$ref"].as_str());
    Some(reference?.strip_prefix(DEFINITION)?.to_owned())
}

fn type_of(of: &Value) -> String {
    if let Some(any) = of["anyOf"].as_array() {
        let types: Vec<String> = any.iter().map(type_of).collect();
        return types.join(" or ");
    }
    if of["$ref"].is_string() {
        return "object".into();
    }
    if let Some(value) = of.get("const") {
        return value.to_string();
    }
    let names: Vec<&str> = match &of["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => vec![name.as_str().expect("a type")],
    };
    let mut text = names.join(" or ");
    if of["minimum"] == 0 {
        text = text.replace("integer", "integer ≥ 0");
    }
    if of["items"].is_object() {
        let items = type_of(&of["items"]);
        let name = items.trim_end_matches(" ≥ 0");
        text = text.replace("array", &format!("array of {name}s"));
    }
    text
}

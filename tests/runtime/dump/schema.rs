//! The JSON Schema of a report, made of the declarations of its data.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

/// The fields of each struct: name, type and documentation.
type Structs = BTreeMap<String, Vec<(String, String, String)>>;

/// The schema of `Report`, by the structs in `tsc-report/src/data`.
pub(crate) fn of_the_data() -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tsc-report/src/data");
    let mut structs = Structs::new();
    for file in folder.read_dir().expect("the folder is there") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("it is text");
        read(&text, &mut structs);
    }
    let mut definitions = Map::new();
    let report = object("Report", &structs, &mut definitions);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of tsc-runtime, schema 4",
        "description": "docs/dump.md in the repository of tsc-runtime says what holds beyond this.",
    });
    let all = schema.as_object_mut().expect("an object");
    all.extend(report.as_object().expect("an object").clone());
    all.insert("$defs".into(), definitions.into());
    schema
}

/// Reads the declarations of a file: `pub struct Name {`, documented fields, `name: Type by Rule => Getter,`, and the table of figures.
fn read(text: &str, structs: &mut Structs) {
    let (mut name, mut words) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(documentation) = line.strip_prefix("///") {
            words.extend(documentation.split_whitespace());
        } else if let Some(declared) = line.strip_prefix("pub struct ") {
            name = declared.trim_end_matches(" {").to_owned();
            words.clear();
        } else if line == "$declare! {" {
            name = "CallsiteSums".to_owned();
            words.clear();
        } else if let Some((field, of)) = line.split_once(": ")
            && let Some(of) = of.strip_suffix(',')
            && !name.is_empty()
        {
            // In the table, the first word says where the figure is counted.
            let field = field.split(' ').next_back().unwrap_or(field).to_owned();
            let of = of.split(' ').next().unwrap_or(of).to_owned();
            let documentation = without_links(&words.join(" "));
            let fields = structs.entry(name.clone()).or_default();
            fields.push((field, of, documentation));
            words.clear();
        } else if line == "}" {
            name.clear();
        }
    }
}

/// `[text](target)` and `[text]` become `text`.
fn without_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once(')').expect("a link's end").1;
    }
    plain.replace(['[', ']'], "")
}

/// The schema of a struct. Those of the structs in it are added to `definitions`, after it.
fn object(name: &str, structs: &Structs, definitions: &mut Map<String, Value>) -> Value {
    let fields = &structs[name];
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (field, of, documentation) in fields {
        let mut property = match (name, field.as_str()) {
            ("Report", "schema") => json!({ "const": 4 }),
            _ => property(of),
        };
        property["description"] = documentation.as_str().into();
        properties.insert(field.clone(), property);
        if !of.starts_with("Option<") {
            required.push(field.as_str());
        }
    }
    let object = json!({ "type": "object", "properties": properties, "required": required });
    if name != "Report" {
        definitions.insert(name.to_owned(), object.clone());
    }
    for (_, of, _) in fields {
        let of = of.split(['<', '>']).rfind(|part| !part.is_empty());
        let of = of.expect("a type");
        if structs.contains_key(of) && !definitions.contains_key(of) {
            self::object(of, structs, definitions);
        }
    }
    object
}

fn property(of: &str) -> Value {
    if let Some(of) = inside(of, "Option<") {
        return or_null(property(of));
    }
    if let Some(of) = inside(of, "Vec<") {
        return json!({ "type": "array", "items": property(of) });
    }
    let integer = |minimum: Value, maximum: Value| json!({ "type": "integer", "minimum": minimum, "maximum": maximum });
    match of {
        "bool" => json!({ "type": "boolean" }),
        "String" => json!({ "type": "string" }),
        "f64" => json!({ "type": "number" }),
        "u32" => integer(0.into(), u32::MAX.into()),
        "u64" | "usize" => integer(0.into(), u64::MAX.into()),
        "i64" | "WholeTicks" => integer(i64::MIN.into(), i64::MAX.into()),
        "SumOfSquares" => json!({ "type": "string", "pattern": "^[0-9]{1,39}$" }),
        "MetaMap" => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        "RecordedValue" => json!({ "type": ["boolean", "number", "string"] }),
        of => json!({ "$ref": format!("#/$defs/{of}") }),
    }
}

/// What a generic type contains.
fn inside<'a>(of: &'a str, generic: &str) -> Option<&'a str> {
    of.strip_prefix(generic)?.strip_suffix('>')
}

fn or_null(mut property: Value) -> Value {
    match property.get("type").cloned() {
        None => json!({ "anyOf": [property, { "type": "null" }] }),
        Some(of) => {
            let mut types = match of {
                Value::Array(types) => types,
                of => vec![of],
            };
            types.push("null".into());
            property["type"] = types.into();
            property
        }
    }
}

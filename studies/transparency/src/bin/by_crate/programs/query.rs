//! Reads a table, asks a script about each of its rows, and makes a document of the answers.
// csv = "*"
// indexmap = "*"
// rhai = "*"
// serde_json = "*"

fn main() {
    let engine = rhai::Engine::new();
    let script = "let sum = 0; for part in name.split('-') { sum += part.len() * price; } if sum > 100 { sum % 97 } else { sum }";
    let ast = engine.compile(script).unwrap();
    let mut answers = indexmap::IndexMap::<String, i64>::new();
    let mut rows = Vec::new();
    for record in csv::Reader::from_reader(table(60_000).as_bytes()).records() {
        let record = record.unwrap();
        let mut scope = rhai::Scope::new();
        scope.push("name", record[1].to_owned()).push("price", record[2].parse::<i64>().unwrap());
        let answer: i64 = engine.eval_ast_with_scope(&mut scope, &ast).unwrap();
        *answers.entry(record[1].to_owned()).or_default() += answer;
        rows.push(serde_json::json!({ "id": &record[0], "name": &record[1], "answer": answer, "of": [0.5, answer as f64 / 3.0] }));
    }
    let text = serde_json::to_string(&rows).unwrap();
    let mut same = 0;
    for _ in 0..20 {
        let read: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        same += read.iter().zip(&rows).filter(|(one, other)| one == other).count();
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &read {
            let name = row["name"].as_str().unwrap();
            writer.write_record([name, "a \"quoted\" text", row["id"].as_str().unwrap()]).unwrap();
        }
        same += writer.into_inner().unwrap().len();
    }
    println!("{same} {} {}", answers.len(), answers.values().sum::<i64>());
}

fn table(rows: usize) -> String {
    let mut text = "id,name,price\n".to_owned();
    for row in 0..rows {
        text += &format!("{row},\"n{}-x, {}\",{}\n", row * 7919 % 1013, row % 7, row * 31 % 211);
    }
    text
}

//! Medians and Markdown.

/// The middle value, and the quartiles around it.
pub fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

/// The middle value.
pub fn median(values: Vec<f64>) -> f64 {
    quartiles(values)[1]
}

/// Prints the title and the first lines of a table.
pub fn heading(title: &str, columns: &[&str]) {
    println!("\n### {title}\n");
    println!("| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

/// Prints a row of the table.
pub fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

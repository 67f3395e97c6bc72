//! sqlparser: SQL statements are parsed and printed.

fn input() -> String {
    let mut text = String::new();
    for number in 0..400 {
        text += &format!(
            "SELECT o.id, SUM(l.price * (1 - l.discount)) AS revenue_{number}, 'it''s' FROM orders AS o INNER JOIN lines l ON l.id = o.id \
             WHERE o.day >= DATE '1995-01-01' AND l.kind IN ('a', 'b', 'c') AND NOT (o.x BETWEEN {number} AND 20 OR o.note LIKE '%x%') \
             GROUP BY o.id HAVING COUNT(*) > {number} ORDER BY revenue_{number} DESC LIMIT 10;\n\
             INSERT INTO t (a, b) VALUES ({number}, NULL), (1.5, 'text');\n\
             UPDATE t SET a = CASE WHEN b IS NULL THEN 0 ELSE a + 1 END WHERE c = TRUE;\n"
        );
    }
    text
}

#[inline(never)]
fn root(text: &String) -> u64 {
    let dialect = sqlparser::dialect::GenericDialect {};
    let statements = sqlparser::parser::Parser::parse_sql(&dialect, text).unwrap();
    statements.iter().map(|statement| statement.to_string().len() as u64).sum()
}

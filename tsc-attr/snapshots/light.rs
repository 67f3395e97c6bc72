#[cycles(light, bytes = text.len())]
fn parse(text: &str) -> Option<u32> {
    let trimmed = text.trim();
    trimmed.parse().ok()
}

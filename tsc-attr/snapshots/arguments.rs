#[cycles(name = "parse", fence = "none", bytes = text.len(), crate = crate::profiler)]
fn parse(text: &str) -> Option<u32> {
    text.parse().ok()
}

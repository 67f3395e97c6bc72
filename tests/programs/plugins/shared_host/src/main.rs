//! Opens a plugin that shares this program's runtime: `shared_host LIBRARY WAY…`.

#[path = "../../../attacks/plugins.rs"]
mod plugins;

#[shared_runtime::cycles(crate = shared_runtime, name = "host")]
#[inline(never)]
fn host(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

fn main() {
    (0..10).for_each(|value| _ = host(value));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [library, ways @ ..] = &arguments[..] {
        plugins::host(library, ways);
    }
}

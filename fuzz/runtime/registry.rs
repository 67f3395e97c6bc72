//! What the registry's variables were understood as, written as a user would: for fuzzing.

use super::{filter, sheets, tree};
use crate::environment;

pub(crate) fn understood() -> Vec<(&'static str, String)> {
    let only = filter::expression(&environment::ONLY).map(|of| of.as_str().to_owned());
    let skip = filter::expression(&environment::SKIP).map(|of| of.as_str().to_owned());
    let threads = sheets::are_wanted_apart().map(|it| if it { "on" } else { "off" }.to_owned());
    let tree = tree::is_wanted().map(|it| u8::from(it).to_string());
    [
        ("TSC_ONLY", only),
        ("TSC_SKIP", skip),
        ("TSC_THREADS", threads),
        ("TSC_TREE", tree),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

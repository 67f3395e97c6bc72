//! What the registry's variables were understood as, written as a user would: for fuzzing.

use super::filter;
use crate::__fuzzing::switch;
use crate::environment;

pub(crate) fn understood() -> Vec<(&'static str, String)> {
    let only = filter::expression(&environment::ONLY).map(|of| of.as_str().to_owned());
    let skip = filter::expression(&environment::SKIP).map(|of| of.as_str().to_owned());
    [
        ("TSC_ONLY", only),
        ("TSC_SKIP", skip),
        ("TSC_THREADS", switch(&environment::THREADS)),
        ("TSC_TREE", switch(&environment::TREE)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

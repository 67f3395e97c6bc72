//! Sorting for reports, which have few rows. It sorts indices with a dynamic comparison, so that the code of the sort is compiled once and
//! not for every type.

use std::cmp::Ordering;

/// The indices of `len` items in the order of `compare`. Equal items stay in their order.
pub fn order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    sort_indices(&mut order, compare);
    order
}

pub(crate) fn sort_indices(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|&one, &other| compare(one, other));
}

/// The items in the given order, which contains each index once.
pub fn reorder<T>(items: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    let taken = order.iter().filter_map(|&index| items[index].take());
    taken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_stay_in_their_order() {
        let items = vec!["bb", "a", "cc", "d"];
        let by_length = order(items.len(), &|one, other| {
            items[one].len().cmp(&items[other].len())
        });
        assert_eq!(by_length, [1, 3, 0, 2]);
        assert_eq!(reorder(items, &by_length), ["a", "d", "bb", "cc"]);
    }
}

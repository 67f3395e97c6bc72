//! The rules by which the figures of two reports become one. The data names them after `by`.

use super::{Bucket, FirstCall, SumOfSquares, WholeTicks};

/// Data of which there may be two: of two processes or threads, or of one at two times.
pub trait Combine {
    /// Adds what another process or thread has.
    fn merge(&mut self, other: &Self);
    /// Subtracts what an earlier report of the same process has.
    fn since(&mut self, earlier: &Self);
}

/// A rule for one field.
pub(crate) trait Rule<T> {
    fn merge(one: &mut T, other: &T);
    /// By default, the later value stays.
    fn since(_later: &mut T, _earlier: &T) {}
}

/// Adds, and subtracts.
pub(crate) struct Add;
/// Adds; of one process, the latest value counts.
pub(crate) struct Latest;
/// The smallest one that is known. Later in the same process it is known if it is new.
pub(crate) struct Least;
/// The greatest one, in the same way.
pub(crate) struct Greatest;
/// The greater error.
pub(crate) struct Worst;
/// That of the process that started first; later in the same process there is none.
pub(crate) struct Earliest;
/// The first one that is known.
pub(crate) struct Known;
/// Known if both are equal.
pub(crate) struct Alike;
/// The sentences of both.
pub(crate) struct Union;
/// Whether it holds of one of them.
pub(crate) struct Any;
/// Whether it holds of both.
pub(crate) struct All;

impl<T: Combine> Rule<T> for Add {
    fn merge(one: &mut T, other: &T) {
        one.merge(other);
    }

    fn since(later: &mut T, earlier: &T) {
        later.since(earlier);
    }
}

impl<T: Combine> Rule<T> for Latest {
    fn merge(one: &mut T, other: &T) {
        one.merge(other);
    }
}

impl<T: PartialOrd + Copy> Rule<Option<T>> for Least {
    fn merge(one: &mut Option<T>, other: &Option<T>) {
        if one.is_none() || other.is_some() && other < one {
            *one = *other;
        }
    }

    fn since(later: &mut Option<T>, earlier: &Option<T>) {
        if later == earlier {
            *later = None;
        }
    }
}

impl<T: PartialOrd + Copy> Rule<Option<T>> for Greatest {
    fn merge(one: &mut Option<T>, other: &Option<T>) {
        Worst::merge(one, other);
    }

    fn since(later: &mut Option<T>, earlier: &Option<T>) {
        Least::since(later, earlier);
    }
}

impl<T: PartialOrd + Copy> Rule<T> for Worst {
    fn merge(one: &mut T, other: &T) {
        if other > one {
            *one = *other;
        }
    }
}

impl Rule<Option<FirstCall>> for Earliest {
    fn merge(one: &mut Option<FirstCall>, other: &Option<FirstCall>) {
        Least::merge(one, other);
    }

    fn since(later: &mut Option<FirstCall>, earlier: &Option<FirstCall>) {
        *later = later.filter(|_| earlier.is_none());
    }
}

impl<T: Clone> Rule<Option<T>> for Known {
    fn merge(one: &mut Option<T>, other: &Option<T>) {
        *one = one.take().or_else(|| other.clone());
    }
}

impl<T: PartialEq> Rule<Option<T>> for Alike {
    fn merge(one: &mut Option<T>, other: &Option<T>) {
        if one != other {
            *one = None;
        }
    }
}

impl Rule<Vec<String>> for Union {
    fn merge(one: &mut Vec<String>, other: &Vec<String>) {
        one.extend_from_slice(other);
        one.sort();
        one.dedup();
    }
}

impl Rule<bool> for Any {
    fn merge(one: &mut bool, other: &bool) {
        *one |= other;
    }
}

impl Rule<bool> for All {
    fn merge(one: &mut bool, other: &bool) {
        *one &= other;
    }
}

// Input:  combine! { u64: |it| *it, saturating_add, saturating_sub; }
// Output: impl Combine for u64 { fn merge(&mut self, other: &u64) { *self = self.saturating_add(*other); } fn since … }
macro_rules! combine {
    ($($type:ident: |$it:ident| $number:expr, $add:ident, $subtract:ident;)*) => {
        $(impl Combine for $type {
            fn merge(&mut self, other: &Self) {
                let $it = other;
                let other = $number;
                let $it = self;
                $number = $number.$add(other);
            }

            fn since(&mut self, earlier: &Self) {
                let $it = earlier;
                let earlier = $number;
                let $it = self;
                $number = $number.$subtract(earlier);
            }
        })*
    };
}

// Sums of ticks wrap around as in the runtime. A report that somebody has changed may have any count, which is no reason to panic.
combine! {
    u64: |it| *it, saturating_add, saturating_sub;
    i64: |it| *it, wrapping_add, wrapping_sub;
    SumOfSquares: |it| it.0, saturating_add, saturating_sub;
    WholeTicks: |it| it.0, wrapping_add, wrapping_sub;
}

/// Unknown if one of the two is unknown.
impl<T: Combine> Combine for Option<T> {
    fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Some(one), Some(other)) => one.merge(other),
            _ => *self = None,
        }
    }

    fn since(&mut self, earlier: &Self) {
        match (&mut *self, earlier) {
            (Some(later), Some(earlier)) => later.since(earlier),
            _ => *self = None,
        }
    }
}

/// Histograms, in ascending order.
impl Combine for Vec<Bucket> {
    fn merge(&mut self, other: &Self) {
        self.extend_from_slice(other);
        self.sort_by_key(|bucket| bucket.from_ticks);
        self.dedup_by(|next, kept| {
            let same = next.from_ticks == kept.from_ticks;
            if same {
                kept.calls.merge(&next.calls);
            }
            same
        });
    }

    fn since(&mut self, earlier: &Self) {
        for bucket in &mut *self {
            let from = |of: &Bucket| of.from_ticks;
            if let Ok(index) = earlier.binary_search_by_key(&bucket.from_ticks, from) {
                bucket.calls.since(&earlier[index].calls);
            }
        }
        self.retain(|bucket| bucket.calls != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_that_is_not_new_is_unknown() {
        let since = |later, earlier| {
            let mut greatest = Some(later);
            Greatest::since(&mut greatest, &earlier);
            greatest
        };
        assert_eq!(since(7, Some(7)), None);
        assert_eq!(since(8, Some(7)), Some(8));
        assert_eq!(since(7, None), Some(7));
    }
}

//! The rules by which the figures of two reports become one. The data names them after `by`.

#![expect(non_snake_case, reason = "tables name a rule beside a type")]

use super::{Bucket, FirstCall, SumOfSquares, WholeTicks};
use crate::order::sorted;

/// What the second of two values is to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// What another process or thread has, which is added.
    Merge,
    /// What an earlier report of the same process has, which is subtracted.
    Since,
}
use How::{Merge, Since};

/// Data of which there may be two: of two processes or threads, or of one at two times.
pub trait Combine {
    /// Makes one of the two.
    fn combine(&mut self, other: &Self, how: How);

    /// Adds what another process or thread has.
    fn merge(&mut self, other: &Self) {
        self.combine(other, Merge);
    }

    /// Subtracts what an earlier report of the same process has.
    fn since(&mut self, earlier: &Self) {
        self.combine(earlier, Since);
    }
}

// The rules for one field. Those that say nothing of one process keep the later value.

/// Adds, and subtracts.
pub(crate) fn Add<T: Combine>(one: &mut T, other: &T, how: How) {
    one.combine(other, how);
}

/// Adds; of one process, the latest value counts.
pub(crate) fn Latest<T: Combine>(one: &mut T, other: &T, how: How) {
    if how == Merge {
        one.merge(other);
    }
}

/// The smallest one that is known. Later in the same process it is known if it is new.
pub(crate) fn Least<T: PartialOrd + Copy>(one: &mut Option<T>, other: &Option<T>, how: How) {
    match how {
        Merge if one.is_none() || other.is_some() && other < one => *one = *other,
        Since if one == other => *one = None,
        _ => {}
    }
}

/// The greatest one, in the same way.
pub(crate) fn Greatest<T: PartialOrd + Copy>(one: &mut Option<T>, other: &Option<T>, how: How) {
    match how {
        Merge => Worst(one, other, how),
        Since => Least(one, other, how),
    }
}

/// The greater error, or whether it holds of one of them.
pub(crate) fn Worst<T: PartialOrd + Copy>(one: &mut T, other: &T, how: How) {
    if how == Merge && other > one {
        *one = *other;
    }
}

/// That of the process that started first; later in the same process there is none.
pub(crate) fn Earliest(one: &mut Option<FirstCall>, other: &Option<FirstCall>, how: How) {
    match how {
        Merge => Least(one, other, how),
        Since => *one = one.filter(|_| other.is_none()),
    }
}

/// The first one that is known.
pub(crate) fn Known<T: Clone>(one: &mut Option<T>, other: &Option<T>, how: How) {
    if how == Merge && one.is_none() {
        one.clone_from(other);
    }
}

/// Added and subtracted if both are known; otherwise the first one that is known.
pub(crate) fn Joined<T: Combine + Clone>(one: &mut Option<T>, other: &Option<T>, how: How) {
    match (&mut *one, other) {
        (Some(one), Some(other)) => one.combine(other, how),
        _ => Known(one, other, how),
    }
}

/// Known if both are equal.
pub(crate) fn Alike<T: PartialEq>(one: &mut Option<T>, other: &Option<T>, how: How) {
    if how == Merge && one != other {
        *one = None;
    }
}

/// The sentences of both.
pub(crate) fn Union(one: &mut Vec<String>, other: &[String], how: How) {
    if how == Merge {
        one.extend_from_slice(other);
        *one = sorted(one, &String::cmp);
        one.dedup();
    }
}

/// Whether it holds of both.
pub(crate) fn All(one: &mut bool, other: &bool, how: How) {
    *one &= how == Since || *other;
}

// Input:  numbers! { u64: saturating_add, saturating_sub; WholeTicks.0: wrapping_add, wrapping_sub; }
// Output: impl Combine for u64 { fn combine(&mut self, other: &u64, how: How) { … } } and the like
macro_rules! numbers {
    ($($type:ident $(.$number:tt)?: $add:ident, $subtract:ident;)*) => {
        $(impl Combine for $type {
            fn combine(&mut self, other: &Self, how: How) {
                let (one, other) = (&mut (*self)$(.$number)?, (*other)$(.$number)?);
                *one = match how {
                    Merge => one.$add(other),
                    Since => one.$subtract(other),
                };
            }
        })*
    };
}

// Sums of ticks wrap around as in the runtime. A report that somebody has changed may have any count, which is no reason to panic.
numbers! {
    u64: saturating_add, saturating_sub;
    i64: wrapping_add, wrapping_sub;
    SumOfSquares.0: saturating_add, saturating_sub;
    WholeTicks.0: wrapping_add, wrapping_sub;
}

/// Unknown if one of the two is unknown.
impl<T: Combine> Combine for Option<T> {
    fn combine(&mut self, other: &Self, how: How) {
        match (&mut *self, other) {
            (Some(one), Some(other)) => one.combine(other, how),
            _ => *self = None,
        }
    }
}

/// Histograms, in ascending order.
impl Combine for Vec<Bucket> {
    fn combine(&mut self, other: &Self, how: How) {
        for bucket in other {
            match self.binary_search_by_key(&bucket.from_ticks, |of| of.from_ticks) {
                Ok(index) => self[index].calls.combine(&bucket.calls, how),
                Err(index) if how == Merge => self.insert(index, *bucket),
                Err(_) => {}
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
            Greatest(&mut greatest, &earlier, Since);
            greatest
        };
        assert_eq!(since(7, Some(7)), None);
        assert_eq!(since(8, Some(7)), Some(8));
        assert_eq!(since(7, None), Some(7));
    }
}

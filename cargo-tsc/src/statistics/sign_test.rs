//! The sign test: whether the second value of each pair tends to be greater. It only assumes that the pairs are independent, so it is not
//! misled by a machine whose speed drifts during the runs.

use super::Tail;

/// The number of pairs whose value increased, and the number of those whose value decreased. Pairs of equal values are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignTest {
    up: usize,
    down: usize,
}

impl SignTest {
    /// Counts the differences' signs.
    #[must_use]
    pub fn new(differences: &[f64]) -> Self {
        Self {
            up: differences.iter().filter(|&&d| d > 0.0).count(),
            down: differences.iter().filter(|&&d| d < 0.0).count(),
        }
    }

    /// The probability of this many signs of one kind, if both kinds are equally probable.
    #[must_use]
    pub fn p_value(self, tail: Tail) -> f64 {
        let least = match tail {
            Tail::Greater => self.up,
            Tail::Less => self.down,
        };
        binomial(self.up + self.down)[least..].iter().sum()
    }
}

/// The probability of each number of heads in `flips` tosses of a fair coin.
pub(super) fn binomial(flips: usize) -> Vec<f64> {
    let mut probabilities = vec![1.0];
    for _ in 0..flips {
        let mut next = vec![0.0; probabilities.len() + 1];
        for (heads, p) in probabilities.iter().enumerate() {
            next[heads] += p / 2.0;
            next[heads + 1] += p / 2.0;
        }
        probabilities = next;
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_ten_is_one_in_1024() {
        let test = SignTest::new(&[0.1; 10]);
        assert_eq!(test.p_value(Tail::Greater), 1.0 / 1024.0);
        assert_eq!(test.p_value(Tail::Less), 1.0);
    }

    #[test]
    fn nine_of_ten_has_eleven_ways() {
        let mut differences = [0.1; 10];
        differences[3] = -5.0;
        let test = SignTest::new(&differences);
        assert!((test.p_value(Tail::Greater) - 11.0 / 1024.0).abs() < 1e-15);
    }

    #[test]
    fn equal_pairs_and_no_pairs_say_nothing() {
        assert_eq!(SignTest::new(&[0.0; 8]).p_value(Tail::Greater), 1.0);
        assert_eq!(SignTest::new(&[]).p_value(Tail::Less), 1.0);
    }
}

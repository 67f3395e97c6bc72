//! The sign test: whether the second of each pair tends to be greater. It assumes nothing of the pairs but that they are independent, so a
//! machine whose speed drifts over the pairs does not mislead it.

use super::Tail;

/// How many pairs went up, and how many down. Equal pairs say nothing and are left out.
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

    /// How likely so many signs of one kind are, if both are equally likely.
    #[must_use]
    pub fn p_value(self, tail: Tail) -> f64 {
        let least = match tail {
            Tail::Greater => self.up,
            Tail::Less => self.down,
        };
        binomial(self.up + self.down)[least..].iter().sum()
    }
}

/// The probability of each number of heads in `flips` fair coins.
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

//! Student's distribution.

/// The probability that the absolute value is greater than `t`, with `freedom` degrees of freedom.
pub(super) fn both_tails(t: f64, freedom: f64) -> f64 {
    let x = freedom / (freedom + t * t);
    incomplete_beta(x, freedom / 2.0, 0.5)
}

/// The absolute value that is exceeded with probability `p`.
pub(super) fn quantile(p: f64, freedom: f64) -> f64 {
    // Bisection, because the probability decreases with t.
    let (mut low, mut high) = (0.0_f64, 1e5_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if both_tails(middle, freedom) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The regularised incomplete beta function, by Lentz's method for its continued fraction (DLMF 8.17.22).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a); // where the fraction converges quickly
    }
    let factor = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let factor = (factor + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 0_u32..300 {
        let m = f64::from(step / 2);
        let numerator = match step {
            0 => 1.0,
            _ if step % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        let avoid_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
        d = 1.0 / avoid_zero(1.0 + numerator * d);
        c = avoid_zero(1.0 + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    factor * (fraction - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_tables() {
        for (p, freedom, t) in [
            (0.05, 1.0, 12.706),
            (0.05, 9.0, 2.2622),
            (0.01, 9.0, 3.2498),
            (0.001, 4.0, 8.6103),
            (0.05, 1e6, 1.95996),
        ] {
            assert!(
                (quantile(p, freedom) / t - 1.0).abs() < 1e-4,
                "{p} {freedom}"
            );
            assert!((both_tails(t, freedom) / p - 1.0).abs() < 1e-3);
        }
        assert!((both_tails(0.0, 5.0) - 1.0).abs() < 1e-12);
    }
}

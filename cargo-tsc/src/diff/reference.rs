//! With what a function is compared, so that the machine's speed is in none of the verdicts: the time of the rest of the program, of which nothing
//! may have changed.

use std::collections::BTreeSet;

use super::pairs::{self, Pair};
use super::row::Row;
use super::sides::{Sides, WHOLE};
use super::values::Values;

/// A change of a function with a smaller share of the program's time does not make others differ from the rest by much.
const LARGE: f64 = 0.05;

/// The functions, and the time outside all of them, of which it is not known that they changed. A function that only one side has is not among them.
#[derive(Clone)]
pub struct Reference {
    functions: BTreeSet<String>,
    /// The time outside all functions in each run of each side, if that has not changed.
    outside: Option<[Vec<f64>; 2]>,
}

impl Reference {
    /// All functions that are judged. The time outside has changed if most of them differ from it in the same way.
    pub fn of<'a>(sides: &Sides, rows: impl Iterator<Item = &'a Row>, pairs: &[Pair]) -> Self {
        let rows = Vec::from_iter(rows.filter(|row| row.name != WHOLE));
        let outside = [0, 1].map(|side| outside(sides, side));
        let is_known = outside.iter().flatten().all(|&time| time > 0.0);
        let outside = Some(outside).filter(|outside| {
            is_known && !sides.is_per_call && is_same(outside, sides, &rows, pairs)
        });
        let functions = rows.iter().map(|row| row.name.clone()).collect();
        Self { functions, outside }
    }

    /// A function has changed.
    pub fn remove(&mut self, name: &str) {
        self.functions.remove(name);
    }

    /// The same without any single one of the large functions that this one is compared with.
    pub fn each_less(&self, name: &str, sides: &Sides) -> impl Iterator<Item = Self> {
        let is_large = |other: &&String| {
            let mut of_sides = sides.values.iter();
            of_sides.any(|values| values[*other].share >= LARGE)
        };
        let others = self.functions.iter().filter(move |&other| other != name);
        others.filter(is_large).map(|other| {
            let mut less = self.clone();
            less.remove(other);
            less
        })
    }

    /// What a function is compared with in each run of a side. Not positive, and so not used, if that is less than a tenth of the program's time.
    pub fn without(&self, name: &str, side: usize, sides: &Sides) -> Vec<f64> {
        if name == WHOLE {
            return vec![0.0; sides.runs[side].whole.len()];
        }
        let others = self.functions.iter().filter(|&other| other != name);
        let others = others.map(|other| sides.values.each_ref().map(|values| &values[other]));
        let others = Vec::from_iter(others);
        let own = |other: &[&Values; 2], run: usize| match sides.is_per_call {
            true => other[side].own[run] / other[side].called[run] * other[0].calls,
            false => other[side].own[run],
        };
        let time = |(run, whole): (usize, &f64)| {
            let outside = self
                .outside
                .as_ref()
                .map_or(0.0, |outside| outside[side][run]);
            let time = others.iter().map(|other| own(other, run)).sum::<f64>() + outside;
            if time > whole / 10.0 { time } else { 0.0 }
        };
        let whole = sides.runs[side].whole.iter().enumerate();
        whole.map(time).collect()
    }
}

/// The time outside all functions in each run of a side.
fn outside(sides: &Sides, side: usize) -> Vec<f64> {
    let functions = sides.values[side].iter().filter(|of| of.0 != WHOLE);
    let functions = Vec::from_iter(functions.map(|(_, values)| &values.own));
    let outside =
        |(run, whole): (usize, &f64)| whole - functions.iter().map(|own| own[run]).sum::<f64>();
    let whole = sides.runs[side].whole.iter().enumerate();
    whole.map(outside).collect()
}

fn is_same(outside: &[Vec<f64>; 2], sides: &Sides, rows: &[&Row], pairs: &[Pair]) -> bool {
    let differs = |row: &&Row| {
        let of_side = |side: usize| {
            let own = sides.values[side][&row.name].own.iter();
            let shares = own.zip(&outside[side]).map(|(own, outside)| own / outside);
            shares.map(f64::ln).collect::<Vec<f64>>()
        };
        let change = pairs::shift(pairs, &of_side(0), &of_side(1))?.estimate;
        (change.abs() > row.threshold.ln_1p()).then_some(change > 0.0)
    };
    let differ = Vec::from_iter(rows.iter().filter_map(differs));
    let longer = differ.iter().filter(|&&is_longer| is_longer).count();
    longer.max(differ.len() - longer) * 2 <= rows.len()
}

//! The chart of all runs: one column for each run, from the lower threshold upwards.

use std::io::Write;

use examples::command::Outcome;

const ROWS: usize = 12;
/// Columns are cut at this multiple of the threshold. Otherwise one peak would flatten all others.
const HIGHEST: f64 = 1.2;

/// Prints the chart, and below it the values of the columns that were cut.
pub(crate) fn print(out: &mut dyn Write, ticks: &[f64]) -> Outcome {
    for line in lines(ticks) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn lines(ticks: &[f64]) -> Vec<String> {
    let least = ticks.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = ticks.iter().copied().fold(least, f64::max);
    let top = greatest.min(least * HIGHEST);
    let row_height = ((top - least) / (ROWS - 1) as f64).max(1.0);
    let mut lines: Vec<String> = (0..ROWS)
        .rev()
        .map(|row| {
            let level = least + row_height * row as f64;
            let columns: String = ticks
                .iter()
                .map(|run| match ((run - least) / row_height).round() as usize {
                    height if height >= ROWS && row == ROWS - 1 => '^',
                    height if height >= row => '#',
                    _ => ' ',
                })
                .collect();
            format!("{level:>10.0} |{}", columns.trim_end())
        })
        .collect();
    lines.push(format!("{:>10} +{}", "", "-".repeat(ticks.len())));
    lines.push(format!(
        "{:>10}  1{:>width$}",
        "run",
        ticks.len(),
        width = ticks.len().saturating_sub(1)
    ));
    let cut: Vec<String> = ticks
        .iter()
        .enumerate()
        .filter(|(_, ticks)| ((*ticks - least) / row_height).round() as usize >= ROWS)
        .map(|(run, ticks)| format!("run {} {ticks:.0}", run + 1))
        .collect();
    if !cut.is_empty() {
        lines.push(format!("^ cut off: {}", cut.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stand_out_of_the_threshold() {
        let mut ticks = vec![1000.0; 10];
        ticks[3] = 1110.0;
        let lines = lines(&ticks);
        assert_eq!(lines.len(), ROWS + 2);
        assert_eq!(lines[0], "      1110 |   #");
        assert_eq!(lines[ROWS - 1], "      1000 |##########");
        assert_eq!(lines[ROWS], "           +----------");
        assert_eq!(lines[ROWS + 1], "       run  1       10");
    }

    #[test]
    fn what_is_far_above_is_cut_off_and_listed() {
        let lines = lines(&[1000.0, 1100.0, 90_000.0]);
        assert_eq!(lines[0], "      1200 |  ^");
        assert_eq!(lines.last().unwrap(), "^ cut off: run 3 90000");
    }

    #[test]
    fn equal_runs_are_a_flat_chart() {
        assert_eq!(lines(&[7.0; 4])[ROWS - 1], "         7 |####");
        assert_eq!(lines(&[7.0; 4])[0], "        18 |");
    }
}

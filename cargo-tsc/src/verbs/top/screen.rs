//! Controls the terminal for `top`, and reads single keys from it.

use std::io::{Write as _, stdout};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use crossterm::event::{Event, KeyCode, KeyModifiers, poll, read};
use crossterm::terminal::{
    self, Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use crossterm::{cursor, execute, queue};

use crate::table;

/// The terminal's alternate screen. When this is dropped, the user's screen comes back.
pub struct Screen(());

impl Screen {
    /// Switches to the alternate screen.
    ///
    /// # Errors
    /// If there is no terminal for it.
    pub fn open() -> Result<Self> {
        terminal::enable_raw_mode().context("the terminal gives no single keys")?;
        let screen = Self(());
        // No table is narrow enough for every terminal. A line that is too long must not move those below it.
        execute!(
            stdout(),
            EnterAlternateScreen,
            cursor::Hide,
            DisableLineWrap
        )?;
        Ok(screen)
    }

    /// Shows a page, from the top of the screen.
    ///
    /// # Errors
    /// If the terminal has been closed.
    pub fn show(&self, page: &str) -> Result<()> {
        // What takes colours out of a text would take these commands out, too.
        let (mut out, mut text) = (stdout(), anstream::stdout());
        queue!(out, cursor::MoveTo(0, 0))?;
        for line in page.lines() {
            // In raw mode, a new line does not begin at the left.
            write!(text, "{line}")?;
            queue!(
                out,
                Clear(ClearType::UntilNewLine),
                cursor::MoveToNextLine(1)
            )?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        out.flush()?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), EnableLineWrap, LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

/// The numbers of columns and lines.
#[must_use]
pub fn size() -> (usize, usize) {
    let known = terminal::size().ok().and_then(table::known);
    known.unwrap_or((table::USUAL_WIDTH, 40))
}

/// Waits this long for a key that ends the program.
///
/// # Errors
/// If the terminal has been closed.
pub fn quits_within(time: Duration) -> Result<bool> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || !poll(left)? {
            return Ok(false);
        }
        match read()? {
            Event::Key(key) if matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) => {
                return Ok(true);
            }
            Event::Key(key)
                if key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL =>
            {
                return Ok(true);
            }
            Event::Resize(..) => return Ok(false),
            _ => {}
        }
    }
}

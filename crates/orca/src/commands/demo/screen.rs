//! The demo drawn: the candles of one symbol with their means and volumes, the symbols, and keys to change all that.

use super::candles::{Candle, Candles, MINUTES};
use super::day::{Day, Feeder};
use super::ways_in;
use crate::failure::Failure;
use crate::server::Running;
use data::{Type, format_iso};
use indicatif::HumanCount;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Widget};
use std::sync::Arc;
use std::time::Duration;

/// How often it is drawn.
const FRAME: Duration = Duration::from_millis(50);

/// The colours of the means of 5 and 20 closes.
const MEANS: [Color; 2] = [Color::Yellow, Color::Cyan];

/// The width of the price scale.
const SCALE: u16 = 11;

/// Draws until the user has seen enough.
pub(super) fn show(running: &Running, day: &Day, feeder: &Feeder) -> Result<(), Failure> {
    let orca = running.server().orca();
    let mut candles =
        Candles::new([orca.table("market.orca_table.kline_1min")?, orca.table("market.orca_table.kline_5min")?])?;
    let mut screen = Screen { symbols: day.symbols.clone(), selected: 0, period: 0, ways_in: ways_in(running) };
    let mut terminal = ratatui::init();
    let shown = loop {
        if let Err(failure) = candles.read(|_| {}) {
            break Err(failure);
        }
        let progress = Progress {
            fed: feeder.fed(),
            rows: day.rows,
            seconds: feeder.seconds(),
            speed: feeder.speed(),
            is_paused: feeder.is_paused(),
        };
        if let Err(error) = terminal.draw(|frame| screen.draw(frame, &candles, &progress)) {
            break Err(error.into());
        }
        match next_key() {
            Err(error) => break Err(error.into()),
            Ok(None) => {}
            Ok(Some(key)) => match screen.on_key(key) {
                Some(Wish::Quit) => break Ok(()),
                Some(Wish::Pause) => feeder.pause(),
                Some(Wish::Speed { faster }) => feeder.change_speed(faster),
                None => {}
            },
        }
    };
    ratatui::restore();
    shown
}

/// A key that was pressed within the time of a frame.
fn next_key() -> std::io::Result<Option<KeyCode>> {
    if !event::poll(FRAME)? {
        return Ok(None);
    }
    Ok(match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Press => None,
        Event::Key(key) if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) => {
            Some(KeyCode::Esc)
        }
        Event::Key(key) => Some(key.code),
        _ => None,
    })
}

/// What a key asks of the day.
#[derive(Debug, PartialEq)]
enum Wish {
    Quit,
    Pause,
    Speed { faster: bool },
}

/// How far the day is.
struct Progress {
    fed: u64,
    rows: u64,
    seconds: f64,
    speed: f64,
    is_paused: bool,
}

/// What is shown.
struct Screen {
    symbols: Vec<Arc<str>>,
    selected: usize,
    period: usize,
    ways_in: [String; 3],
}

impl Screen {
    fn on_key(&mut self, key: KeyCode) -> Option<Wish> {
        let last = self.symbols.len() - 1;
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::Quit),
            KeyCode::Char(' ') => return Some(Wish::Pause),
            KeyCode::Char('+' | '=') => return Some(Wish::Speed { faster: true }),
            KeyCode::Char('-') => return Some(Wish::Speed { faster: false }),
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::PageDown => self.selected = (self.selected + 10).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(10),
            KeyCode::Home => self.selected = 0,
            KeyCode::Char('1') => self.period = 0,
            KeyCode::Char('5') => self.period = 1,
            KeyCode::Tab => self.period = 1 - self.period,
            _ => {}
        }
        None
    }

    fn draw(&self, frame: &mut Frame, candles: &Candles, progress: &Progress) {
        let [head, middle, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(8), Constraint::Length(6)]).areas(frame.area());
        frame.render_widget(self.head(candles, progress), head);
        let [chart, list] = Layout::horizontal([Constraint::Min(30), Constraint::Length(28)]).areas(middle);
        frame.render_widget(Chart { candles: candles.of(&self.symbols[self.selected], self.period) }, chart);
        self.list(frame, list, candles);
        frame.render_widget(self.foot(), foot);
    }

    fn head(&self, candles: &Candles, progress: &Progress) -> Line<'static> {
        let symbol = &self.symbols[self.selected];
        let time = candles.of(symbol, self.period).last().map_or("--:--".into(), |candle| clock(candle.time));
        let rate = (progress.fed as f64 / progress.seconds.max(0.001)) as u64;
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let state = match (progress.is_paused, progress.fed >= progress.rows) {
            (_, true) => "the day is over".to_string(),
            (true, _) => "paused".to_string(),
            _ => format!("speed {}", progress.speed),
        };
        Line::from(vec![
            Span::styled(format!(" {symbol} "), bold.fg(Color::Black).bg(Color::White)),
            Span::styled(format!("  {} min  {time}  ", MINUTES[self.period]), bold),
            Span::raw(format!(
                "{} of {} trades, {} a second, {state}",
                HumanCount(progress.fed),
                HumanCount(progress.rows),
                HumanCount(rate)
            )),
        ])
    }

    /// The symbols around the selected one, each with its last price and its change since the open.
    fn list(&self, frame: &mut Frame, area: Rect, candles: &Candles) {
        let block = Block::new().borders(Borders::LEFT).title(" most traded ");
        let inside = block.inner(area);
        frame.render_widget(block, area);
        let shown = inside.height as usize;
        let first = self.selected.saturating_sub(shown / 2).min(self.symbols.len().saturating_sub(shown));
        let line = |(place, symbol): (usize, &Arc<str>)| {
            let of = candles.of(symbol, 0);
            let style =
                if place == self.selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            let (price, change, color) = match (of.first(), of.last()) {
                (Some(first), Some(last)) => {
                    let change = (last.close / first.open - 1.0) * 100.0;
                    (price(last.close), format!("{change:+.2}%"), if change < 0.0 { Color::Red } else { Color::Green })
                }
                _ => ("-".into(), String::new(), Color::Reset),
            };
            Line::from(vec![
                Span::styled(format!(" {symbol:<8.8}{price:>9}"), style),
                Span::styled(format!("{change:>9}"), style.fg(color)),
            ])
        };
        let lines: Vec<Line> = self.symbols.iter().enumerate().skip(first).take(shown).map(line).collect();
        frame.render_widget(Paragraph::new(lines), inside);
    }

    fn foot(&self) -> Paragraph<'_> {
        let keys = " ↑ ↓ symbol   1 5 Tab period   space pause   + - speed   q end";
        let mut lines = vec![Line::styled(keys, Style::new().add_modifier(Modifier::BOLD))];
        lines.extend(self.ways_in.iter().map(|way| Line::raw(format!(" {way}"))));
        Paragraph::new(lines).block(Block::new().borders(Borders::TOP).title(" while it runs "))
    }
}

fn clock(time: i64) -> String {
    format_iso(Type::Timestamp, time)[11..16].to_string()
}

fn price(price: f64) -> String {
    // Cents tell little of what costs less than one.
    if price.abs() < 1.0 { format!("{price:.6}") } else { format!("{price:.2}") }
}

/// Candles from left to right, the newest at the right edge; volumes below, times below those, prices at the right.
struct Chart<'a> {
    candles: &'a [Candle],
}

impl Widget for Chart<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.width <= SCALE + 2 || area.height < 8 {
            return;
        }
        // A column for each candle and one beside it.
        let fit = ((area.width - SCALE) / 2) as usize;
        let shown = &self.candles[self.candles.len().saturating_sub(fit)..];
        if shown.is_empty() {
            let text = "the first candle closes with the first trade of the next minute";
            buffer.set_stringn(area.x + 1, area.y + 1, text, area.width as usize - 2, Style::new());
            return;
        }
        let [prices, volumes, times] =
            Layout::vertical([Constraint::Fill(4), Constraint::Fill(1), Constraint::Length(1)]).areas(area);
        self.draw_prices(shown, prices, buffer);
        draw_volumes(shown, volumes, buffer);
        for (place, candle) in shown.iter().enumerate().step_by(8) {
            let (x, text) = (column(area, shown.len(), place), clock(candle.time));
            buffer.set_stringn(x, times.y, text, (area.right() - x) as usize, Style::new().fg(Color::DarkGray));
        }
    }
}

impl Chart<'_> {
    fn draw_prices(&self, shown: &[Candle], area: Rect, buffer: &mut Buffer) {
        let high = shown.iter().map(|candle| candle.high).fold(f64::MIN, f64::max);
        let low = shown.iter().map(|candle| candle.low).fold(f64::MAX, f64::min);
        let span = (high - low).max(high.abs() * 1e-6).max(f64::MIN_POSITIVE);
        let rows = f64::from(area.height);
        // Rows from the top, as a fraction.
        let row_of = |price: f64| (high - price) / span * (rows - 0.01);
        for (place, candle) in shown.iter().enumerate() {
            let x = column(area, shown.len(), place);
            let color = if candle.close < candle.open { Color::Red } else { Color::Green };
            let wick = row_of(candle.high)..row_of(candle.low);
            let body = row_of(candle.open.max(candle.close))..row_of(candle.open.min(candle.close));
            for row in 0..area.height {
                let sign = candle_sign(f64::from(row), &wick, &body);
                if sign != ' ' {
                    buffer[(x, area.y + row)].set_char(sign).set_fg(color);
                }
            }
            for (mean, color) in candle.means.iter().zip(MEANS) {
                let row = row_of(*mean);
                if (0.0..rows).contains(&row) {
                    let cell = &mut buffer[(x + 1, area.y + row as u16)];
                    cell.set_char('•').set_fg(color);
                }
            }
        }
        for row in (0..area.height).step_by(4) {
            let text = format!(" {:>9}", price(high - span * f64::from(row) / rows));
            buffer.set_string(area.right() - SCALE, area.y + row, text, Style::new().fg(Color::DarkGray));
        }
        let last = shown.last().expect("there is one").close;
        let y = area.y + row_of(last) as u16;
        let style = Style::new().add_modifier(Modifier::REVERSED);
        buffer.set_string(area.right() - SCALE, y, format!(" {:>9}", price(last)), style);
    }
}

fn draw_volumes(shown: &[Candle], area: Rect, buffer: &mut Buffer) {
    let most = shown.iter().map(|candle| candle.volume).fold(f64::MIN_POSITIVE, f64::max);
    let eighths = f64::from(area.height) * 8.0;
    for (place, candle) in shown.iter().enumerate() {
        let x = column(area, shown.len(), place);
        let color = if candle.close < candle.open { Color::Red } else { Color::Green };
        let mut left = (candle.volume / most * eighths) as usize;
        for y in (area.y..area.bottom()).rev() {
            let sign = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][left.min(8)];
            buffer[(x, y)].set_char(sign).set_fg(color);
            left = left.saturating_sub(8);
        }
    }
    buffer.set_string(area.right() - SCALE, area.y, format!(" {most:>9.0}"), Style::new().fg(Color::DarkGray));
}

/// The column of a candle, the last one beside the price scale.
fn column(area: Rect, count: usize, place: usize) -> u16 {
    area.right() - SCALE - 2 * (count - place) as u16
}

/// The sign of a candle in the cell of this row: each half of the cell is part of the body, of the wick, or empty.
fn candle_sign(row: f64, wick: &std::ops::Range<f64>, body: &std::ops::Range<f64>) -> char {
    // A body or wick thinner than half a cell still fills the half it begins in.
    let touches = |half: f64, part: &std::ops::Range<f64>| part.start < half + 0.5 && part.end >= half;
    let of_half = |half: f64| match (touches(half, body), touches(half, wick)) {
        (true, _) => 2,
        (_, true) => 1,
        _ => 0,
    };
    match (of_half(row), of_half(row + 0.5)) {
        (0, 0) => ' ',
        (1, 1) => '│',
        (2, 2) => '┃',
        (0, 1) => '╷',
        (1, 0) => '╵',
        (0, _) => '╻',
        (_, 0) => '╹',
        (1, _) => '╽',
        (_, _) => '╿',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn candle(minute: i64, open: f64, high: f64, low: f64, close: f64) -> Candle {
        let time = 1_764_581_400_000 + minute * 60_000;
        Candle { time, open, high, low, close, volume: 100.0, means: [close, f64::NAN], mean_volume: 100.0 }
    }

    fn drawn(candles: &[Candle]) -> String {
        let mut terminal = Terminal::new(TestBackend::new(40, 14)).expect("a terminal of letters");
        terminal.draw(|frame| frame.render_widget(Chart { candles }, frame.area())).expect("it draws");
        terminal.backend().to_string()
    }

    #[test]
    fn a_candle_has_wick_body_price_and_time() {
        let shown = drawn(&[candle(0, 10.0, 12.0, 9.0, 11.0), candle(1, 11.0, 11.0, 8.0, 8.0)]);
        for part in ["│", "┃", "•", "12.00", "8.00", "09:30", "█", "100"] {
            assert!(shown.contains(part), "{part} in\n{shown}");
        }
    }

    #[test]
    fn a_flat_candle_is_seen_and_no_candle_is_told() {
        assert!(drawn(&[candle(0, 10.0, 10.0, 10.0, 10.0)]).contains(['╹', '╻', '┃']));
        assert!(drawn(&[]).contains("the first candle closes"));
    }

    #[test]
    fn more_candles_than_fit_are_the_newest() {
        let many: Vec<Candle> = (0..300).map(|minute| candle(minute, 10.0, 12.0, 9.0, 11.0)).collect();
        let shown = drawn(&many);
        assert!(!shown.contains("09:30") && shown.contains("14:"), "{shown}");
    }

    #[test]
    fn keys_change_symbol_and_period_and_ask_for_more() {
        let symbols = vec!["A".into(), "B".into()];
        let mut screen = Screen { symbols, selected: 0, period: 0, ways_in: Default::default() };
        assert_eq!(screen.on_key(KeyCode::Down), None);
        assert_eq!(screen.on_key(KeyCode::Down), None);
        assert_eq!((screen.selected, screen.period), (1, 0));
        screen.on_key(KeyCode::Tab);
        screen.on_key(KeyCode::Up);
        assert_eq!((screen.selected, screen.period), (0, 1));
        assert_eq!(screen.on_key(KeyCode::Char(' ')), Some(Wish::Pause));
        assert_eq!(screen.on_key(KeyCode::Char('+')), Some(Wish::Speed { faster: true }));
        assert_eq!(screen.on_key(KeyCode::Esc), Some(Wish::Quit));
    }
}

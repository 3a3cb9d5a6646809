//! Time-series engine: one row per key and window, when the window closes.
//!
//! Invariants:
//! - One grid of windows for all keys. Windows are made of panes of one step (one slice, where open windows are given
//!   out); a window's result is merged from its panes, from the oldest on.
//! - A row goes to one pane. A row of the same key beyond a window closes it; rows of other keys and the clock only
//!   where the arguments say so.
//! - A closed window is never reopened: a row that comes late is counted and dropped.

mod emission;
mod engine;
mod frozen;
mod grid;
mod input;
#[cfg(test)]
mod random_tests;
mod settings;
#[cfg(test)]
mod tests;
mod windows;

use crate::arguments::Arguments;
use crate::kind::{Bound, Engine, EngineKind, Facts, Input, Spec};
use data::Schema;
use engine::TimeSeries;
use settings::{PARAMETERS, Settings};
use std::sync::Arc;

/// The list entry.
pub(crate) static KIND: EngineKind = EngineKind { name: "timeSeriesEngine", inputs: 1, parameters: PARAMETERS, bind };

fn bind(arguments: &Arguments, inputs: &[Input]) -> Bound {
    let settings = Settings::bind(arguments, &inputs[0])?;
    Ok(Box::new(TimeSeriesSpec { settings: Arc::new(settings) }))
}

struct TimeSeriesSpec {
    settings: Arc<Settings>,
}

impl Spec for TimeSeriesSpec {
    fn schema(&self) -> Arc<Schema> {
        self.settings.schema.clone()
    }

    fn facts(&self) -> Facts {
        self.settings.facts()
    }

    fn start(&self, part_by: Option<&str>) -> Box<dyn Engine> {
        Box::new(TimeSeries::new(self.settings.clone(), part_by))
    }
}

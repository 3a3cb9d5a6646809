//! Reactive state engine: one row out for each row in, with the state functions of its key.
//!
//! Invariants:
//! - Rows come out in the order they came in, with their origins, key columns first.
//! - A filter drops rows after they have changed the state.
//! - A key that is purged starts again from nothing.

mod engine;
mod settings;
#[cfg(test)]
mod tests;

use crate::arguments::Arguments;
use crate::kind::{Bound, Engine, EngineKind, Facts, Input, Spec};
use data::Schema;
use engine::ReactiveState;
use settings::{PARAMETERS, Settings};
use std::sync::Arc;

/// The list entry.
pub(crate) static KIND: EngineKind =
    EngineKind { name: "reactiveStateEngine", inputs: 1, parameters: PARAMETERS, bind };

fn bind(arguments: &Arguments, inputs: &[Input]) -> Bound {
    let settings = Settings::bind(arguments, &inputs[0])?;
    Ok(Box::new(ReactiveStateSpec { settings: Arc::new(settings) }))
}

struct ReactiveStateSpec {
    settings: Arc<Settings>,
}

impl Spec for ReactiveStateSpec {
    fn schema(&self) -> Arc<Schema> {
        self.settings.schema.clone()
    }

    fn facts(&self) -> Facts {
        self.settings.facts()
    }

    fn start(&self, part_by: Option<&str>) -> Box<dyn Engine> {
        Box::new(ReactiveState::new(self.settings.clone(), part_by))
    }
}

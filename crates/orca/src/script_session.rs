//! A session of scripts: its variables, its current catalog, and what its scripts say.

use crate::failure::Failure;
use crate::platform::Platform;
use graph::GraphCalls;
use lang::{Source, Value};
use std::sync::Arc;

/// What a script says beside its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A line it printed.
    Printed(String),
    /// What its author may want to know.
    Warned(String),
}

/// Hears what scripts say, as they say it.
pub type Listener = Box<dyn FnMut(Said) + Send>;

/// Prints go to standard output, warnings to standard error.
pub fn terminal() -> Listener {
    Box::new(|said| match said {
        Said::Printed(line) => println!("{line}"),
        Said::Warned(warning) => eprintln!("warning: {warning}"),
    })
}

/// Scripts that follow one another: each sees the variables of those before it.
pub struct ScriptSession {
    calls: GraphCalls<Platform>,
    session: lang::Session,
}

impl ScriptSession {
    pub(crate) fn new(platform: Platform) -> ScriptSession {
        ScriptSession { calls: GraphCalls::new(platform), session: lang::Session::new() }
    }

    /// Runs a script and gives its last value.
    pub fn run(&mut self, source: &Arc<Source>) -> Result<Value, Failure> {
        Ok(self.calls.run(&mut self.session, source)?)
    }

    /// The catalog that bare names belong to.
    pub fn catalog(&self) -> Option<&str> {
        self.calls.catalog()
    }
}

//! What a script may take: steps, memory and time.
//!
//! Invariants:
//! - An error of a limit cannot be caught by the script: once one is passed, every further step is refused.
//! - Memory is counted when values are made. When what was made since the last look may be too much, the values that
//!   are still held are looked through, each buffer counted once.

use super::{Frame, Interpreter};
use crate::diagnostic::Diagnostic;
use crate::function::Result;
use crate::matrix::COLUMN_BYTES;
use crate::value::{Value, column_bytes};
use data::{Column, Type};
use std::collections::HashSet;

/// How many steps a script may take unless its session says otherwise.
const STEPS_MAX: u64 = 100_000_000;
/// How many bytes a script's values may take unless its session says otherwise.
const BYTES_MAX: usize = 2 << 30;
/// After how much work the host is asked whether time is over.
const WORK_UNASKED: usize = 4096;
/// How many bytes are as much work as a step.
const BYTES_PER_STEP: usize = 1024;

/// What a script has taken of what it may take.
#[derive(Debug)]
pub(super) struct Limits {
    steps: u64,
    steps_max: u64,
    bytes_max: usize,
    /// Bytes of the values that variables held at the last look.
    held: usize,
    /// Bytes made since.
    made: usize,
    /// Bytes of the values that expressions at work have made so far and no variable holds.
    pub(super) pending: usize,
    /// Work since the host was asked for the time.
    work: usize,
    /// Is a limit passed?
    passed: bool,
}

impl Limits {
    pub(super) fn new(steps: Option<u64>, bytes: Option<usize>) -> Limits {
        Limits {
            steps: 0,
            steps_max: steps.unwrap_or(STEPS_MAX),
            bytes_max: bytes.unwrap_or(BYTES_MAX),
            held: 0,
            made: 0,
            pending: 0,
            work: 0,
            passed: false,
        }
    }
}

impl Interpreter<'_> {
    /// Counts a step.
    pub(super) fn step(&mut self) -> Result<()> {
        self.limits.steps += 1;
        if self.limits.steps > self.limits.steps_max {
            let limit = self.limits.steps_max;
            return self.pass(format!("script took too many steps: limit=`{limit}`"));
        }
        if self.limits.passed {
            return self.pass("script has passed a limit".to_string());
        }
        self.work(1)
    }

    /// Is a limit passed?
    pub(super) fn exhausted(&self) -> bool {
        self.limits.passed
    }

    fn pass<T>(&mut self, message: String) -> Result<T> {
        self.limits.passed = true;
        Err(Diagnostic::new(message))
    }

    fn work(&mut self, work: usize) -> Result<()> {
        self.limits.work += work;
        if self.limits.work < WORK_UNASKED {
            return Ok(());
        }
        self.limits.work = 0;
        match self.host.late() {
            Some(limit) => self.pass(format!("script took too long: limit_ms=`{limit}`")),
            None => Ok(()),
        }
    }

    /// Counts the bytes of a value that is or will be made.
    pub(super) fn make(&mut self, bytes: usize) -> Result<()> {
        self.limits.made = self.limits.made.saturating_add(bytes);
        if self.limits.held.saturating_add(self.limits.made) > self.limits.bytes_max {
            self.limits.held = self.held().saturating_add(self.limits.pending);
            self.limits.made = bytes;
            if self.limits.held.saturating_add(bytes) > self.limits.bytes_max {
                let limit = self.limits.bytes_max;
                return self.pass(format!("script takes too much memory: limit_bytes=`{limit}`"));
            }
        }
        self.work(bytes / BYTES_PER_STEP)
    }

    /// Bytes of all values that variables hold.
    fn held(&self) -> usize {
        let mut seen = Seen::default();
        let frames = self.callers.iter().chain([&self.frame]);
        for Frame { variables, rows, .. } in frames {
            variables.values().for_each(|value| seen.value(value));
            rows.iter().flat_map(|rows| rows.batch.columns()).for_each(|column| seen.column(column));
        }
        seen.bytes
    }
}

/// What was counted already.
#[derive(Default)]
struct Seen {
    places: HashSet<usize>,
    bytes: usize,
}

impl Seen {
    fn value(&mut self, value: &Value) {
        self.bytes += size_of::<Value>();
        match value {
            Value::Vector(column) => self.column(column),
            Value::Tuple(values) => values.iter().for_each(|value| self.value(value)),
            Value::Matrix(matrix) => {
                self.bytes += matrix.columns().len() * COLUMN_BYTES;
                matrix.columns().iter().for_each(|column| self.column(column));
            }
            Value::Pair(a, b) => {
                self.value(a);
                self.value(b);
            }
            Value::Table(table) => {
                if self.places.insert(table.address()) {
                    table.batch().columns().iter().for_each(|column| self.column(column));
                }
            }
            Value::Dict(dict) => {
                if self.places.insert(std::sync::Arc::as_ptr(dict) as usize) {
                    let dict = dict.lock();
                    self.bytes += dict.entries.len() * size_of::<Value>();
                    dict.entries.iter().for_each(|(_, value)| self.value(value));
                }
            }
            Value::Function(function) => function.given.iter().flatten().for_each(|value| self.value(value)),
            other => self.bytes += other.bytes() - size_of::<Value>(),
        }
    }

    fn column(&mut self, column: &Column) {
        let place = match column.ty() {
            Type::String => column.texts().value_data().as_ptr() as usize,
            ty if ty.element().is_some() || column.is_empty() => 0,
            _ => column.to_arrow().to_data().buffers().first().map_or(0, |buffer| buffer.as_ptr() as usize),
        };
        if place == 0 || self.places.insert(place) {
            self.bytes += column_bytes(column);
        }
    }
}

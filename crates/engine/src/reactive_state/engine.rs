//! The running reactive state engine.
//!
//! Its state as bytes, under the layout of keyed state that all engines share:
//! ```text
//! shared:          epochs u64 | now i64 | last append option (given u8 | i64)
//! state of a key:  that of the state functions
//! ```

use super::settings::Settings;
use crate::birth::birth;
use crate::encoding::{put_i64, put_option, put_u64, take_i64, take_option, take_u64};
use crate::frozen_keys::{groups, keys_of, must_be_read, version_must_be};
use crate::key_ordinals::{FrozenKeys, KeyOrdinals};
use crate::kind::{Clock, Command, Engine, Frozen, FrozenEngine, Port};
use crate::rows::{Chunk, Output};
use data::{Batch, Column};
use lang::{Diagnostic, Host, Program, ProgramStates, RowProgram, Value};
use std::sync::Arc;

const VERSION: u16 = 1;

/// Keys are purged only if they are at least this part of all.
const PURGED_PART: usize = 10;

/// The engine.
pub(crate) struct ReactiveState {
    settings: Arc<Settings>,
    keys: KeyOrdinals,
    program: Program,
    purge: Option<RowProgram>,
    /// How many epochs have begun.
    epochs: u64,
    /// The clock of this epoch.
    now: i64,
    /// The clock at the last append; at the first tick before there was one.
    appended: Option<i64>,
    /// The key of each row at hand.
    ordinals: Vec<u32>,
}

impl ReactiveState {
    /// An engine with empty state.
    pub(crate) fn new(settings: Arc<Settings>, part_by: Option<&str>) -> ReactiveState {
        let types: Vec<_> = settings.keys.iter().map(|&key| settings.input.schema.fields()[key].ty).collect();
        let part = part_by.and_then(|name| settings.input.schema.index_of(name));
        let part = part.and_then(|column| settings.keys.iter().position(|&key| key == column));
        ReactiveState {
            keys: KeyOrdinals::new(&types, part),
            program: settings.program(),
            purge: settings.purge_program(),
            epochs: 0,
            now: 0,
            appended: None,
            ordinals: vec![],
            settings,
        }
    }

    /// Runs rows through the state and gives the metrics, with the filter last if there is one.
    fn run(&mut self, chunk: &Chunk, host: &mut dyn Host) -> Result<Vec<Column>, Diagnostic> {
        let columns: Vec<&Column> = self.settings.keys.iter().map(|&key| chunk.batch.column(key)).collect();
        let epochs = self.epochs;
        let birth = |row: u32| birth(epochs, chunk, row);
        self.keys.resolve(&columns, chunk.rows(), chunk.len(), birth, &mut self.ordinals)?;
        self.program.run(&chunk.batch, chunk.rows(), &self.ordinals, host)
    }

    /// Forgets keys that the purge filter finds in this output, if it is time and they are enough.
    fn purge(&mut self, output: &Batch, keys: &[u32], host: &mut dyn Host) -> Result<(), Diagnostic> {
        let Some(purge) = &mut self.purge else { return Ok(()) };
        let last = self.appended.replace(self.now).unwrap_or(self.now);
        if self.now.saturating_sub(last) < self.settings.purge_every_ms {
            return Ok(());
        }
        let rows = purge.pick(output, None, host)?;
        let mut found: Vec<u32> = rows.iter().map(|&row| keys[row as usize]).collect();
        found.sort_unstable();
        found.dedup();
        if !found.is_empty() && found.len() * PURGED_PART >= self.keys.live() {
            self.program.reset(&found);
            self.keys.remove(&found);
        }
        Ok(())
    }
}

/// The rows that meet a condition; NULL does not.
fn met(condition: &Column) -> impl Iterator<Item = u32> {
    let met = |row: &usize| condition.bools().value(*row) && !condition.is_null(*row);
    (0..condition.len()).filter(met).map(|row| row as u32)
}

impl Engine for ReactiveState {
    fn push(&mut self, _port: Port, chunk: &Chunk, out: &mut Output) -> Result<(), Diagnostic> {
        out.counts.rows_in += chunk.len() as u64;
        if chunk.is_empty() {
            return Ok(());
        }
        let mut metrics = self.run(chunk, out.host)?;
        let filter = self.settings.filter.then(|| metrics.pop().expect("the filter is the last metric"));
        let keys = self.settings.keys.iter().map(|&key| match chunk.rows() {
            Some(rows) => chunk.batch.column(key).take(rows),
            None => chunk.batch.column(key).clone(),
        });
        let batch = Batch::new(self.settings.schema.clone(), keys.chain(metrics).collect())?;
        let all = Chunk { batch, selection: None, origins: chunk.compact_origins() };
        let (given, keys) = match filter {
            None => (all, None),
            Some(condition) => {
                let rows: Vec<u32> = met(&condition).collect();
                let keys: Vec<u32> = rows.iter().map(|&row| self.ordinals[row as usize]).collect();
                (Chunk { selection: Some(rows.into()), ..all }.compact(), Some(keys))
            }
        };
        if self.purge.is_some() {
            let keys = keys.unwrap_or_else(|| self.ordinals.clone());
            self.purge(&given.batch, &keys, out.host)?;
        }
        out.push(given.batch, given.origins);
        Ok(())
    }

    fn tick(&mut self, now: Clock, _out: &mut Output) -> Result<(), Diagnostic> {
        self.epochs += 1;
        self.now = now.0;
        if self.purge.is_some() {
            self.appended.get_or_insert(now.0);
        }
        Ok(())
    }

    /// `warmup` with a table of the input's columns: its rows change the state and give no output.
    fn command(&mut self, command: &Command, out: &mut Output) -> Result<(), Diagnostic> {
        if command.name != "warmup" {
            let name = &command.name;
            return Err(Diagnostic::new(format!("reactiveStateEngine does not know the command: command=`{name}`")));
        }
        let [Value::Table(table)] = command.arguments.as_slice() else {
            return Err(Diagnostic::new("warmup expects a table"));
        };
        let rows = table.batch();
        if !rows.schema().same_as(&self.settings.input.schema) {
            let (wanted, found) = (self.settings.input.schema.names().join(", "), rows.schema().names().join(", "));
            return Err(Diagnostic::new(format!(
                "warmup expects the columns of the input: wanted=`{wanted}`, found=`{found}`"
            )));
        }
        self.run(&Chunk::whole(rows, 0), out.host)?;
        Ok(())
    }

    fn freeze(&mut self) -> Box<dyn FrozenEngine> {
        let mut shared = vec![];
        put_u64(&mut shared, self.epochs);
        put_i64(&mut shared, self.now);
        put_option(&mut shared, self.appended);
        Box::new(FrozenReactiveState { shared, keys: self.keys.freeze(), program: self.program.snapshot() })
    }

    fn thaw(&mut self, frozen: &[Frozen]) -> Result<(), Diagnostic> {
        version_must_be(VERSION, frozen)?;
        for part in frozen {
            let mut shared = part.shared.as_slice();
            let bytes = &mut shared;
            self.epochs = self.epochs.max(take_u64(bytes)?);
            self.now = self.now.max(take_i64(bytes)?);
            self.appended = self.appended.max(take_option(bytes)?);
        }
        for mut key in keys_of(frozen)? {
            let ordinal = self.keys.decode(key.birth, &mut key.values)?;
            self.program.decode(ordinal, &mut key.state)?;
            must_be_read(key.state)?;
        }
        Ok(())
    }
}

/// A picture of the state.
struct FrozenReactiveState {
    shared: Vec<u8>,
    keys: FrozenKeys,
    program: ProgramStates,
}

impl FrozenEngine for FrozenReactiveState {
    fn encode(&self) -> Frozen {
        let groups = groups(&self.keys, |key, bytes| self.program.encode(key, bytes));
        Frozen { version: VERSION, shared: self.shared.clone(), groups }
    }
}

//! Stream tables: rows by offset, appended by writers who may try again, kept in memory and in a log on disk.
//!
//! Invariants:
//! - An append is one atomic `(writer, seq, rows)`. What a writer appends again under a number it has used is not
//!   appended; it gets the rows that the table holds for the number.
//! - Rows are handed to the log before anyone sees them. A reader sees whole appends only.
//! - A SYMBOL's code means the same text in all rows of the table, and after a restart.
//! - Whatever is not on disk follows from what is: `open` makes the table that was, but for what no log record holds.

mod appends;
mod check;
mod columns;
mod index;
mod keys;
mod record;
mod spec;
mod tail;

pub use appends::Writer;
pub use check::check_of;
pub use spec::{TableKind, TableOptions, TableSpec};

use crate::commit::GroupCommit;
use crate::error::{Error, Result};
use crate::log::{Flush, Log, Opened, Place, read_file, read_stretch, replace_file};
use appends::{Appends, Seen};
use data::{Batch, Column, Dictionary, Remap, Type};
use env::{Clock, Disk};
use index::Index;
use keys::KeyWindow;
use parking_lot::{Mutex, RwLock};
use record::{Base, Commit, Logged, LoggedAppend, Names, Record};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tail::Tail;

/// What became of an append.
#[derive(Debug, Clone, PartialEq)]
pub enum Appended {
    /// It is new.
    New {
        /// The offsets of the rows that the table took.
        offsets: Range<u64>,
        /// These rows, their symbols in the table's dictionary.
        rows: Batch,
        /// Their places among the rows given; `None` if it took all.
        accepted: Option<Vec<u32>>,
    },
    /// The table held it already.
    Held {
        /// The offsets of its rows.
        offsets: Range<u64>,
        /// Its rows.
        rows: Batch,
    },
}

/// Hears of each append that brought rows, in order, while the table is locked for writing: it must not call the
/// table. Once it answers false it is not called again.
pub type Listener = Box<dyn FnMut(Range<u64>) -> bool + Send>;

/// A stream table. Any number of threads may append, read and listen.
pub struct Table {
    spec: TableSpec,
    names: Names,
    clock: Arc<dyn Clock>,
    disk: Option<OnDisk>,
    /// From the dictionary of the rows appended last to the table's.
    remap: Mutex<Remap>,
    writing: GroupCommit<Writing, Request, Result<Appended>>,
    shown: RwLock<Shown>,
}

struct OnDisk {
    disk: Arc<dyn Disk>,
    folder: String,
}

/// What only the thread that appends needs.
struct Writing {
    log: Option<Log>,
    logged: Logged,
    keys: Option<KeyWindow>,
    listeners: Vec<Listener>,
}

/// What readers see. Changed by the thread that appends alone, in one step an append.
#[derive(Debug, Default)]
struct Shown {
    era: u64,
    start: u64,
    tail: Tail,
    appends: Appends,
    index: Index,
    holds: BTreeMap<String, u64>,
}

struct Request {
    writer: Writer,
    seq: u64,
    check: u64,
    rows: Batch,
}

/// Appends that are checked and not yet written.
#[derive(Default)]
struct Staged {
    appends: Vec<LoggedAppend>,
    rows: Vec<Batch>,
    accepted: Vec<Option<Vec<u32>>>,
    requests: Vec<usize>,
}

impl Table {
    /// A new table in this folder, or in memory alone if its flush mode is `Off`.
    pub fn create(disk: Arc<dyn Disk>, folder: &str, spec: TableSpec, clock: Arc<dyn Clock>) -> Result<Table> {
        if spec.options.flush == Flush::Off {
            return Table::in_memory(spec, clock);
        }
        spec.check()?;
        let path = spec_path(folder);
        match disk.len(&path) {
            Err(env::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Err(Error::Exists { table: spec.name.to_string(), folder: folder.to_string() }),
        }
        disk.replace(&path, spec.to_text().as_bytes())?;
        Ok(Table::open(disk, folder, clock)?.0)
    }

    /// A new table in memory alone.
    pub fn in_memory(spec: TableSpec, clock: Arc<dyn Clock>) -> Result<Table> {
        spec.check()?;
        Ok(Table::new(spec, Names::new(), clock, None, None, Shown::default()))
    }

    /// The table that was made in this folder, as its log has it.
    pub fn open(disk: Arc<dyn Disk>, folder: &str, clock: Arc<dyn Clock>) -> Result<(Table, Opened)> {
        let path = spec_path(folder);
        let spec = TableSpec::from_text(&path, &disk.read(&path)?)?;
        let names = Names::new();
        let base = read_base(disk.as_ref(), folder, &names)?;
        let mut shown = Shown { era: base.era, start: base.start, tail: Tail::at(base.start), ..Shown::default() };
        base.last_seqs.iter().for_each(|(writer, seq)| shown.appends.remember(*writer, *seq));
        let log_folder = log_folder(folder);
        let options = &spec.options;
        let replay = |place: Place, payload: &[u8]| {
            let damaged = |reason: &str| Error::Damaged {
                path: log_folder.clone(),
                place: place.bytes.start,
                reason: reason.to_string(),
            };
            if place.bytes.start < base.place {
                // Left over from segments that were about to be dropped.
                return Ok(());
            }
            match Record::decode(payload, &spec.schema, &names).map_err(damaged)? {
                Record::Commit(commit) if commit.first != shown.tail.end() => {
                    Err(damaged("rows are missing before it"))
                }
                Record::Commit(commit) => {
                    shown.era = commit.era;
                    shown.take(commit, Some(place), options.cache_rows);
                    Ok(())
                }
                Record::Cut { era, offset } => {
                    if offset < shown.start || offset > shown.tail.end() {
                        return Err(damaged("cut of rows that are not there"));
                    }
                    let kept = shown.kept_for_cut(&spec, offset);
                    let plan = shown.plan(kept.clone());
                    let rows = plan.read(|stretch| read_rows(disk.as_ref(), &log_folder, &spec, &names, stretch))?;
                    shown.cut(era, offset, kept.start, rows);
                    Ok(())
                }
            }
        };
        let (log, opened) = Log::open(disk.clone(), &log_folder, options.flush, options.segment_bytes, replay)?;
        let disk = OnDisk { disk, folder: folder.to_string() };
        Ok((Table::new(spec, names, clock, Some(disk), Some(log), shown), opened))
    }

    fn new(
        spec: TableSpec,
        names: Names,
        clock: Arc<dyn Clock>,
        disk: Option<OnDisk>,
        log: Option<Log>,
        shown: Shown,
    ) -> Table {
        let keys = shown.key_window(&spec);
        let writing = Writing { log, logged: names.len(), keys, listeners: vec![] };
        let (writing, shown) = (GroupCommit::new(writing), RwLock::new(shown));
        Table { spec, names, clock, disk, remap: Mutex::default(), writing, shown }
    }

    /// What it is.
    pub fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Its columns.
    pub fn schema(&self) -> &Arc<data::Schema> {
        &self.spec.schema
    }

    /// The dictionary of its SYMBOL columns.
    pub fn dictionary(&self) -> &Arc<Dictionary> {
        &self.names.symbols
    }

    /// Appends rows as one piece, unless the writer has used this number before. `check` is the writer's hash of what
    /// it writes, so that another piece under a used number is an error; 0 if it has none.
    pub fn append(&self, writer: &Writer, seq: u64, check: u64, rows: &Batch) -> Result<Appended> {
        let rows = self.adopt(rows)?;
        let request = Request { writer: writer.clone(), seq, check, rows };
        self.writing.run(request, |writing, requests| self.commit(writing, requests))
    }

    /// The rows under the table's schema, symbols in its dictionary.
    fn adopt(&self, rows: &Batch) -> Result<Batch> {
        let schema = &self.spec.schema;
        let mismatch = |column: &str, wanted: String, found: String| Error::Schema {
            table: self.spec.name.to_string(),
            column: column.to_string(),
            wanted,
            found,
        };
        if rows.columns().len() != schema.len() {
            let count = |columns: usize| format!("{columns} columns");
            return Err(mismatch("", count(schema.len()), count(rows.columns().len())));
        }
        let adopt = |(field, column): (&data::Field, &Column)| match (field.ty, column.ty()) {
            (Type::Symbol, Type::Symbol | Type::String) => {
                Ok(column.in_dictionary_by(&self.names.symbols, &mut self.remap.lock())?)
            }
            (Type::String, Type::Symbol) => Ok(column.to_strings().expect("symbols have texts")),
            (wanted, found) if wanted == found => Ok(column.clone()),
            (wanted, found) => Err(mismatch(&field.name, wanted.to_string(), found.to_string())),
        };
        let columns = schema.fields().iter().zip(rows.columns()).map(adopt).collect::<Result<Vec<_>>>()?;
        Ok(Batch::new(schema.clone(), columns)?)
    }

    /// Writes requests, as many as can at once, and answers each.
    fn commit(&self, writing: &mut Writing, requests: Vec<Request>) -> Vec<Result<Appended>> {
        let mut answers: Vec<Option<Result<Appended>>> = vec![None; requests.len()];
        let mut staged = Staged::default();
        for (number, request) in requests.into_iter().enumerate() {
            let answer = match self.names.writers.intern(request.writer.name()) {
                Err(error) => Some(Err(error.into())),
                Ok(writer) => {
                    // What this writer has staged must be seen before its next number is judged.
                    if staged.appends.iter().any(|append| append.writer == writer) {
                        self.write(writing, &mut staged, &mut answers);
                    }
                    match self.held(writer, &request) {
                        Err(error) => Some(Err(error)),
                        Ok(Some(held)) => Some(Ok(held)),
                        Ok(None) => {
                            staged.add(number, writer, request, &mut writing.keys);
                            None
                        }
                    }
                }
            };
            answers[number] = answer;
        }
        self.write(writing, &mut staged, &mut answers);
        answers.into_iter().map(|answer| answer.expect("each request was answered or written")).collect()
    }

    /// What the table holds for a request's sequence number; `None` if that is new.
    fn held(&self, writer: u32, request: &Request) -> Result<Option<Appended>> {
        let shown = self.shown.read();
        let held = match shown.appends.find(writer, request.seq, shown.tail.end()) {
            Seen::No => return Ok(None),
            Seen::Yes(held) if held.offsets.is_empty() || held.offsets.start >= shown.start => Some(held),
            Seen::NoMore | Seen::Yes(_) => None,
        };
        drop(shown);
        let names = || (self.spec.name.to_string(), request.writer.name().to_string());
        let Some(held) = held else {
            let (table, writer) = names();
            return Err(Error::HeldNoMore { table, writer, seq: request.seq });
        };
        if request.check != 0 && held.check != 0 && request.check != held.check {
            let (table, writer) = names();
            return Err(Error::Differs { table, writer, seq: request.seq });
        }
        let batches: Vec<Batch> = self.read(held.offsets.clone())?.into_iter().map(|(_, batch)| batch).collect();
        let rows = Batch::concat(self.spec.schema.clone(), &batches)?;
        Ok(Some(Appended::Held { offsets: held.offsets, rows }))
    }

    /// Writes what is staged as one record, shows it, and tells the listeners.
    fn write(&self, writing: &mut Writing, staged: &mut Staged, answers: &mut [Option<Result<Appended>>]) {
        if staged.appends.is_empty() {
            return;
        }
        let staged = std::mem::take(staged);
        let mut end = match self.try_write(writing, &staged) {
            Ok(first) => first,
            Err(error) => {
                // The key window has moved on already: make it anew of what the table has.
                writing.keys = self.shown.read().key_window(&self.spec);
                staged.requests.iter().for_each(|request| answers[*request] = Some(Err(error.clone())));
                return;
            }
        };
        for ((request, rows), accepted) in staged.requests.iter().zip(staged.rows).zip(staged.accepted) {
            let offsets = end..end + rows.rows() as u64;
            end = offsets.end;
            if !offsets.is_empty() {
                writing.listeners.retain_mut(|listener| listener(offsets.clone()));
            }
            answers[*request] = Some(Ok(Appended::New { offsets, rows, accepted }));
        }
    }

    /// The offset of the first row written.
    fn try_write(&self, writing: &mut Writing, staged: &Staged) -> Result<u64> {
        let (era, first) = {
            let shown = self.shown.read();
            (shown.era, shown.tail.end())
        };
        let rows = Batch::concat(self.spec.schema.clone(), &staged.rows)?;
        let commit = Commit { era, wall_ms: self.clock.wall_ms(), first, appends: staged.appends.clone(), rows };
        let mut place = None;
        if let Some(log) = &mut writing.log {
            let now = self.names.len();
            place =
                Some(log.append(&[&commit.encode(&self.names, writing.logged, now, self.spec.options.compress)])?);
            writing.logged = now;
        }
        self.shown.write().take(commit, place, self.spec.options.cache_rows);
        Ok(first)
    }

    /// The offset after the last row.
    pub fn end(&self) -> u64 {
        self.shown.read().tail.end()
    }

    /// The first offset that can be read.
    pub fn start(&self) -> u64 {
        self.shown.read().start
    }

    /// How often the table was cut back: offsets of different eras are not of the same rows.
    pub fn era(&self) -> u64 {
        self.shown.read().era
    }

    /// Era, start and end at one moment.
    pub fn extent(&self) -> (u64, u64, u64) {
        let shown = self.shown.read();
        (shown.era, shown.start, shown.tail.end())
    }

    /// The rows of these offsets: batches in order, each with its first offset. Those no longer in memory come from
    /// the log.
    pub fn read(&self, offsets: Range<u64>) -> Result<Vec<(u64, Batch)>> {
        let shown = self.shown.read();
        let (start, end) = (shown.start, shown.tail.end());
        if offsets.start < start || offsets.start > end || offsets.end > end {
            let Range { start: from, end: to } = offsets;
            return Err(Error::Offsets { table: self.spec.name.to_string(), from, to, start, end });
        }
        let plan = shown.plan(offsets);
        drop(shown);
        let Some(OnDisk { disk, folder }) = &self.disk else { return Ok(plan.in_memory) };
        plan.read(|stretch| read_rows(disk.as_ref(), &log_folder(folder), &self.spec, &self.names, stretch))
    }

    /// All rows in memory at one moment, and the offset of the first: all that the table has, unless `cache_rows`
    /// bounds them. Nothing is copied.
    pub fn batches(&self) -> (u64, Vec<Batch>) {
        let shown = self.shown.read();
        (shown.tail.start(), shown.tail.batches())
    }

    /// Where the appends with rows in this range end.
    pub fn append_ends(&self, offsets: Range<u64>) -> Vec<u64> {
        self.shown.read().appends.ends(&offsets)
    }

    /// The last sequence number of a writer.
    pub fn writer_seq(&self, writer: &Writer) -> Option<u64> {
        let writer = self.names.writers.find(writer.name())?;
        self.shown.read().appends.last(writer)
    }

    /// The offsets of what a writer appended under this number; `None` if it did not, or if they are no longer kept.
    pub fn append_of(&self, writer: &Writer, seq: u64) -> Option<Range<u64>> {
        let writer = self.names.writers.find(writer.name())?;
        self.shown.read().appends.append(writer, seq)
    }

    /// Where the first append of a writer after this number begins; `None` if there is none that is kept.
    pub fn first_after(&self, writer: &Writer, seq: u64) -> Option<u64> {
        let writer = self.names.writers.find(writer.name())?;
        self.shown.read().appends.first_after(writer, seq)
    }

    /// Has each append from this offset on told to the listener: those that are there at once, the others as they
    /// come.
    pub fn listen(&self, from: u64, mut listener: Listener) {
        let mut writing = self.writing.lock();
        let ends = self.append_ends(from..self.end());
        let starts = [from].into_iter().chain(ends.iter().copied());
        if starts.zip(&ends).all(|(start, end)| listener(start..*end)) {
            writing.listeners.push(listener);
        }
    }

    /// Returns when all appends up to now survive a power loss; gives the offset after them.
    pub fn sync(&self) -> Result<u64> {
        let mut writing = self.writing.lock();
        writing.log.as_mut().map_or(Ok(()), Log::sync)?;
        Ok(self.end())
    }

    /// Cuts the table back to this offset: later rows are void, their writers' numbers free, and a new era begins.
    pub fn cut_to(&self, offset: u64) -> Result<()> {
        let mut writing = self.writing.lock();
        let (kept, era) = {
            let shown = self.shown.read();
            let (start, end) = (shown.start, shown.tail.end());
            let table = || self.spec.name.to_string();
            if offset < start || offset > end {
                return Err(Error::Offsets { table: table(), from: offset, to: offset, start, end });
            }
            if !shown.appends.is_between(offset) {
                return Err(Error::CutInside { table: table(), offset });
            }
            (shown.kept_for_cut(&self.spec, offset), shown.era + 1)
        };
        let rows = self.read(kept.clone())?;
        if let Some(log) = &mut writing.log {
            log.append(&[&record::encode_cut(era, self.clock.wall_ms(), offset)])?;
            log.sync()?;
        }
        let mut shown = self.shown.write();
        shown.cut(era, offset, kept.start, rows);
        writing.keys = shown.key_window(&self.spec);
        Ok(())
    }

    /// Keeps rows from this offset on from being dropped for their age, until the hold of this name moves.
    pub fn hold(&self, name: &str, offset: u64) {
        self.shown.write().holds.insert(name.to_string(), offset);
    }

    /// Ends a hold.
    pub fn release(&self, name: &str) {
        self.shown.write().holds.remove(name);
    }

    /// Drops the log's segments whose rows are all older than the retention time and not held.
    pub fn purge(&self) -> Result<()> {
        let mut writing = self.writing.lock();
        let (Some(minutes), Some(disk)) = (self.spec.options.retention_minutes, &self.disk) else { return Ok(()) };
        let wall_ms_min = self.clock.wall_ms().saturating_sub(minutes as i64 * 60_000);
        let base = {
            let shown = self.shown.read();
            let held = shown.holds.values().copied().min().unwrap_or(u64::MAX);
            let Some(first) = shown.index.droppable(wall_ms_min, held) else { return Ok(()) };
            let (era, start, place) = (first.era, first.offsets.start, first.place.bytes.start);
            Base { era, start, place, last_seqs: shown.appends.last_before(start) }
        };
        // The base first: a crash in between leaves segments that the next start passes over.
        replace_file(disk.disk.as_ref(), &base_path(&disk.folder), &base.encode(&self.names, writing.logged))?;
        {
            let mut shown = self.shown.write();
            shown.start = base.start;
            shown.index.drop_before(base.start);
            shown.appends.drop_before(base.start);
            shown.tail.drop_before(base.start);
        }
        if let Some(keys) = &mut writing.keys {
            keys.drop_before(base.start);
        }
        writing.log.as_mut().expect("a table with a folder has a log").drop_before(base.place)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("name", &self.spec.name).field("extent", &self.extent()).finish_non_exhaustive()
    }
}

impl Staged {
    /// Judges a request's rows and stages those that enter.
    fn add(&mut self, number: usize, writer: u32, request: Request, keys: &mut Option<KeyWindow>) {
        let Request { writer: by, seq, check, mut rows } = request;
        // What a graph appends is an epoch, and where epochs end must not show: its rows are judged one by one.
        let as_batch = !by.is_node();
        let accepted =
            keys.as_mut().map(|keys| keys.accept(&rows, as_batch)).filter(|accepted| accepted.len() < rows.rows());
        if let Some(accepted) = &accepted {
            rows = rows.take(accepted);
        }
        self.appends.push(LoggedAppend { writer, seq, check, rows: rows.rows() as u64 });
        self.rows.push(rows);
        self.accepted.push(accepted);
        self.requests.push(number);
    }
}

impl Shown {
    /// Takes in a record that is on disk, or that needs not be.
    fn take(&mut self, commit: Commit, place: Option<Place>, cache_rows: Option<usize>) {
        if let Some(place) = place {
            self.index.push(place, commit.first..commit.end(), commit.era, commit.wall_ms);
        }
        let mut offset = commit.first;
        for append in &commit.appends {
            self.appends.push(append.writer, append.seq, append.check, offset..offset + append.rows);
            offset += append.rows;
        }
        self.tail.push(commit.rows);
        if let Some(rows) = cache_rows {
            // Rows that are nowhere else stay as long as someone holds them.
            let held = self.holds.values().copied().min().filter(|_| self.index.is_empty());
            let held_rows = held.map_or(0, |held| self.tail.end().saturating_sub(held) as usize);
            self.tail.keep(rows.max(held_rows));
        }
        if self.index.is_empty() {
            // Nothing is on disk: what leaves memory is gone.
            self.start = self.tail.start();
            self.appends.drop_before(self.start);
        }
    }

    /// The rows that must be in memory after a cut to this offset: those whose keys are compared.
    fn kept_for_cut(&self, spec: &TableSpec, offset: u64) -> Range<u64> {
        let cached = spec.options.cache_rows.map_or(0, |rows| offset.saturating_sub(rows as u64));
        self.start.max(cached).min(offset)..offset
    }

    /// Cuts back to an offset; `rows` are those from `first` up to it.
    fn cut(&mut self, era: u64, offset: u64, first: u64, rows: Vec<(u64, Batch)>) {
        self.era = era;
        self.appends.cut(offset);
        self.index.cut(offset);
        if self.tail.start() <= first {
            self.tail.cut(offset);
        } else {
            self.tail = Tail::at(first);
            rows.into_iter().for_each(|(_, batch)| self.tail.push(batch));
        }
    }

    /// The window of the keys of the rows in memory.
    fn key_window(&self, spec: &TableSpec) -> Option<KeyWindow> {
        let mut window = KeyWindow::new(spec, self.tail.start())?;
        self.tail.batches().iter().for_each(|batch| window.replay(batch));
        Some(window)
    }

    /// How to read these offsets.
    fn plan(&self, offsets: Range<u64>) -> Plan {
        let memory = self.tail.start().clamp(offsets.start, offsets.end.max(offsets.start));
        let in_memory = if memory < offsets.end { self.tail.read(memory..offsets.end) } else { vec![] };
        Plan { on_disk: self.index.stretches(offsets.start..memory), in_memory }
    }
}

/// How to read a range of rows without holding a lock.
struct Plan {
    on_disk: Vec<(Place, Range<u64>)>, // Stretches of the log, and the offsets wanted of each.
    in_memory: Vec<(u64, Batch)>,      // Those that follow.
}

impl Plan {
    fn read(self, rows_of: impl Fn(&Place) -> Result<Vec<(u64, Batch)>>) -> Result<Vec<(u64, Batch)>> {
        let mut batches = vec![];
        for (stretch, wanted) in self.on_disk {
            batches.extend(within(rows_of(&stretch)?, wanted));
        }
        batches.extend(self.in_memory);
        Ok(batches)
    }
}

/// The rows of a stretch of the log, cut or not.
fn read_rows(
    disk: &dyn Disk,
    folder: &str,
    spec: &TableSpec,
    names: &Names,
    stretch: &Place,
) -> Result<Vec<(u64, Batch)>> {
    let mut rows = vec![];
    read_stretch(disk, folder, stretch, |payload| {
        let damaged = |reason: &str| Error::Damaged {
            path: folder.to_string(),
            place: stretch.bytes.start,
            reason: reason.into(),
        };
        if let Record::Commit(commit) = Record::decode(payload, &spec.schema, names).map_err(damaged)? {
            rows.push((commit.first, commit.rows));
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The parts of these batches that lie in a range of offsets.
fn within(batches: Vec<(u64, Batch)>, wanted: Range<u64>) -> impl Iterator<Item = (u64, Batch)> {
    batches.into_iter().filter_map(move |(first, batch)| {
        let (start, end) = (first.max(wanted.start), (first + batch.rows() as u64).min(wanted.end));
        (start < end).then(|| (start, batch.slice((start - first) as usize, (end - start) as usize)))
    })
}

fn read_base(disk: &dyn Disk, folder: &str, names: &Names) -> Result<Base> {
    let path = base_path(folder);
    let mut base = Base::default();
    let read = read_file(disk, &path, |payload| {
        let damaged = |reason: &str| Error::Damaged { path: path.clone(), place: 0, reason: reason.to_string() };
        base = Base::decode(payload, names).map_err(damaged)?;
        Ok(())
    });
    match read {
        Err(Error::Disk(env::Error::NotFound { .. })) => Ok(base),
        read => read.map(|()| base),
    }
}

fn spec_path(folder: &str) -> String {
    format!("{folder}/table.json")
}

fn base_path(folder: &str) -> String {
    format!("{folder}/base")
}

fn log_folder(folder: &str) -> String {
    format!("{folder}/log")
}

//! A task: nodes in a chain or tree that go through each epoch together.
//!
//! Invariants:
//! - An epoch goes through whole: a task starts it when every input channel has ended it.
//! - In an epoch, commands come first, then what the tick causes, then the rows, at every node in the order of the plan.
//! - A table writes one append an epoch, and passes on exactly the rows it holds for that epoch.

use crate::journal::CommandRecord;
use crate::merge::{merge, runs};
use crate::table::{Appended, Table, Writer, check_of};
use data::{Batch, Column, Scalar, Type};
use engine::{
    Chunk, Clock, ClockOrigin, Command, Counts, Engine, Frozen, FrozenEngine, LateRow, Origins, Output, Port,
    number_of, origin_of,
};
use lang::{Diagnostic, Host};
use std::collections::VecDeque;
use std::sync::Arc;

/// What all tasks of a graph must know of an epoch, made from its journal entry.
#[derive(Debug)]
pub struct Header {
    /// The epoch's number, from 1.
    pub epoch: u64,
    /// The journal's clock at its start.
    pub clock: Clock,
    /// The numbers in the epoch after which an append at a source ended, rising.
    pub append_ends: Vec<u32>,
    /// The rows of each source: source, first number in the epoch, first offset, rows.
    pub runs: Vec<SourceRun>,
    /// Changes of state that are no rows.
    pub commands: Vec<CommandRecord>,
    /// Does the end of the epoch ask for a snapshot?
    pub barrier: bool,
}

/// A stretch of one source's rows in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceRun {
    /// Which source of the graph.
    pub source: u32,
    /// The number in the epoch of its first row.
    pub start: u32,
    /// The offset of its first row in the source's table.
    pub from: u64,
    /// How many rows.
    pub rows: u32,
}

/// All that a channel carries of one epoch: its rows and its end.
#[derive(Debug, Clone)]
pub struct Packet {
    /// The epoch.
    pub header: Arc<Header>,
    /// Rows that the tick caused.
    pub ticked: Vec<Chunk>,
    /// Rows that rows caused.
    pub rows: Vec<Chunk>,
}

/// Where a node's input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feed {
    /// From a node of the same task, by its place.
    Node(usize),
    /// From input channels of the task, by their places, merged by origin.
    Channels(Vec<usize>),
}

/// What a node does.
pub enum Work {
    /// Reads the rows of a source's table.
    Source {
        /// Its number among the graph's sources.
        source: u32,
        /// The table.
        table: Arc<Table>,
    },
    /// Runs an engine.
    Engine {
        /// The engine.
        engine: Box<dyn Engine>,
        /// Must each push bring the rows of one append?
        reads_batches: bool,
    },
    /// Writes a public table and passes on what it holds.
    Table {
        /// The table.
        table: Arc<Table>,
        /// The writer: journal and node.
        writer: Writer,
    },
    /// Passes rows on.
    Pass,
}

/// A node of a task.
pub struct Node {
    /// Its stable name.
    pub name: Arc<str>,
    /// What it does.
    pub work: Work,
    /// Where its rows come from, one feed a port. Nodes named here stand before it.
    pub feeds: Vec<Feed>,
}

/// An outgoing edge of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The node whose rows it carries, by its place.
    pub node: usize,
    /// To whom.
    pub target: Target,
}

/// Who gets the rows of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Each of these channels gets all rows.
    All(Vec<usize>),
    /// Each row goes to the channel of its value's part; rows whose value is NULL are dropped.
    Split {
        /// The column whose values decide.
        column: usize,
        /// One channel a part.
        channels: Vec<usize>,
    },
}

/// What a node has seen since its task started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Row counts.
    pub counts: Counts,
    /// Rows of an edge dropped because the parallel column was NULL.
    pub null_keys: u64,
}

impl NodeCounts {
    /// The counts of two parts of a node together.
    pub fn plus(&self, other: &NodeCounts) -> NodeCounts {
        NodeCounts {
            counts: Counts {
                rows_in: self.counts.rows_in + other.counts.rows_in,
                rows_out: self.counts.rows_out + other.counts.rows_out,
                late: self.counts.late + other.counts.late,
                rejected: self.counts.rejected + other.counts.rejected,
            },
            null_keys: self.null_keys + other.null_keys,
        }
    }
}

/// A late row: the node that dropped it, the epoch, and what is known of it.
pub type NodeLate = (Arc<str>, u64, LateRow);

/// How many late rows a task keeps for whoever asks; all are counted.
const LATE_ROWS_MAX: usize = 1_000;

/// One parallel instance of a subgraph.
pub struct Task {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    inputs: usize,
    parts: Vec<PartMap>,
    counts: Vec<NodeCounts>,
    late: VecDeque<NodeLate>,
}

/// Why a task stopped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("node failed: node=`{node}`, epoch=`{epoch}`, reason=`{reason}`")]
pub struct TaskError {
    /// The node at fault.
    pub node: String,
    /// The epoch it was in.
    pub epoch: u64,
    /// What happened.
    pub reason: String,
}

impl Task {
    /// A task of these nodes, in an order in which every node stands after those it feeds on. `inputs` is the number of
    /// its input channels; the edges name channels by numbers that [`Task::turn`] gives back.
    pub fn new(nodes: Vec<Node>, inputs: usize, edges: Vec<Edge>) -> Task {
        for (place, node) in nodes.iter().enumerate() {
            for feed in &node.feeds {
                match feed {
                    Feed::Node(before) => assert!(*before < place, "a node feeds on nodes before it"),
                    Feed::Channels(channels) => assert!(channels.iter().all(|&channel| channel < inputs)),
                }
            }
        }
        let parts = edges.iter().map(|_| PartMap::default()).collect();
        let counts = vec![NodeCounts::default(); nodes.len()];
        Task { nodes, edges, inputs, parts, counts, late: VecDeque::new() }
    }

    /// How many input channels.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Takes one epoch, a packet of it from each input channel, and gives the packets of the output channels. A task
    /// without inputs is started with the header alone.
    pub fn turn(
        &mut self,
        header: &Arc<Header>,
        packets: &[Packet],
        host: &mut dyn Host,
    ) -> Result<Vec<(usize, Packet)>, TaskError> {
        assert_eq!(packets.len(), self.inputs, "one packet from each input");
        let mut made: Vec<Made> = Vec::with_capacity(self.nodes.len());
        for (place, node) in self.nodes.iter_mut().enumerate() {
            let counts = &mut self.counts[place].counts;
            let result = node.run(header, packets, &made, host, counts, &mut self.late);
            let fail = |error: Diagnostic| TaskError {
                node: node.name.to_string(),
                epoch: header.epoch,
                reason: error.to_string(),
            };
            made.push(result.map_err(fail)?);
        }
        let mut packets = vec![];
        for (edge, parts) in self.edges.iter().zip(&mut self.parts) {
            let Made { ticked, rows } = &made[edge.node];
            match &edge.target {
                Target::All(channels) => {
                    let packet = Packet { header: header.clone(), ticked: ticked.clone(), rows: rows.clone() };
                    packets.extend(channels.iter().map(|&channel| (channel, packet.clone())));
                }
                Target::Split { column, channels } => {
                    let dropped = &mut self.counts[edge.node].null_keys;
                    let ticked = parts.split(ticked, *column, channels.len(), dropped);
                    let rows = parts.split(rows, *column, channels.len(), dropped);
                    for ((&channel, ticked), rows) in channels.iter().zip(ticked).zip(rows) {
                        packets.push((channel, Packet { header: header.clone(), ticked, rows }));
                    }
                }
            }
        }
        Ok(packets)
    }

    /// When the next tick has something to do at one of the engines.
    pub fn next_due(&self) -> Option<Clock> {
        self.engines().filter_map(|(_, engine)| engine.next_due()).min()
    }

    fn engines(&self) -> impl Iterator<Item = (&Arc<str>, &dyn Engine)> {
        self.nodes.iter().filter_map(|node| match &node.work {
            Work::Engine { engine, .. } => Some((&node.name, engine.as_ref())),
            _ => None,
        })
    }

    /// What each node has seen so far.
    pub fn counts(&self) -> impl Iterator<Item = (&Arc<str>, NodeCounts)> {
        self.nodes.iter().map(|node| &node.name).zip(self.counts.iter().copied())
    }

    /// The newest late rows: node, epoch, row.
    pub fn late(&self) -> &VecDeque<NodeLate> {
        &self.late
    }

    /// Pictures of the engines' states, by node.
    pub fn freeze(&mut self) -> Vec<(Arc<str>, Box<dyn FrozenEngine>)> {
        let mut frozen = vec![];
        for node in &mut self.nodes {
            if let Work::Engine { engine, .. } = &mut node.work {
                frozen.push((node.name.clone(), engine.freeze()));
            }
        }
        frozen
    }

    /// Takes up the state of one node's engine.
    pub fn thaw(&mut self, node: &str, frozen: &[Frozen]) -> Result<(), Diagnostic> {
        for mine in &mut self.nodes {
            if let Work::Engine { engine, .. } = &mut mine.work
                && &*mine.name == node
            {
                return engine.thaw(frozen);
            }
        }
        Err(Diagnostic::new(format!("no such engine in this task: node=`{node}`")))
    }
}

/// What a node made of an epoch.
#[derive(Default)]
struct Made {
    ticked: Vec<Chunk>,
    rows: Vec<Chunk>,
}

impl Node {
    fn run(
        &mut self,
        header: &Arc<Header>,
        packets: &[Packet],
        made: &[Made],
        host: &mut dyn Host,
        counts: &mut Counts,
        late: &mut VecDeque<NodeLate>,
    ) -> Result<Made, Diagnostic> {
        let gather = |feed: &Feed, part: fn(&Packet) -> &Vec<Chunk>, own: fn(&Made) -> &Vec<Chunk>| match feed {
            Feed::Node(place) => Ok(own(&made[*place]).clone()),
            Feed::Channels(channels) => {
                merge(channels.iter().map(|&channel| part(&packets[channel]).clone()).collect())
            }
        };
        let mut ticked = vec![];
        let mut rows = vec![];
        for feed in &self.feeds {
            ticked.push(gather(feed, |packet| &packet.ticked, |made| &made.ticked)?);
            rows.push(gather(feed, |packet| &packet.rows, |made| &made.rows)?);
        }
        match &mut self.work {
            Work::Source { source, table } => {
                let rows = read_source(*source, table, header)?;
                let read: usize = rows.iter().map(Chunk::len).sum();
                counts.rows_in += read as u64;
                counts.rows_out += read as u64;
                Ok(Made { ticked: vec![], rows })
            }
            Work::Pass => {
                let made = Made { ticked: merge(ticked)?, rows: merge(rows)? };
                let passed: usize = made.ticked.iter().chain(&made.rows).map(Chunk::len).sum();
                counts.rows_in += passed as u64;
                counts.rows_out += passed as u64;
                Ok(made)
            }
            Work::Table { table, writer } => {
                let (ticked, rows) = (merge(ticked)?, merge(rows)?);
                write_table(table, writer, header.epoch, ticked, rows, counts)
            }
            Work::Engine { engine, reads_batches } => {
                let mut out = Output::new(host);
                for record in header.commands.iter().filter(|record| record.node == *self.name) {
                    let text = Scalar::Text(record.arguments.as_str().into());
                    let arguments = vec![lang::Value::Scalar(Type::String, text)];
                    engine.command(&Command { name: record.name.clone(), arguments }, &mut out)?;
                }
                let ticked = match reads_batches {
                    // What one tick caused is one batch, wherever upstream cut it.
                    true => ticked.iter().map(|chunks| join(chunks)).collect::<Result<_, _>>()?,
                    false => ticked,
                };
                push_all(engine.as_mut(), &ticked, None, &mut out)?;
                engine.tick(header.clock, &mut out)?;
                let (by_clock, early): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut out.chunks).into_iter().partition(Chunk::by_clock);
                push_all(engine.as_mut(), &rows, reads_batches.then_some(&header.append_ends[..]), &mut out)?;
                let rows_in: usize = ticked.iter().chain(&rows).flatten().map(Chunk::len).sum();
                counts.rows_in += rows_in as u64;
                counts.rows_out += out.counts.rows_out;
                counts.late += out.counts.late;
                counts.rejected += out.counts.rejected;
                late.extend(out.late.iter().map(|&row| (self.name.clone(), header.epoch, row)));
                late.drain(..late.len().saturating_sub(LATE_ROWS_MAX));
                let ticked = merge(by_clock.into_iter().map(|chunk| vec![chunk]).collect())?;
                let rows = early.into_iter().chain(out.chunks).collect();
                Ok(Made { ticked, rows })
            }
        }
    }
}

/// The rows of a source in an epoch, each numbered.
fn read_source(source: u32, table: &Table, header: &Header) -> Result<Vec<Chunk>, Diagnostic> {
    let mut chunks = vec![];
    for run in header.runs.iter().filter(|run| run.source == source) {
        let read = table.read(run.from..run.from + run.rows as u64);
        let batches = read.map_err(|error| Diagnostic::new(error.to_string()))?;
        let mut start = run.start;
        for (_, batch) in batches {
            let rows = batch.rows() as u32;
            chunks.push(Chunk::whole(batch, start));
            start += rows;
        }
        assert_eq!(start, run.start + run.rows, "a source holds all rows that were journaled");
    }
    Ok(chunks)
}

/// Gives an engine the rows of all its ports in the order of their origins; with `append_ends`, each append apart.
fn push_all(
    engine: &mut dyn Engine,
    ports: &[Vec<Chunk>],
    append_ends: Option<&[u32]>,
    out: &mut Output,
) -> Result<(), Diagnostic> {
    let joined: Vec<Vec<Chunk>>;
    let ports = match append_ends {
        None => ports,
        Some(_) => {
            joined = ports.iter().map(|chunks| join(chunks)).collect::<Result<_, _>>()?;
            &joined
        }
    };
    let mut push = |port: usize, chunk: &Chunk| match append_ends {
        None => engine.push(Port(port), chunk, out),
        Some(ends) => {
            for part in by_append(chunk, ends) {
                engine.push(Port(port), &part, out)?;
            }
            Ok(())
        }
    };
    if let [only] = ports {
        return only.iter().filter(|chunk| !chunk.is_empty()).try_for_each(|chunk| push(0, chunk));
    }
    for run in runs(ports) {
        push(run.input, &ports[run.input][run.chunk].slice(run.from, run.to))?;
    }
    Ok(())
}

/// Chunks as one, so that the rows of an append stand together wherever upstream cut them.
fn join(chunks: &[Chunk]) -> Result<Vec<Chunk>, Diagnostic> {
    if chunks.len() <= 1 {
        return Ok(chunks.to_vec());
    }
    let compact: Vec<Chunk> = chunks.iter().map(Chunk::compact).collect();
    let batches: Vec<Batch> = compact.iter().map(|chunk| chunk.batch.clone()).collect();
    let batch = Batch::concat(batches[0].schema().clone(), &batches)?;
    let origins = match &compact[0].origins {
        Origins::Clock(_) => Origins::Clock(compact.iter().flat_map(clock_origins).copied().collect()),
        _ => {
            let of_chunk =
                |chunk: &Chunk| (0..chunk.batch.rows() as u32).map(|row| chunk.origin(row)).collect::<Vec<_>>();
            Origins::Rows(compact.iter().flat_map(of_chunk).collect())
        }
    };
    Ok(vec![Chunk { batch, selection: None, origins }])
}

/// The origins of rows that the tick caused.
fn clock_origins(chunk: &Chunk) -> &[ClockOrigin] {
    match &chunk.origins {
        Origins::Clock(origins) => origins,
        _ => panic!("rows that the tick caused have origins of the clock"),
    }
}

/// A chunk cut at the ends of the appends its rows came in.
fn by_append(chunk: &Chunk, ends: &[u32]) -> Vec<Chunk> {
    let number = |place: usize| chunk.number(chunk.rows().map_or(place as u32, |rows| rows[place]));
    let mut parts = vec![];
    let mut from = 0;
    while from < chunk.len() {
        let end = ends[ends.partition_point(|&end| end <= number(from))];
        let to = (from..chunk.len()).find(|&place| number(place) >= end).unwrap_or(chunk.len());
        parts.push(chunk.slice(from, to));
        from = to;
    }
    parts
}

/// Appends an epoch's rows to a public table and gives the rows that it holds for the epoch.
fn write_table(
    table: &Table,
    writer: &Writer,
    epoch: u64,
    ticked: Vec<Chunk>,
    rows: Vec<Chunk>,
    counts: &mut Counts,
) -> Result<Made, Diagnostic> {
    let ticked: Vec<Chunk> = ticked.iter().map(Chunk::compact).collect();
    let rows: Vec<Chunk> = rows.iter().map(Chunk::compact).collect();
    let batches: Vec<Batch> = ticked.iter().chain(&rows).map(|chunk| chunk.batch.clone()).collect();
    let given = batches.iter().map(Batch::rows).sum::<usize>();
    if given == 0 {
        return Ok(Made::default());
    }
    let given_ticked = ticked.iter().map(|chunk| chunk.batch.rows()).sum::<usize>();
    let batch = Batch::concat(batches[0].schema().clone(), &batches)?;
    let appended =
        table.append(writer, epoch, check_of(&batch), &batch).map_err(|error| Diagnostic::new(error.to_string()))?;
    let (held, accepted) = match appended {
        Appended::New { rows, accepted, .. } => (rows, accepted),
        Appended::Held { rows, .. } => {
            let accepted = (rows.rows() < given).then(|| places_of(&rows, &batch));
            (rows, accepted)
        }
    };
    counts.rows_in += given as u64;
    counts.rows_out += held.rows() as u64;
    counts.rejected += (given - held.rows()) as u64;
    let place = |row: usize| accepted.as_ref().map_or(row, |accepted| accepted[row] as usize);
    let held_ticked = match &accepted {
        None => given_ticked,
        Some(accepted) => accepted.partition_point(|&row| (row as usize) < given_ticked),
    };
    let clocks: Vec<ClockOrigin> = ticked.iter().flat_map(clock_origins).copied().collect();
    let origins: Vec<u64> =
        rows.iter().flat_map(|chunk| (0..chunk.batch.rows() as u32).map(|row| chunk.origin(row))).collect();
    let chunk = |from: usize, to: usize, origins: Origins| {
        let batch = held.slice(from, to - from);
        if batch.rows() == 0 { vec![] } else { vec![Chunk { batch, selection: None, origins }] }
    };
    let clock_origins = Origins::Clock((0..held_ticked).map(|row| clocks[place(row)]).collect());
    let row_origins = Origins::Rows((held_ticked..held.rows()).map(|row| origins[place(row) - given_ticked]).collect());
    Ok(Made { ticked: chunk(0, held_ticked, clock_origins), rows: chunk(held_ticked, held.rows(), row_origins) })
}

/// The places in `given` of the rows a keyed table took from it: for each, the next equal row. The table takes the
/// first row of a key, so an equal row before it cannot be another one.
fn places_of(held: &Batch, given: &Batch) -> Vec<u32> {
    let equal = |held_row: usize, row: usize| {
        let columns = held.columns().iter().zip(given.columns());
        columns.into_iter().all(|(mine, theirs)| mine.get(held_row) == theirs.get(row))
    };
    let mut row = 0;
    let place = |held_row: usize| {
        while !equal(held_row, row) {
            row += 1;
            assert!(row < given.rows(), "a table holds rows of its writer only");
        }
        row += 1;
        row as u32 - 1
    };
    (0..held.rows()).map(place).collect()
}

/// The same rows, each with its place among those of one cause, so that they find back into this order when the parts
/// come together. Rows of a source have a cause each.
fn in_places(chunks: &[Chunk]) -> Vec<Chunk> {
    let mut last: Option<(Cause, u32)> = None;
    let mut place_of = |cause: Cause| {
        let place = match last {
            Some((same, place)) if same == cause => place + 1,
            _ => 0,
        };
        last = Some((cause, place));
        place
    };
    let mut placed = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let row_at = |at: usize| chunk.rows().map_or(at, |rows| rows[at] as usize);
        let origins = match &chunk.origins {
            Origins::Range(start) => Origins::Range(*start),
            Origins::Rows(origins) => {
                let mut origins = origins.to_vec();
                for row in (0..chunk.len()).map(row_at) {
                    let number = number_of(origins[row]);
                    origins[row] = origin_of(number, place_of(Cause::Row(number)));
                }
                Origins::Rows(origins.into())
            }
            Origins::Clock(origins) => {
                let mut origins = origins.to_vec();
                for row in (0..chunk.len()).map(row_at) {
                    let origin = &mut origins[row];
                    origin.place = place_of(Cause::Clock(origin.due, origin.birth));
                }
                Origins::Clock(origins.into())
            }
        };
        placed.push(Chunk { origins, ..chunk.clone() });
    }
    placed
}

/// What caused a row: a row of the epoch, or the clock for a key.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    Row(u32),
    Clock(i64, u128),
}

/// Which part each value of a column belongs to: by its stable hash, taken once for each symbol.
#[derive(Default)]
struct PartMap {
    dictionary: Option<u64>,
    by_code: Vec<u32>,
}

impl PartMap {
    /// The chunks of each part. Parts share the batches and differ in the selections.
    fn split(&mut self, chunks: &[Chunk], column: usize, parts: usize, dropped: &mut u64) -> Vec<Vec<Chunk>> {
        let mut split = vec![vec![]; parts];
        for chunk in &in_places(chunks) {
            let values = chunk.batch.column(column);
            if let ([only], 0) = (&mut split[..], values.null_count()) {
                only.push(chunk.clone());
                continue;
            }
            let mut selections: Vec<Vec<u32>> = vec![Vec::with_capacity(chunk.len() / parts + 16); parts];
            self.select(chunk, values, parts, &mut selections, dropped);
            for (selection, part) in selections.into_iter().zip(&mut split) {
                if !selection.is_empty() {
                    part.push(Chunk { selection: Some(selection.into()), ..chunk.clone() });
                }
            }
        }
        split
    }

    fn select(&mut self, chunk: &Chunk, values: &Column, parts: usize, selections: &mut [Vec<u32>], dropped: &mut u64) {
        let Some(dictionary) = values.dictionary() else {
            let hashes = values.stable_hashes();
            let part = |row: u32| part_of(hashes[row as usize], parts);
            return select_rows(chunk, values, selections, dropped, part);
        };
        if self.dictionary != Some(dictionary.id()) {
            *self = PartMap { dictionary: Some(dictionary.id()), by_code: vec![] };
        }
        let entries = dictionary.read();
        let known = self.by_code.len() as u32;
        self.by_code.extend((known..entries.len() as u32).map(|code| part_of(entries.hash(code), parts)));
        drop(entries);
        let (codes, by_code) = (values.codes(), &self.by_code);
        select_rows(chunk, values, selections, dropped, |row| by_code[codes[row as usize] as usize])
    }
}

/// The part of a value with this stable hash: parts own ranges of key groups, so that state restores at another
/// parallelism group by group.
pub(crate) fn part_of(hash: u64, parts: usize) -> u32 {
    (data::key_group(hash).0 as usize * parts / data::KEY_GROUPS) as u32
}

fn select_rows(
    chunk: &Chunk,
    values: &Column,
    selections: &mut [Vec<u32>],
    dropped: &mut u64,
    part: impl Fn(u32) -> u32,
) {
    match (chunk.rows(), values.validity()) {
        (None, None) => (0..chunk.batch.rows() as u32).for_each(|row| selections[part(row) as usize].push(row)),
        (rows, _) => {
            let all: Vec<u32>;
            let rows = match rows {
                Some(rows) => rows,
                None => {
                    all = (0..chunk.batch.rows() as u32).collect();
                    &all
                }
            };
            for &row in rows {
                if values.is_null(row as usize) {
                    *dropped += 1;
                } else {
                    selections[part(row) as usize].push(row);
                }
            }
        }
    }
}

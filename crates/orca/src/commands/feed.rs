//! `orca feed`: files into a table of a server.
//!
//! Invariants:
//! - File and piece are writer and number, and pieces go one after another: number `n` is sent when `n - 1` is held. So
//!   a feed that was cut off goes on where it stopped, and a piece that is sent twice is there once.
//! - Of the pieces that the server holds already only the last is sent again: it refuses that one if its rows are
//!   others, as when the file or `--batch-rows` has changed.

use super::{Format, listing, table};
use crate::client::{Client, Error, Place};
use crate::failure::Failure;
use arrow::ipc::writer::StreamWriter;
use data::{Batch, Dictionary, Type};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::collections::BTreeSet;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// What is fed, and where.
#[derive(Debug, clap::Args)]
pub struct Feed {
    /// The table: `market.orca_table.Trade`; with a single catalog also `Trade`.
    table: String,
    /// The files, in order: CSV or JSON lines (`.zst` too), Parquet.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Rows in a second; as fast as it goes if left out.
    #[arg(long, value_name = "ROWS")]
    rate: Option<NonZeroU64>,
    /// A longer file is cut into appends of this many rows.
    #[arg(long, default_value = "10000", value_name = "N")]
    batch_rows: NonZeroUsize,
    /// Merge the files by this time column instead of feeding one after another.
    #[arg(long, value_name = "COLUMN")]
    interleave: Option<String>,
    /// How the figures at the end are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// How long a server may be away or refuse for being busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first pause before a piece is sent again, and the longest one.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Pieces that are ready while one is on its way.
const READY: usize = 2;

/// The media type of pieces.
const ARROW: &str = "application/vnd.apache.arrow.stream";

/// One append.
struct Piece {
    file: usize,
    seq: u64,
    rows: u64,
    /// Nothing if the server holds it and it is not the last one held.
    body: Option<Vec<u8>>,
}

/// A file and how far the server has it.
struct Source {
    writer: String,
    held: u64,
    reader: connect::Reader,
}

/// Feeds them.
pub fn feed(arguments: &Feed) -> Result<(), Error> {
    let client = arguments.place.client()?;
    let shown = table::find(&client, &arguments.table)?;
    let schema = table::schema(&shown)?.into();
    let mut sources = vec![];
    let mut names = BTreeSet::new();
    for file in &arguments.files {
        let reader = connect::open(file, &schema, arguments.batch_rows.get())?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !names.insert(name.clone()) {
            // The table could not tell the pieces of one from those of the other.
            return Err(
                Failure::new(format!("two files of one name: name=`{name}` (feed one after another name)")).into()
            );
        }
        let writer = format!("feed/{name}");
        let known = client.get(&["v1", "tables", &arguments.table, "writers", &writer], &[])?.json()?;
        sources.push(Source { writer, held: known["seq"].as_u64().unwrap_or(0), reader });
    }
    let writers: Vec<(String, u64)> = sources.iter().map(|source| (source.writer.clone(), source.held)).collect();
    let interleave = arguments.interleave.clone();
    let (ready, pieces) = sync_channel(READY);
    // Reading and encoding go on while a piece is on its way.
    let reading = std::thread::spawn(move || read(sources, interleave.as_deref(), &ready));
    let mut feeding = Feeding {
        client: &client,
        table: &arguments.table,
        writers: &writers,
        rate: arguments.rate,
        progress: progress(),
        start: Instant::now(),
        sent: 0,
        held: 0,
    };
    let fed = feeding.all(pieces);
    feeding.progress.finish_and_clear();
    // A feed that failed no longer takes pieces, which ends the reading too.
    let read = reading.join().unwrap_or_else(|_| Err(Failure::of(env::Kind::Internal, "reading broke off")));
    fed?;
    read?;
    Ok(feeding.print(arguments.format)?)
}

/// Reads the files, piece by piece.
fn read(mut sources: Vec<Source>, interleave: Option<&str>, ready: &SyncSender<Piece>) -> Result<(), Failure> {
    let held: Vec<u64> = sources.iter().map(|source| source.held).collect();
    let mut seqs = vec![0; sources.len()];
    let mut hand_over = |file: usize, batch: Batch| {
        seqs[file] += 1;
        let seq = seqs[file];
        let body = if seq < held[file] { None } else { Some(encode(&batch)?) };
        // Whoever took the pieces has failed, and says why.
        Ok::<bool, Failure>(ready.send(Piece { file, seq, rows: batch.rows() as u64, body }).is_ok())
    };
    match interleave {
        None => {
            for (file, source) in sources.iter_mut().enumerate() {
                for batch in source.reader.by_ref() {
                    if !hand_over(file, batch?)? {
                        return Ok(());
                    }
                }
            }
        }
        Some(column) => {
            let readers = sources.into_iter().map(|source| source.reader).collect();
            for run in connect::interleave(readers, column)? {
                let (file, batch) = run?;
                if !hand_over(file, batch)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// A batch as a stream of Arrow. A dictionary with more entries than there are rows is not sent whole.
fn encode(batch: &Batch) -> Result<Vec<u8>, Failure> {
    let columns = batch.columns().iter().map(|column| match column.dictionary() {
        Some(entries) if column.ty() == Type::Symbol && entries.len() > batch.rows() => {
            column.in_dictionary(&Dictionary::new())
        }
        _ => Ok(column.clone()),
    });
    let columns = columns.collect::<data::Result<Vec<_>>>()?;
    let rows = Batch::new(batch.schema().clone(), columns)?.to_arrow();
    let failed = |error: arrow::error::ArrowError| Failure::of(env::Kind::Internal, format!("cannot encode: {error}"));
    let mut writer = StreamWriter::try_new(vec![], &rows.schema()).map_err(failed)?;
    writer.write(&rows).map_err(failed)?;
    writer.into_inner().map_err(failed)
}

struct Feeding<'a> {
    client: &'a Client,
    table: &'a str,
    /// The writer of each file, and the last number the server held of it.
    writers: &'a [(String, u64)],
    rate: Option<NonZeroU64>,
    progress: ProgressBar,
    start: Instant,
    sent: u64,
    held: u64,
}

impl Feeding<'_> {
    fn all(&mut self, pieces: Receiver<Piece>) -> Result<(), Error> {
        for piece in pieces {
            let is_held = match &piece.body {
                None => true,
                Some(body) => {
                    self.keep_pace();
                    self.send(&piece, body)?
                }
            };
            match is_held {
                true => self.held += piece.rows,
                false => self.sent += piece.rows,
            }
            self.progress.inc(piece.rows);
        }
        Ok(())
    }

    /// Waits until the rows sent so far are due.
    fn keep_pace(&self) {
        let Some(rate) = self.rate else { return };
        let due = Duration::from_secs_f64(self.sent as f64 / rate.get() as f64);
        std::thread::sleep(due.saturating_sub(self.start.elapsed()));
    }

    /// Sends a piece until the server has it; true if it had it before.
    fn send(&self, piece: &Piece, body: &[u8]) -> Result<bool, Error> {
        let (writer, held) = &self.writers[piece.file];
        let was_held = piece.seq <= *held;
        let seq = piece.seq.to_string();
        let (mut pause, mut away) = (PAUSES[0], None);
        loop {
            let query = [("writer", writer.as_str()), ("seq", seq.as_str())];
            let sent = self.client.post(&["v1", "tables", self.table, "rows"], &query, ARROW, body);
            match sent.and_then(|reply| reply.json()) {
                Ok(_) => return Ok(was_held),
                Err(error) if error.may_pass() => {
                    let since = *away.get_or_insert_with(Instant::now);
                    if since.elapsed() > PATIENCE {
                        return Err(error);
                    }
                    let note = format!("note: {error}; sent again in {} ms: piece=`{seq}`", pause.as_millis());
                    self.progress.suspend(|| eprintln!("{note}"));
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(PAUSES[1]);
                }
                // Its rows have left the table since: they cannot be compared any more.
                Err(error) if was_held && error.is_not_found() => return Ok(true),
                Err(Error::Failed(failure)) if was_held && failure.kind() == env::Kind::Conflict => {
                    let text = format!("the table holds other rows of a file of this name: {failure}");
                    let mend = "feed it with the same --batch-rows as before, or under another name";
                    return Err(lang::Diagnostic::new(text).help(mend).into());
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn print(&self, format: Format) -> Result<(), Failure> {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = (self.sent as f64 / seconds.max(1e-9)) as u64;
        if format == Format::Table {
            let (sent, held, rate) = (HumanCount(self.sent), HumanCount(self.held), HumanCount(rate));
            println!("{sent} rows sent, {held} held already, in {seconds:.1} s: {rate} rows a second");
            return Ok(());
        }
        let figures = json!({
            "rows_sent": self.sent,
            "rows_held": self.held,
            "seconds": (seconds * 1000.0).round() / 1000.0,
            "rows_per_second": rate,
        });
        let names = ["rows_sent", "rows_held", "seconds", "rows_per_second"];
        let columns = names.map(|name| (name, if name == "seconds" { Type::Double } else { Type::Long }));
        match format {
            Format::Json => println!("{figures}"),
            _ => listing::print(format, &columns, &[figures])?,
        }
        Ok(())
    }
}

/// Rows and their rate, on a terminal alone.
fn progress() -> ProgressBar {
    let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}, {elapsed}");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    progress
}

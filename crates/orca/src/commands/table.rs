//! `orca table`: the public tables of a server, and their last rows as they come.

use super::{Format, listing};
use crate::client::{Client, Error, Event, Place, failure_within, lost};
use crate::failure::Failure;
use arrow::ipc::reader::StreamReader;
use data::{Batch, Schema, Type};
use query::Answer;
use serde_json::Value as Json;
use std::io::Write;
use std::time::Duration;

/// What is done.
#[derive(Debug, clap::Subcommand)]
pub enum Table {
    /// The tables of a server.
    List(List),
    /// One table: its facts and columns.
    Show(Show),
    /// The last rows of a table.
    Tail(Tail),
}

/// Of which server.
#[derive(Debug, clap::Args)]
pub struct List {
    /// How they are printed.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Which table.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Its name: `market.orca_table.Trade`; with a single catalog also `Trade`.
    table: String,
    /// How it is printed; `csv` prints its columns alone.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// Which rows.
#[derive(Debug, clap::Args)]
pub struct Tail {
    /// The table's name.
    table: String,
    /// Go on with the rows that are appended from now on, until the command is ended.
    #[arg(long, short)]
    follow: bool,
    /// How many of the rows that are there are printed.
    #[arg(long, default_value = "10")]
    rows: u64,
    /// Only the rows that are so, when following: a condition of SQL over the table's columns.
    #[arg(long, value_name = "SQL", requires = "follow")]
    filter: Option<String>,
    /// How rows are printed. When following, `json` prints an object a line.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    place: Place,
}

/// The columns of a list of tables.
pub const COLUMNS: &[listing::Column] = &[
    ("table", Type::String),
    ("kind", Type::String),
    ("rows", Type::Long),
    ("start", Type::Long),
    ("end", Type::Long),
    ("era", Type::Long),
    ("used_by", Type::String),
];

/// How long a reader that lost its server waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// How often it looks before it gives up.
const LOOKS_MAX: usize = 20;

/// Does it.
pub fn table(command: &Table) -> Result<(), Error> {
    match command {
        Table::List(List { format, place }) => {
            let tables = list(&place.client()?)?;
            Ok(listing::print(*format, COLUMNS, &tables)?)
        }
        Table::Show(Show { table, format, place }) => show(&place.client()?, table, *format),
        Table::Tail(tail) if tail.follow => follow(tail),
        Table::Tail(tail) => {
            let client = tail.place.client()?;
            let shown = find(&client, &tail.table)?;
            let answer = page(&client, &tail.table, first_of(&shown, tail.rows), tail.rows)?;
            Ok(listing::print_answer(tail.format, &answer)?)
        }
    }
}

/// All tables of a server.
pub fn list(client: &Client) -> Result<Vec<Json>, Error> {
    let tables = client.get(&["v1", "tables"], &[])?.json()?;
    Ok(match tables {
        Json::Array(tables) => tables,
        _ => vec![],
    })
}

/// One table of a server.
pub fn find(client: &Client, table: &str) -> Result<Json, Error> {
    client.get(&["v1", "tables", table], &[])?.json()
}

/// Names and types of a table's columns.
pub fn schema(table: &Json) -> Result<Schema, Failure> {
    let mut fields = vec![];
    for column in table["columns"].as_array().into_iter().flatten() {
        let (name, ty) = (column["name"].as_str().unwrap_or_default(), column["type"].as_str().unwrap_or_default());
        let ty = Type::parse(ty).ok_or_else(|| Failure::new(format!("unknown type: column=`{name}`, type=`{ty}`")))?;
        fields.push(data::Field::new(name, ty));
    }
    Ok(Schema::new(fields)?)
}

/// Prints a table's facts and columns.
pub fn show(client: &Client, table: &str, format: Format) -> Result<(), Error> {
    let mut shown = find(client, table)?;
    if format == Format::Json {
        println!("{shown}");
        return Ok(());
    }
    let columns = shown.as_object_mut().and_then(|facts| facts.remove("columns"));
    let columns = columns.and_then(|columns| columns.as_array().cloned()).unwrap_or_default();
    if format == Format::Table {
        listing::print_one(format, &shown)?;
    }
    Ok(listing::print(format, &[("name", Type::String), ("type", Type::String)], &columns)?)
}

/// The offset of the first of the last `rows` rows.
fn first_of(table: &Json, rows: u64) -> u64 {
    let offset = |name: &str| table[name].as_u64().unwrap_or(0);
    offset("end").saturating_sub(rows).max(offset("start"))
}

/// Rows of a table from an offset on.
fn page(client: &Client, table: &str, from: u64, rows: u64) -> Result<Answer, Error> {
    let (from, rows) = (from.to_string(), rows.to_string());
    let query = [("from", from.as_str()), ("limit", rows.as_str()), ("format", "arrow")];
    let bytes = client.get(&["v1", "tables", table, "rows"], &query)?.bytes()?;
    let damaged = |error: arrow::error::ArrowError| Failure::of(env::Kind::Data, format!("not Arrow rows: {error}"));
    let reader = StreamReader::try_new(bytes.as_slice(), None).map_err(damaged)?;
    let fields = Schema::from_arrow(&reader.schema()).map_err(Failure::from)?.fields().to_vec();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    Ok(Answer { fields, batches })
}

/// Prints rows as they are appended. A server that is lost is looked for again, and gone on with where it was lost.
fn follow(tail: &Tail) -> Result<(), Error> {
    let client = tail.place.client()?;
    let shown = find(&client, &tail.table)?;
    let schema = schema(&shown)?;
    let from = first_of(&shown, tail.rows).to_string();
    let mut query = vec![("from", from.as_str())];
    query.extend(tail.filter.as_deref().map(|filter| ("filter", filter)));
    let mut lines = Lines::new(&schema, tail.format);
    let (mut last, mut looks) = (None, 0);
    loop {
        let ended = match client.events(&["v1", "tables", &tail.table, "subscribe"], &query, last.as_deref()) {
            Ok(events) => print_events(&client, events, &mut lines, &mut last, &mut looks),
            Err(error) => Err(error),
        };
        match ended {
            Err(error) if error.may_pass() && looks < LOOKS_MAX => {
                if looks == 0 {
                    eprintln!("note: {error}; looking again");
                }
                looks += 1;
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
            // The server ends it when it stops; it may be there again soon.
            Ok(()) => std::thread::sleep(PAUSE),
        }
    }
}

fn print_events(
    client: &Client,
    events: impl Iterator<Item = std::io::Result<Event>>,
    lines: &mut Lines,
    last: &mut Option<String>,
    looks: &mut usize,
) -> Result<(), Error> {
    for event in events {
        let Event { id, event, data } = event.map_err(|error| lost(client.url(), &error))?;
        *looks = 0;
        let data: Json = serde_json::from_str(&data).unwrap_or_default();
        match event.as_str() {
            "error" => return Err(Error::Failed(failure_within(&data))),
            "rows" => {
                if let Some(missed @ 1..) = data["missed"].as_u64() {
                    eprintln!("note: rows were missed: rows=`{missed}`");
                }
                lines.print(data["rows"].as_array().map_or(&[], Vec::as_slice))?;
                *last = id.or(last.take());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Rows printed one after another, under one heading.
struct Lines {
    columns: Vec<(String, Type)>,
    format: Format,
    /// Of a table: how wide its columns are, once there were rows.
    widths: Vec<usize>,
}

impl Lines {
    fn new(schema: &Schema, format: Format) -> Lines {
        let columns = schema.fields().iter().map(|field| (field.name.to_string(), field.ty)).collect();
        Lines { columns, format, widths: vec![] }
    }

    fn print(&mut self, rows: &[Json]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        let is_first = self.widths.is_empty();
        match self.format {
            Format::Json => {
                for row in rows {
                    writeln!(out, "{row}")?;
                }
            }
            Format::Csv => {
                let mut text = vec![];
                query::format::write(&self.answer(rows)?, query::format::Format::Csv, &mut text)?;
                // The heading stands above the first rows alone.
                let heading = text.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                out.write_all(if is_first { &text } else { &text[heading..] })?;
                self.widths = vec![0; self.columns.len()];
            }
            Format::Table => {
                let cells: Vec<Vec<String>> = rows.iter().map(|row| self.cells(row)).collect();
                if is_first {
                    let wide = |place: usize| cells.iter().map(move |cells| cells[place].chars().count());
                    let names = self.columns.iter().enumerate();
                    let width = |(place, (name, _)): (usize, &(String, Type))| {
                        wide(place).chain([name.chars().count()]).max().unwrap_or(0)
                    };
                    self.widths = names.map(width).collect();
                    let heading: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
                    writeln!(out, "{}", self.line(&heading))?;
                }
                for cells in &cells {
                    writeln!(out, "{}", self.line(cells))?;
                }
            }
        }
        Ok(out.flush()?)
    }

    /// The texts of a row, as the server tells them.
    fn cells(&self, row: &Json) -> Vec<String> {
        let text = |(name, _): &(String, Type)| match &row[name] {
            Json::Null => String::new(),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.columns.iter().map(text).collect()
    }

    fn line(&self, cells: &[String]) -> String {
        let cell = |((cell, width), (_, ty)): ((&String, &usize), &(String, Type))| match ty.is_number() {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        };
        let cells = cells.iter().zip(&self.widths).zip(&self.columns).map(cell);
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    }

    /// The rows as texts, which is what CSV has.
    fn answer(&self, rows: &[Json]) -> Result<Answer, Failure> {
        let fields: Vec<data::Field> =
            self.columns.iter().map(|(name, _)| data::Field::new(name.as_str(), Type::String)).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| self.cells(row)).collect();
        let columns = (0..self.columns.len()).map(|place| {
            let texts = rows.iter().map(|row| Some(row[place].as_str()).filter(|text| !text.is_empty()));
            data::Column::of_texts(texts)
        });
        let batch = Batch::new(Schema::new(fields.clone())?.into(), columns.collect())?;
        Ok(Answer { fields, batches: vec![batch.to_arrow()] })
    }
}

//! Calls that name public tables: sources, buffers, sinks, and tables without a graph.

use super::conform::conform;
use super::{Call, Desk, FunctionCall, GraphCall, StreamCall, needed, optional, place_of};
use crate::check::{CheckError, Fault};
use crate::logical::{NodeId, Operator, TableNode, TableRole};
use crate::name::{FullName, NameKind};
use crate::script::{DStream, NewTable, StreamGraph};
use crate::table::{CACHE_ROWS_MIN, CachePurge, TableKind, TableOptions, is_key_type, is_time_type};
use data::{Batch, Field, Schema, Type};
use engine::{Arguments, Parameter};
use lang::{Diagnostic, Span, Value};
use std::sync::Arc;

const NAME: Parameter = needed("name", "the table's name, full or in the current catalog");
const KEY: Parameter = needed("keyColumn", "one column or several that identify a row");
const TIME: Parameter = needed("timeColumn", "the column that tells which row is newer, or a date and a time");
const COLUMNS: Parameter = needed("colNames", "the columns' names");
const TYPES: Parameter = needed("colTypes", "the columns' types");

/// Parameters followed by those that say how a table is kept.
macro_rules! persisted {
    ($($parameter:expr),*) => {
        &[
            $($parameter,)*
            optional("asyncWrite", "an append returns before its rows are on disk (default true)"),
            optional("compress", "segments are compressed (default true)"),
            optional("cacheSize", "how many rows stay in memory, at least 1000; all if left out"),
            optional("retentionMinutes", "how long rows are kept on disk (default 1440)"),
            optional("flushMode", "1 forces each append to the disk (default 0)"),
            optional("preCache", "how many rows are loaded into memory after a restart"),
            optional("cachePurgeTimeColumn", "rows leave the memory by the age this column tells"),
            optional("cachePurgeInterval", "they do so when the rows in memory span this much time"),
            optional("cacheRetentionTime", "what stays is at most this much older than the newest row"),
        ]
    };
}

/// Which kind of table a call is about.
#[derive(Clone, Copy)]
enum Kind {
    Log,
    Keyed,
    LatestKeyed,
}

pub(super) static FUNCTIONS: &[FunctionCall] = &[
    Call {
        name: "createOrcaStreamTable",
        parameters: persisted![NAME, COLUMNS, TYPES],
        summary: "Creates a public table that takes every row.",
        run: |desk, args| create(desk, args, Kind::Log),
    },
    Call {
        name: "createOrcaKeyedStreamTable",
        parameters: persisted![NAME, KEY, COLUMNS, TYPES],
        summary: "Creates a public table that takes the first row of each key.",
        run: |desk, args| create(desk, args, Kind::Keyed),
    },
    Call {
        name: "createOrcaLatestKeyedStreamTable",
        parameters: persisted![NAME, KEY, TIME, COLUMNS, TYPES],
        summary: "Creates a public table that takes a row if it is newer than the newest one of its key.",
        run: |desk, args| create(desk, args, Kind::LatestKeyed),
    },
    Call {
        name: "dropOrcaStreamTable",
        parameters: &[NAME],
        summary: "Drops a public table that no graph uses.",
        run: drop_table,
    },
    Call {
        name: "appendOrcaStreamTable",
        parameters: &[NAME, needed("data", "a table, its columns in the order of the public table's")],
        summary: "Appends rows to a public table.",
        run: append,
    },
];

pub(super) static SOURCES: &[GraphCall] = &[
    Call {
        name: "source",
        parameters: persisted![NAME, COLUMNS, TYPES],
        summary: "A public table whose rows come into the graph.",
        run: |desk, graph, args| Ok(source(desk, graph, args, Kind::Log)),
    },
    Call {
        name: "keyedSource",
        parameters: persisted![NAME, KEY, COLUMNS, TYPES],
        summary: "A source that takes the first row of each key.",
        run: |desk, graph, args| Ok(source(desk, graph, args, Kind::Keyed)),
    },
    Call {
        name: "latestKeyedSource",
        parameters: persisted![NAME, KEY, TIME, COLUMNS, TYPES],
        summary: "A source that takes a row if it is newer than the newest one of its key.",
        run: |desk, graph, args| Ok(source(desk, graph, args, Kind::LatestKeyed)),
    },
    Call {
        name: "sourceByName",
        parameters: &[NAME],
        summary: "A public table that exists already, such as one another graph writes.",
        run: |desk, graph, args| Ok(existing(desk, graph, args)),
    },
];

pub(super) static OUTPUTS: &[StreamCall] = &[
    Call {
        name: "buffer",
        parameters: persisted![NAME],
        summary: "Keeps the rows in a public table and goes on with them.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Buffer, Kind::Log)),
    },
    Call {
        name: "keyedBuffer",
        parameters: persisted![NAME, KEY],
        summary: "A buffer that takes the first row of each key.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Buffer, Kind::Keyed)),
    },
    Call {
        name: "latestKeyedBuffer",
        parameters: persisted![NAME, KEY, TIME],
        summary: "A buffer that takes a row if it is newer than the newest one of its key.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Buffer, Kind::LatestKeyed)),
    },
    Call {
        name: "sink",
        parameters: persisted![NAME],
        summary: "Writes the rows to a public table. The stream can go on.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Sink, Kind::Log)),
    },
    Call {
        name: "keyedSink",
        parameters: persisted![NAME, KEY],
        summary: "A sink that takes the first row of each key.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Sink, Kind::Keyed)),
    },
    Call {
        name: "latestKeyedSink",
        parameters: persisted![NAME, KEY, TIME],
        summary: "A sink that takes a row if it is newer than the newest one of its key.",
        run: |desk, stream, args| Ok(output(desk, stream, args, TableRole::Sink, Kind::LatestKeyed)),
    },
];

/// Reads the arguments of one call and keeps all that is wrong with them.
struct Reader<'a> {
    args: &'a Arguments,
    faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    fn new(args: &'a Arguments) -> Reader<'a> {
        Reader { args, faults: vec![] }
    }

    fn fault(&mut self, parameter: &str, error: CheckError) {
        self.faults.push(Fault { error, span: self.args.span(parameter) });
    }

    /// Runs a reader of the engine's arguments.
    fn read<T>(&mut self, parameter: &'static str, read: impl FnOnce(&Arguments, &mut Vec<Diagnostic>) -> T) -> T {
        let mut errors = vec![];
        let value = read(self.args, &mut errors);
        errors.into_iter().for_each(|error| self.fault(parameter, CheckError::Argument(error)));
        value
    }

    fn wrong(&mut self, parameter: &'static str, message: &str) {
        let error = CheckError::Argument(self.args.error(parameter, message));
        self.fault(parameter, error);
    }

    fn name(&mut self, desk: &Desk) -> Option<FullName> {
        let outside = match self.args.get("name") {
            Some(Value::Function(_) | Value::Builtin(_)) => Some("a function"),
            Some(value) if value.as_text().is_some_and(|text| text.starts_with("dfs://")) => Some("a stored table"),
            _ => None,
        };
        if let Some(outside) = outside {
            self.wrong("name", &format!("cannot be {outside} yet; name a public table"));
            return None;
        }
        let text = self.read("name", |args, errors| args.text("name", errors))?;
        match desk.resolve(&text, NameKind::Table) {
            Ok(name) => Some(name),
            Err(error) => {
                self.fault("name", error.into());
                None
            }
        }
    }

    fn names(&mut self, parameter: &'static str) -> Option<Vec<String>> {
        let value = self.args.get(parameter)?;
        let names = value.names().map(|names| names.iter().map(|name| name.to_string()).collect());
        if names.is_none() {
            self.wrong(parameter, "must be a text or a vector of texts");
        }
        names
    }

    fn types(&mut self) -> Option<Vec<Type>> {
        let values = match self.args.get("colTypes")? {
            Value::Tuple(values) => values.clone(),
            Value::Vector(column) => (0..column.len()).map(|row| Value::Scalar(column.ty(), column.get(row))).collect(),
            other => vec![other.clone()],
        };
        let read = |value: &Value| match value {
            Value::Type(ty) => Some(*ty),
            other => other.as_text().and_then(Type::parse),
        };
        let types: Option<Vec<Type>> = values.iter().map(|value| read(value).filter(|ty| *ty != Type::Void)).collect();
        if types.is_none() {
            self.wrong("colTypes", "must be types, such as [SYMBOL, DOUBLE]");
        }
        types
    }

    /// The columns that `colNames` and `colTypes` declare.
    fn schema(&mut self, table: &FullName) -> Option<Arc<Schema>> {
        let (names, types) = (self.names("colNames"), self.types());
        let (names, types) = (names?, types?);
        if names.len() != types.len() {
            let (table, names, types) = (table.clone(), names.len(), types.len());
            self.fault("colNames", CheckError::ColumnCounts { table, names, types });
            return None;
        }
        for (place, name) in names.iter().enumerate() {
            let seen = names[..place].iter().any(|before| before.to_lowercase() == name.to_lowercase());
            if seen {
                let (table, column) = (table.clone(), name.clone());
                self.fault("colNames", CheckError::DuplicateColumn { table, column });
            }
        }
        if names.iter().any(String::is_empty) {
            self.wrong("colNames", "must not hold an empty name");
        }
        let fields = names.iter().zip(types).map(|(name, ty)| Field::new(name.as_str(), ty)).collect();
        Schema::new(fields).ok().map(Arc::new)
    }

    /// The columns that an argument names; they must be of types that fit.
    fn key_columns(
        &mut self,
        table: &FullName,
        schema: &Schema,
        role: &'static str,
        fits: fn(&[Type]) -> bool,
        wanted: &'static str,
    ) -> Option<Vec<String>> {
        let names = self.names(role)?;
        let mut fields = vec![];
        for name in &names {
            match schema.field(name) {
                Some(field) => fields.push(field),
                None => {
                    let place = format!("table=`{table}`, parameter=`{role}`");
                    let (column, known) = (name.clone(), schema.names());
                    self.fault(role, CheckError::UnknownColumn { place, column, known });
                }
            }
        }
        let types: Vec<Type> = fields.iter().map(|field| field.ty).collect();
        if fields.len() == names.len() && !fits(&types) {
            let types = types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            let (table, columns) = (table.clone(), names.join(", "));
            self.fault(role, CheckError::ColumnType { table, role, columns, types, wanted });
        }
        Some(fields.iter().map(|field| field.name.to_string()).collect())
    }

    fn kind(&mut self, table: &FullName, schema: &Schema, kind: Kind) -> Option<TableKind> {
        let mut key = || {
            let fits = |types: &[Type]| !types.is_empty() && types.iter().all(|ty| is_key_type(*ty));
            self.key_columns(table, schema, "keyColumn", fits, "integer, temporal, text or float")
        };
        Some(match kind {
            Kind::Log => TableKind::Log,
            Kind::Keyed => TableKind::Keyed { key: key()? },
            Kind::LatestKeyed => {
                let key = key();
                let wanted = "an integer or temporal column, or a DATE and a TIME, SECOND or NANOTIME";
                let time = self.key_columns(table, schema, "timeColumn", is_time_type, wanted);
                TableKind::LatestKeyed { key: key?, time: time? }
            }
        })
    }

    fn options(&mut self, schema: &Schema) -> TableOptions {
        let mut rows = |parameter| {
            let rows = self.read(parameter, |args, errors| args.integer_within(parameter, 0, i64::MAX, errors));
            rows.map(|rows| rows as u64)
        };
        let cache_rows = rows("cacheSize").map(|rows| rows.max(CACHE_ROWS_MIN));
        let pre_cache_rows = rows("preCache");
        let retention_minutes = rows("retentionMinutes");
        let default = TableOptions::default();
        TableOptions {
            async_write: self.read("asyncWrite", |args, errors| args.boolean("asyncWrite", true, errors)),
            compress: self.read("compress", |args, errors| args.boolean("compress", true, errors)),
            cache_rows,
            retention_minutes: retention_minutes.unwrap_or(default.retention_minutes),
            fsync: self.read("flushMode", |args, errors| args.integer_within("flushMode", 0, 1, errors)) == Some(1),
            pre_cache_rows,
            cache_purge: self.cache_purge(schema),
        }
    }

    /// The three arguments by which rows leave the memory with age: all of them, or none.
    fn cache_purge(&mut self, schema: &Schema) -> Option<CachePurge> {
        let parameters = ["cachePurgeTimeColumn", "cachePurgeInterval", "cacheRetentionTime"];
        let missing: Vec<&'static str> =
            parameters.into_iter().filter(|parameter| self.args.get(parameter).is_none()).collect();
        if missing.len() == parameters.len() {
            return None;
        }
        for parameter in &missing {
            self.wrong(parameter, "is missing: the three arguments of the cache's purge go together");
        }
        let time = self.read(parameters[0], |args, errors| args.columns(parameters[0], schema, errors));
        let [time] = time[..] else { return None };
        let field = &schema.fields()[time];
        if field.ty.units_per_day().is_none() {
            self.wrong(parameters[0], "must be a temporal column");
            return None;
        }
        let interval = self.read(parameters[1], |args, errors| args.length(parameters[1], field.ty, errors))?;
        let retention = self.read(parameters[2], |args, errors| args.length(parameters[2], field.ty, errors))?;
        if retention < 0 || retention >= interval {
            self.wrong(parameters[2], "must be less than cachePurgeInterval, and not negative");
        }
        Some(CachePurge { time_column: field.name.to_string(), interval, retention })
    }

    /// A table with columns of its own, if nothing is wrong with it.
    fn declared(&mut self, desk: &Desk, kind: Kind) -> Option<NewTable> {
        // Columns are looked at even if the name is bad: all that is wrong is told.
        let name = self.name(desk);
        let stand_in = FullName::new("catalog", NameKind::Table, "table").expect("a literal name");
        let table = name.as_ref().unwrap_or(&stand_in);
        let schema = self.schema(table)?;
        let kind = self.kind(table, &schema, kind);
        let options = self.options(&schema);
        let (name, kind) = (name?, kind?);
        self.faults.is_empty().then_some(NewTable { name, schema, kind, options })
    }
}

impl StreamGraph {
    /// Begins a stream at a table.
    fn begin(&self, role: TableRole, table: NewTable, span: Span) -> Value {
        let mut building = self.lock();
        let NewTable { name, schema, kind, options } = table;
        let operator = Operator::Table(TableNode { role, table: name, kind, options });
        self.stream(Some(building.add(operator, vec![], schema, span)))
    }
}

fn source(desk: &Desk, graph: &StreamGraph, args: &Arguments, kind: Kind) -> Value {
    let mut reader = Reader::new(args);
    match reader.declared(desk, kind) {
        Some(table) => graph.begin(TableRole::Source, table, place_of(args)),
        None => graph.keep_faults(reader.faults),
    }
}

fn existing(desk: &mut Desk, graph: &StreamGraph, args: &Arguments) -> Value {
    let mut reader = Reader::new(args);
    let Some(name) = reader.name(desk) else { return graph.keep_faults(reader.faults) };
    match desk.platform.table(&name) {
        Some(table) => {
            let (schema, kind, options) = (table.schema, table.kind, table.options);
            graph.begin(TableRole::Existing, NewTable { name: table.name, schema, kind, options }, place_of(args))
        }
        None => {
            graph.keep_faults(vec![Fault { error: CheckError::UnknownTable { table: name }, span: place_of(args) }])
        }
    }
}

fn output(desk: &Desk, stream: &DStream, args: &Arguments, role: TableRole, kind: Kind) -> Value {
    stream.then(args, |stream: &DStream, node: NodeId, args: &Arguments| {
        let mut building = stream.graph.lock();
        let schema = building.logical.node(node).schema.clone();
        let mut reader = Reader::new(args);
        let table = reader.name(desk);
        let (kind, options) = match &table {
            Some(table) => (reader.kind(table, &schema, kind), reader.options(&schema)),
            None => (None, reader.options(&schema)),
        };
        match (table, kind) {
            (Some(table), Some(kind)) if reader.faults.is_empty() => {
                let operator = Operator::Table(TableNode { role, table, kind, options });
                Ok(building.add(operator, vec![node], schema, place_of(args)))
            }
            _ => Err(reader.faults),
        }
    })
}

fn create(desk: &mut Desk, args: &Arguments, kind: Kind) -> Result<Value, Diagnostic> {
    let mut reader = Reader::new(args);
    let table = reader.declared(desk, kind);
    if let Some(table) = &table {
        if desk.platform.table(&table.name).is_some() {
            reader.wrong("name", &format!("is a table already: table=`{}`", table.name));
        } else if !desk.platform.catalog_exists(table.name.catalog()) {
            reader.wrong("name", &format!("is in no catalog: catalog=`{}`", table.name.catalog()));
        }
    }
    match table {
        Some(table) if reader.faults.is_empty() => {
            desk.platform.create_table(table)?;
            Ok(Value::NULL)
        }
        _ => Err(desk.refuse(reader.faults.into_iter().map(Diagnostic::from).collect())),
    }
}

fn known_table(desk: &mut Desk, args: &Arguments) -> Result<crate::TableInfo, Diagnostic> {
    let name = desk.name(args, "name", NameKind::Table)?;
    desk.platform.table(&name).ok_or_else(|| {
        let error = CheckError::UnknownTable { table: name };
        Fault { error, span: args.span("name") }.into()
    })
}

fn drop_table(desk: &mut Desk, args: &Arguments) -> Result<Value, Diagnostic> {
    let table = known_table(desk, args)?;
    if !table.used_by.is_empty() {
        let graphs: Vec<String> = table.used_by.iter().map(FullName::to_string).collect();
        let message = format!("table is in use: table=`{}`, graphs=`{}`", table.name, graphs.join(", "));
        return Err(Diagnostic::at(args.span, message).help("drop the graph first: `dropStreamGraph(...)`"));
    }
    desk.platform.drop_table(&table.name)?;
    Ok(Value::NULL)
}

fn append(desk: &mut Desk, args: &Arguments) -> Result<Value, Diagnostic> {
    let table = known_table(desk, args)?;
    let rows: Batch = match args.get("data") {
        Some(Value::Table(rows)) => rows.batch(),
        _ => return Err(args.error("data", "must be a table")),
    };
    let rows = conform(&rows, &table.schema)
        .map_err(|why| Diagnostic::at(args.span("data"), format!("rows do not fit: table=`{}`, {why}", table.name)))?;
    let count = rows.rows() as i64;
    desk.platform.append(&table.name, rows)?;
    Ok(Value::Scalar(Type::Long, data::Scalar::Int(count)))
}

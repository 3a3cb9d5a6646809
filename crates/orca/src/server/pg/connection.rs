//! A connection: its prepared statements, portals and transaction, and what each message of its client does.
//!
//! Invariants:
//! - After an error the rest of a text is not run, and messages up to the next sync are not looked at.
//! - Transactions are what clients expect of their form alone: each append is atomic by itself and stays.

use super::cancel::Held;
use super::copy::{CopyIn, CopyOut, PIECE_ROWS};
use super::error::{PgError, Trouble};
use super::frames::{Frame, Input, Named, Output, Unread};
use super::rows::{Cells, Format, describe};
use super::startup::Client;
use super::values::parameter;
use super::variables::Variables;
use crate::server::{Append, Server};
use bytes::{BufMut, Bytes, BytesMut};
use data::{Batch, Field, Scalar, Type};
use futures::StreamExt;
use futures::future::{Either, select};
use graph::{FullName, NameKind};
use query::{Command, Copy, CopyFormat, CopyOf, DEFAULT_SCHEMA, PgType, Prepared, Rows, Session, Statement};
use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use tokio::sync::oneshot;

/// Statements and portals that one connection may keep.
const KEPT_MAX: usize = 10_000;

/// Rows that are written before there is a look at whether they may be sent.
const ROWS_AT_ONCE: usize = 512;

type Done = Result<(), Trouble>;

/// One client's connection.
pub(super) struct Connection {
    server: Arc<Server>,
    key: Held,
    output: Output,
    tables: Session,
    catalog: Session,
    database: Option<String>,
    variables: Variables,
    block: Block,
    /// Have rows been appended in this transaction?
    has_appended: bool,
    statements: HashMap<String, Arc<Kept>>,
    portals: HashMap<String, Portal>,
    copying: Option<Copying>,
    /// What is left of a text of several statements.
    waiting: VecDeque<Statement>,
    /// Are messages passed over up to the next sync?
    is_skipping: bool,
}

/// Where a connection is in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Open,
    Failed,
}

/// A prepared statement.
struct Kept {
    /// `None` if its text is empty.
    statement: Option<Statement>,
    /// The oids of parameters that the client declares; 0 where it does not.
    declared: Vec<u32>,
    prepared: OnceLock<Prepared>,
}

/// A statement with its parameters.
struct Portal {
    kept: Arc<Kept>,
    parameters: Vec<(Type, Scalar)>,
    formats: Vec<i16>,
    running: Option<Running>,
    /// Is it a cursor, which lives until it is closed or its transaction ends?
    is_cursor: bool,
    is_held: bool,
}

/// Rows that a portal is in the midst of.
struct Running {
    rows: Rows,
    /// The batch that is being sent, and the row it is at.
    batch: Option<(Cells, usize, usize)>,
    is_done: bool,
}

/// Rows that come in.
struct Copying {
    table: FullName,
    rows: CopyIn,
    taken: u64,
    is_extended: bool,
}

impl Connection {
    pub(super) fn new(server: Arc<Server>, key: Held, client: Client, output: Output) -> Connection {
        let tables = server.orca().queries().in_catalog(client.database.clone());
        Connection {
            catalog: tables.for_postgres(&client.user),
            tables,
            server,
            key,
            output,
            database: client.database,
            variables: client.variables,
            block: Block::None,
            has_appended: false,
            statements: HashMap::new(),
            portals: HashMap::new(),
            copying: None,
            waiting: VecDeque::new(),
            is_skipping: false,
        }
    }

    /// Serves until the client goes or the server stops.
    pub(super) async fn run(mut self, mut input: Input) {
        self.greet();
        let stopping = self.server.clone();
        loop {
            if !input.has_frame() && self.output.flush().await.is_err() {
                return;
            }
            let frame = {
                let stopped = pin!(stopping.stopped());
                match select(pin!(input.next()), stopped).await {
                    Either::Left((frame, _)) => frame,
                    Either::Right(_) => return self.leave(PgError::fatal("57P01", "the server stops")).await,
                }
            };
            let frame = match frame {
                Ok(Frame::Terminate) | Err(Unread::Gone) => return,
                Ok(frame) => frame,
                Err(Unread::Refused(error)) => return self.leave(error).await,
            };
            match self.attend(frame, &input).await {
                Ok(()) => {}
                Err(Trouble::Gone) => return,
                Err(Trouble::Told(error)) if error.is_fatal() => return self.leave(error).await,
                Err(Trouble::Told(error)) => self.output.tell(&error),
            }
        }
    }

    async fn leave(mut self, error: PgError) {
        self.output.tell(&error);
        // The client may be gone.
        let _ = self.output.flush().await;
    }

    fn greet(&mut self) {
        self.output.frame(b'R', |body| body.put_i32(0));
        for (name, value) in self.variables.told() {
            self.output.parameter(name, &value);
        }
        let key = self.key.key;
        self.output.frame(b'K', |body| {
            body.put_i32(key.pid);
            body.put_i32(key.secret);
        });
        self.ready();
    }

    fn ready(&mut self) {
        let block = match self.block {
            Block::None => b'I',
            Block::Open => b'T',
            Block::Failed => b'E',
        };
        self.output.frame(b'Z', |body| body.put_u8(block));
    }

    /// Does what a message asks, unless it is cancelled, takes too long, or nobody waits for it any more.
    async fn attend(&mut self, frame: Frame, input: &Input) -> Done {
        let is_simple = matches!(frame, Frame::Query(_)) || self.copying.as_ref().is_some_and(|copy| !copy.is_extended);
        let (stop, stopped) = oneshot::channel();
        *self.key.stop.lock() = Some(stop);
        let timeout = self.variables.timeout();
        let done = {
            let work = pin!(self.handle(frame));
            let timeout = async {
                match timeout {
                    Some(timeout) => tokio::time::sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            let (timeout, gone) = (pin!(timeout), pin!(input.hung_up()));
            match select(work, select(stopped, select(timeout, gone))).await {
                Either::Left((done, _)) => done,
                Either::Right((Either::Left(_), _)) => Err(PgError::new("57014", "the query was cancelled").into()),
                Either::Right((Either::Right((Either::Left(_), _)), _)) => {
                    Err(PgError::new("57014", "the query was cancelled: statement_timeout is over").into())
                }
                Either::Right((Either::Right(_), _)) => Err(Trouble::Gone),
            }
        };
        self.key.stop.lock().take();
        let Err(Trouble::Told(error)) = done else { return done };
        if error.is_fatal() {
            return Err(error.into());
        }
        self.output.tell(&error);
        if self.block == Block::Open {
            self.block = Block::Failed;
        }
        self.copying = None;
        self.waiting.clear();
        if is_simple {
            self.ready();
        } else {
            self.is_skipping = true;
        }
        Ok(())
    }

    async fn handle(&mut self, frame: Frame) -> Done {
        let is_of_copy =
            matches!(frame, Frame::CopyData(_) | Frame::CopyDone | Frame::CopyFail(_) | Frame::Flush | Frame::Sync);
        if self.copying.is_some() && !is_of_copy {
            return Err(PgError::protocol("rows of a COPY are wanted").into());
        }
        match frame {
            Frame::Sync => {
                // A client may have sent it before it was told to send rows.
                if self.copying.is_none() {
                    self.is_skipping = false;
                    self.portals.remove("");
                    self.ready();
                }
                Ok(())
            }
            Frame::Query(text) => {
                self.is_skipping = false;
                self.query(&text).await
            }
            Frame::CopyData(bytes) => self.copy_data(bytes).await,
            Frame::CopyDone => self.copy_done().await,
            Frame::CopyFail(reason) => match self.copying.take() {
                Some(_) => Err(PgError::new("57014", format!("COPY was given up by the client: {reason}")).into()),
                None => Ok(()),
            },
            Frame::Flush => Ok(self.output.flush().await?),
            Frame::Terminate => Ok(()),
            _ if self.is_skipping => Ok(()),
            Frame::Parse { name, text, types } => self.parse(name, &text, types).await,
            Frame::Bind { portal, statement, formats, values, results } => {
                self.bind(portal, &statement, &formats, values, results).await
            }
            Frame::Describe(Named::Statement(name)) => self.describe_statement(&name).await,
            Frame::Describe(Named::Portal(name)) => self.describe_portal(&name).await,
            Frame::Execute { portal, rows_max } => self.execute(&portal, rows_max).await,
            Frame::Close(named) => {
                match named {
                    Named::Statement(name) => drop(self.statements.remove(&name)),
                    Named::Portal(name) => drop(self.portals.remove(&name)),
                }
                self.output.bare(b'3');
                Ok(())
            }
        }
    }

    // A text of statements.

    async fn query(&mut self, text: &str) -> Done {
        let statements = query::statements(text).map_err(|error| PgError::of_query(error, text, 0))?;
        if statements.is_empty() {
            self.output.bare(b'I');
        }
        self.waiting = statements.into();
        self.run_waiting().await
    }

    /// Runs what is left of a text, up to a COPY that wants rows.
    async fn run_waiting(&mut self) -> Done {
        while let Some(statement) = self.waiting.pop_front() {
            self.check_block(&statement)?;
            self.run_statement(&statement).await?;
            if self.copying.is_some() {
                return Ok(());
            }
        }
        self.ready();
        Ok(())
    }

    async fn run_statement(&mut self, statement: &Statement) -> Done {
        match &statement.command {
            Command::Query | Command::Catalog => {
                let rows = self.session_of(statement).run(&statement.text).await;
                let rows = rows.map_err(|error| PgError::of_statement(error, statement))?;
                if rows.insert().is_some() {
                    return self.insert(rows, statement).await;
                }
                self.describe_rows(rows.fields(), &[]);
                let mut running = Running { rows, batch: None, is_done: false };
                let sent = self.send(&mut running, None, &[], statement).await?;
                self.output.complete(&format!("{} {sent}", tag(statement)));
                Ok(())
            }
            Command::Show(name) => {
                let shown = self.shown(name)?;
                self.describe_rows(&shown.0, &[]);
                self.send_shown(&shown, &[]);
                Ok(())
            }
            Command::Fetch { cursor, rows, skip } => {
                let fields = self.fields_of_cursor(cursor).await?;
                if !skip {
                    self.describe_rows(&fields, &[]);
                }
                self.fetch(cursor, *rows, *skip, &[]).await
            }
            Command::Declare { cursor, query } => {
                let kept =
                    Kept { statement: Some(query.as_ref().clone()), declared: vec![], prepared: OnceLock::new() };
                self.declare(cursor, Arc::new(kept), vec![], &statement.text).await
            }
            Command::Copy(copy) if copy.is_from => self.begin_copy(copy, false),
            Command::Copy(copy) => self.copy_out(copy, vec![]).await,
            other => self.command(other),
        }
    }

    /// In a transaction that has failed only its end is heard.
    fn check_block(&self, statement: &Statement) -> Result<(), PgError> {
        match &statement.command {
            Command::Commit | Command::Rollback | Command::Savepoint("ROLLBACK") => Ok(()),
            _ if self.block != Block::Failed => Ok(()),
            _ => Err(PgError::new("25P02", "the transaction has failed; only its end is heard")),
        }
    }

    fn session_of(&self, statement: &Statement) -> &Session {
        if statement.command == Command::Catalog { &self.catalog } else { &self.tables }
    }

    /// What needs no rows.
    fn command(&mut self, command: &Command) -> Done {
        let tag = match command {
            Command::Set(name, value) => {
                if let Some((name, value)) = self.variables.set(name, value.clone())? {
                    self.output.parameter(name, &value);
                }
                if value.is_some() { "SET" } else { "RESET" }
            }
            Command::ResetAll => {
                self.variables.reset();
                "RESET"
            }
            Command::Begin => {
                if self.block == Block::Open {
                    self.output.tell(&PgError::warning("25001", "there is a transaction already"));
                }
                (self.block, self.has_appended) = (Block::Open, false);
                "BEGIN"
            }
            Command::Commit => {
                let has_failed = self.block == Block::Failed;
                self.end_block();
                if has_failed { "ROLLBACK" } else { "COMMIT" }
            }
            Command::Rollback => {
                self.warn_of_rollback();
                self.end_block();
                "ROLLBACK"
            }
            Command::Savepoint(tag) => {
                if *tag == "ROLLBACK" {
                    self.warn_of_rollback();
                    if self.block == Block::Failed {
                        self.block = Block::Open;
                    }
                }
                tag
            }
            Command::Close(cursor) => {
                match cursor {
                    Some(cursor) if self.portals.remove(cursor).is_none() => return Err(no_cursor(cursor).into()),
                    Some(_) => {}
                    None => self.portals.retain(|_, portal| !portal.is_cursor),
                }
                "CLOSE CURSOR"
            }
            Command::Deallocate(name) => match name {
                Some(name) if self.statements.remove(name).is_none() => return Err(no_statement(name).into()),
                Some(_) => "DEALLOCATE",
                None => {
                    self.statements.clear();
                    "DEALLOCATE ALL"
                }
            },
            Command::Discard => {
                self.statements.clear();
                self.portals.clear();
                self.variables.reset();
                "DISCARD ALL"
            }
            Command::Nothing(tag) => tag,
            Command::Query
            | Command::Catalog
            | Command::Show(_)
            | Command::Declare { .. }
            | Command::Fetch { .. }
            | Command::Copy(_) => return Err(PgError::new("XX000", "a command with rows has none").into()),
        };
        self.output.complete(tag);
        Ok(())
    }

    fn warn_of_rollback(&mut self) {
        if self.has_appended {
            self.output.tell(&PgError::warning("01000", "rows that were appended stay: an append is not undone"));
        }
    }

    fn end_block(&mut self) {
        (self.block, self.has_appended) = (Block::None, false);
        self.portals.retain(|_, portal| portal.is_held);
    }

    // Prepared statements and portals.

    async fn parse(&mut self, name: String, text: &str, declared: Vec<u32>) -> Done {
        let mut statements = query::statements(text).map_err(|error| PgError::of_query(error, text, 0))?;
        if statements.len() > 1 {
            return Err(PgError::new("42601", "a prepared statement is one statement").into());
        }
        let statement = statements.pop();
        if let Some(statement) = &statement {
            self.check_block(statement)?;
        }
        if !name.is_empty() && self.statements.contains_key(&name) {
            return Err(PgError::new("42P05", format!("there is such a statement already: statement=`{name}`")).into());
        }
        if self.statements.len() >= KEPT_MAX {
            return Err(PgError::new("53200", format!("too many statements: statements_max=`{KEPT_MAX}`")).into());
        }
        let kept = Arc::new(Kept { statement, declared, prepared: OnceLock::new() });
        // One with a name is run often, and looked at before.
        if !name.is_empty() {
            self.prepared(&kept).await?;
        }
        self.statements.insert(name, kept);
        self.output.bare(b'1');
        Ok(())
    }

    /// What the query of a statement takes and gives; `None` if it has none.
    async fn prepared<'a>(&self, kept: &'a Kept) -> Result<Option<&'a Prepared>, PgError> {
        let Some(query) = kept.query() else { return Ok(None) };
        if kept.prepared.get().is_none() {
            let prepared = self.session_of(query).prepare(&query.text).await;
            let prepared = prepared.map_err(|error| PgError::of_statement(error, query))?;
            // It is set once: the connection does one thing at a time.
            let _ = kept.prepared.set(prepared);
        }
        Ok(kept.prepared.get())
    }

    async fn bind(
        &mut self,
        name: String,
        statement: &str,
        formats: &[i16],
        values: Vec<Option<Bytes>>,
        results: Vec<i16>,
    ) -> Done {
        let kept = self.statements.get(statement).cloned().ok_or_else(|| no_statement(statement))?;
        if let Some(statement) = &kept.statement {
            self.check_block(statement)?;
        }
        let is_open = (0..values.len()).any(|place| kept.declared.get(place).copied().unwrap_or(0) == 0);
        let prepared = match is_open {
            true => self.prepared(&kept).await?,
            false => kept.prepared.get(),
        };
        let wanted = prepared.map(Prepared::parameters).unwrap_or_default();
        if prepared.is_some() && wanted.len() != values.len() {
            let text = format!("parameters do not match: found=`{}`, wanted=`{}`", values.len(), wanted.len());
            return Err(PgError::new("08P01", text).into());
        }
        let parameters = values.into_iter().enumerate().map(|(place, value)| {
            let declared = kept.declared.get(place).copied().unwrap_or(0);
            let wanted = wanted.get(place).copied().flatten();
            parameter(declared, wanted, Format::of(formats, place), value)
        });
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        self.keep_portal(name, Portal::new(kept, parameters, results))?;
        self.output.bare(b'2');
        Ok(())
    }

    fn keep_portal(&mut self, name: String, portal: Portal) -> Result<(), PgError> {
        if !name.is_empty() && self.portals.contains_key(&name) {
            return Err(PgError::new("42P03", format!("there is such a cursor already: cursor=`{name}`")));
        }
        if self.portals.len() >= KEPT_MAX {
            return Err(PgError::new("53200", format!("too many cursors: cursors_max=`{KEPT_MAX}`")));
        }
        self.portals.insert(name, portal);
        Ok(())
    }

    async fn describe_statement(&mut self, name: &str) -> Done {
        let kept = self.statements.get(name).cloned().ok_or_else(|| no_statement(name))?;
        let prepared = self.prepared(&kept).await?;
        let wanted = prepared.map(Prepared::parameters).unwrap_or_default();
        let count = wanted.len().max(kept.declared.len());
        self.output.frame(b't', |body| {
            body.put_i16(count as i16);
            for place in 0..count {
                let own =
                    wanted.get(place).copied().flatten().map_or(PgType::of(Type::String).oid, |ty| PgType::of(ty).oid);
                body.put_u32(kept.declared.get(place).copied().filter(|oid| *oid != 0).unwrap_or(own));
            }
        });
        let fields = self.fields_of(&kept).await?;
        self.describe_maybe(fields, &[]);
        Ok(())
    }

    async fn describe_portal(&mut self, name: &str) -> Done {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        let fields = self.start(&mut portal).await;
        let formats = portal.formats.clone();
        self.portals.insert(name.to_string(), portal);
        let fields = match fields? {
            Some(fields) => Some(fields),
            None => {
                let kept = self.portals[name].kept.clone();
                self.fields_of(&kept).await?
            }
        };
        self.describe_maybe(fields, &formats);
        Ok(())
    }

    /// The columns of what a statement gives; `None` if that is nothing.
    async fn fields_of(&self, kept: &Kept) -> Result<Option<Vec<Field>>, PgError> {
        let Some(statement) = &kept.statement else { return Ok(None) };
        Ok(match &statement.command {
            Command::Query | Command::Catalog => {
                let prepared = self.prepared(kept).await?;
                let rows = prepared.filter(|prepared| prepared.insert().is_none());
                rows.map(|prepared| prepared.fields().to_vec())
            }
            Command::Show(name) => Some(self.shown(name)?.0),
            Command::Fetch { cursor, skip: false, .. } => Some(self.fields_of_cursor(cursor).await?),
            _ => None,
        })
    }

    fn describe_maybe(&mut self, fields: Option<Vec<Field>>, formats: &[i16]) {
        match fields {
            Some(fields) => self.describe_rows(&fields, formats),
            None => self.output.bare(b'n'),
        }
    }

    fn describe_rows(&mut self, fields: &[Field], formats: &[i16]) {
        self.output.frame(b'T', |body| describe(fields, formats, body));
    }

    /// Begins to run a portal that gives rows of tables; the columns if it is one.
    async fn start(&self, portal: &mut Portal) -> Result<Option<Vec<Field>>, PgError> {
        if let Some(running) = &portal.running {
            return Ok(Some(running.rows.fields().to_vec()));
        }
        let Some(statement) = &portal.kept.statement else { return Ok(None) };
        if !matches!(statement.command, Command::Query | Command::Catalog) {
            return Ok(None);
        }
        // An INSERT is begun when it is executed.
        if portal.kept.prepared.get().is_some_and(|prepared| prepared.insert().is_some()) {
            return Ok(None);
        }
        let rows = self.rows(statement, portal.parameters.clone()).await?;
        if rows.insert().is_some() {
            return Ok(None);
        }
        let fields = rows.fields().to_vec();
        portal.running = Some(Running { rows, batch: None, is_done: false });
        Ok(Some(fields))
    }

    async fn rows(&self, statement: &Statement, parameters: Vec<(Type, Scalar)>) -> Result<Rows, PgError> {
        let rows = self.session_of(statement).run_with(statement.text.clone(), parameters).await;
        rows.map_err(|error| PgError::of_statement(error, statement))
    }

    async fn execute(&mut self, name: &str, rows_max: Option<u64>) -> Done {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        let kept = portal.kept.clone();
        let Some(statement) = &kept.statement else {
            self.output.bare(b'I');
            self.portals.insert(name.to_string(), portal);
            return Ok(());
        };
        self.check_block(statement)?;
        match &statement.command {
            Command::Query | Command::Catalog => {
                if self.start(&mut portal).await?.is_none() {
                    let rows = self.rows(statement, std::mem::take(&mut portal.parameters)).await?;
                    return self.insert(rows, statement).await;
                }
                let mut running = portal.running.take().expect("it was started");
                let sent = self.send(&mut running, rows_max, &portal.formats, statement).await?;
                match running.is_done {
                    true => self.output.complete(&format!("{} {sent}", tag(statement))),
                    false => self.output.bare(b's'),
                }
                portal.running = Some(running);
                self.portals.insert(name.to_string(), portal);
                Ok(())
            }
            Command::Show(name) => {
                let shown = self.shown(name)?;
                self.send_shown(&shown, &portal.formats);
                Ok(())
            }
            Command::Fetch { cursor, rows, skip } => self.fetch(cursor, *rows, *skip, &portal.formats).await,
            Command::Declare { cursor, query } => {
                // The cursor takes over the parameters, whose query it is.
                let kept = Kept {
                    statement: Some(query.as_ref().clone()),
                    declared: kept.declared.clone(),
                    prepared: kept.prepared.clone(),
                };
                self.declare(cursor, Arc::new(kept), portal.parameters, &statement.text).await
            }
            Command::Copy(copy) if copy.is_from => self.begin_copy(copy, true),
            Command::Copy(copy) => self.copy_out(copy, portal.parameters).await,
            other => self.command(other),
        }
    }

    /// Sends rows, at most so many; tells how many.
    async fn send(
        &mut self,
        running: &mut Running,
        rows_max: Option<u64>,
        formats: &[i16],
        statement: &Statement,
    ) -> Result<u64, Trouble> {
        let mut sent = 0;
        loop {
            if rows_max.is_some_and(|rows_max| sent >= rows_max) {
                return Ok(sent);
            }
            let Some((cells, at, rows)) = &mut running.batch else {
                match running.rows.next().await {
                    Some(batch) => {
                        let batch = batch.map_err(|error| PgError::of_statement(error, statement))?;
                        let cells = Cells::of(running.rows.fields(), &batch);
                        running.batch = Some((cells, 0, batch.num_rows()));
                    }
                    None => {
                        running.is_done = true;
                        return Ok(sent);
                    }
                }
                continue;
            };
            let left = rows_max.map_or(u64::MAX, |rows_max| rows_max - sent);
            let count = (*rows - *at).min(ROWS_AT_ONCE).min(left.min(usize::MAX as u64) as usize);
            cells.put_rows(*at..*at + count, formats, &mut self.output.buffer);
            *at += count;
            sent += count as u64;
            if at == rows {
                running.batch = None;
            }
            self.output.make_room().await?;
        }
    }

    /// The columns and rows of a SHOW.
    fn shown(&self, name: &str) -> Result<(Vec<Field>, Vec<Vec<String>>), PgError> {
        if name == "all" {
            let fields = ["name", "setting", "description"].map(|name| Field::new(name, Type::String));
            let rows = self.variables.all().into_iter().map(|(name, value)| vec![name, value, String::new()]);
            return Ok((fields.to_vec(), rows.collect()));
        }
        let value = self.variables.get(name);
        let value = value.ok_or_else(|| PgError::new("42704", format!("no such setting: setting=`{name}`")))?;
        let heading = match name {
            "time zone" => "TimeZone",
            "transaction isolation level" => "transaction_isolation",
            name => name,
        };
        Ok((vec![Field::new(heading, Type::String)], vec![vec![value]]))
    }

    fn send_shown(&mut self, (_, rows): &(Vec<Field>, Vec<Vec<String>>), _formats: &[i16]) {
        // Texts are the same in both forms.
        for row in rows {
            self.output.frame(b'D', |body| {
                body.put_i16(row.len() as i16);
                for cell in row {
                    body.put_i32(cell.len() as i32);
                    body.put_slice(cell.as_bytes());
                }
            });
        }
        self.output.complete("SHOW");
    }

    // Cursors.

    async fn declare(&mut self, cursor: &str, kept: Arc<Kept>, parameters: Vec<(Type, Scalar)>, text: &str) -> Done {
        let mut portal = Portal::new(kept, parameters, vec![]);
        if self.start(&mut portal).await?.is_none() {
            return Err(PgError::new("42P11", "a cursor is over a query").into());
        }
        portal.is_cursor = true;
        let words: Vec<String> = text.split_whitespace().take(10).map(str::to_lowercase).collect();
        portal.is_held = words.windows(2).any(|two| two == ["with", "hold"]);
        self.keep_portal(cursor.to_string(), portal)?;
        self.output.complete("DECLARE CURSOR");
        Ok(())
    }

    async fn fields_of_cursor(&self, cursor: &str) -> Result<Vec<Field>, PgError> {
        let portal = self.portals.get(cursor).ok_or_else(|| no_cursor(cursor))?;
        match &portal.running {
            Some(running) => Ok(running.rows.fields().to_vec()),
            None => Err(no_cursor(cursor)),
        }
    }

    async fn fetch(&mut self, cursor: &str, rows: Option<u64>, skip: bool, formats: &[i16]) -> Done {
        let mut portal = self.portals.remove(cursor).ok_or_else(|| no_cursor(cursor))?;
        let mut running = portal.running.take().ok_or_else(|| no_cursor(cursor))?;
        let kept = portal.kept.clone();
        let statement = kept.statement.as_ref().ok_or_else(|| no_cursor(cursor))?;
        let sent = match skip {
            false => self.send(&mut running, rows, formats, statement).await?,
            true => {
                // Rows that are passed over are made all the same.
                let before = self.output.buffer.len();
                let mut passed = 0;
                while rows.is_none_or(|rows| passed < rows) && !running.is_done {
                    let next = rows.map_or(ROWS_AT_ONCE as u64, |rows| (rows - passed).min(ROWS_AT_ONCE as u64));
                    passed += self.pass(&mut running, next, statement).await?;
                }
                debug_assert_eq!(before, self.output.buffer.len());
                passed
            }
        };
        portal.running = Some(running);
        self.portals.insert(cursor.to_string(), portal);
        self.output.complete(&format!("{} {sent}", if skip { "MOVE" } else { "FETCH" }));
        Ok(())
    }

    /// Passes over rows, at most so many; tells how many.
    async fn pass(&mut self, running: &mut Running, rows_max: u64, statement: &Statement) -> Result<u64, Trouble> {
        let Some((_, at, rows)) = &mut running.batch else {
            match running.rows.next().await {
                Some(batch) => {
                    let batch = batch.map_err(|error| PgError::of_statement(error, statement))?;
                    let cells = Cells::of(running.rows.fields(), &batch);
                    running.batch = Some((cells, 0, batch.num_rows()));
                }
                None => running.is_done = true,
            }
            return Ok(0);
        };
        let count = (*rows - *at).min(rows_max as usize);
        *at += count;
        if at == rows {
            running.batch = None;
        }
        Ok(count as u64)
    }

    // Rows that come in.

    async fn insert(&mut self, rows: Rows, statement: &Statement) -> Done {
        let target = rows.insert().cloned().ok_or_else(|| PgError::new("XX000", "an INSERT has no table"))?;
        let rows = rows.map(|batch| batch.map_err(|error| PgError::of_statement(error, statement)));
        let count = self.server.insert(&target, rows).await?;
        self.has_appended |= count > 0;
        self.output.complete(&format!("INSERT 0 {count}"));
        Ok(())
    }

    async fn append(&mut self, table: FullName, rows: Batch) -> Result<(), PgError> {
        if rows.rows() == 0 {
            return Ok(());
        }
        let server = self.server.clone();
        // An append waits for the log, and for graphs that are behind.
        let append = move || server.append(Append { table, writer: None, rows });
        let appended = tokio::task::spawn_blocking(append).await;
        appended.map_err(|_| PgError::new("XX000", "an append broke off"))??;
        self.has_appended = true;
        Ok(())
    }

    fn begin_copy(&mut self, copy: &Copy, is_extended: bool) -> Done {
        let CopyOf::Table(name, columns) = &copy.of else {
            return Err(PgError::new("42601", "rows are copied into a table").into());
        };
        let table = self.public_table(name)?;
        let schema = self.server.orca().table_of(&table).map_err(PgError::from)?.schema().clone();
        let rows = CopyIn::new(schema, columns, copy.clone())?;
        self.describe_copy(b'G', copy.format, rows.fields());
        self.copying = Some(Copying { table, rows, taken: 0, is_extended });
        Ok(())
    }

    /// A public table as a client wrote its name; names know no case.
    fn public_table(&self, name: &str) -> Result<FullName, PgError> {
        let catalog = self.tables.catalog();
        let parts: Vec<&str> = name.split('.').collect();
        let default = self.database.clone().unwrap_or_else(|| self.tables.default_catalog());
        let (of_catalog, schema, of_table) = match parts[..] {
            [table] => (default.as_str(), DEFAULT_SCHEMA, table),
            [schema, table] if schema.eq_ignore_ascii_case("public") => (default.as_str(), DEFAULT_SCHEMA, table),
            [schema, table] => (default.as_str(), schema, table),
            [catalog, schema, table] => (catalog, schema, table),
            _ => return Err(PgError::new("42602", format!("not a table's name: name=`{name}`"))),
        };
        let own = |known: Vec<String>, name: &str| known.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        let of_catalog = own(catalog.catalogs(), of_catalog).unwrap_or_else(|| of_catalog.to_string());
        if !schema.eq_ignore_ascii_case(DEFAULT_SCHEMA) {
            return Err(PgError::new("42501", format!("only public tables take rows: table=`{name}`")));
        }
        let known = catalog.tables(&of_catalog, DEFAULT_SCHEMA);
        let Some(table) = own(known.clone(), of_table) else {
            let near = lang::nearest(of_table, known.iter().map(String::as_str));
            let error = PgError::new("42P01", format!("unknown table: table=`{name}`"));
            return Err(PgError { hint: near.map(|near| format!("did you mean `{near}`?")), ..error });
        };
        FullName::new(&of_catalog, NameKind::Table, &table).map_err(|error| PgError::new("42602", error.to_string()))
    }

    fn describe_copy(&mut self, letter: u8, format: CopyFormat, fields: usize) {
        let format = (format == CopyFormat::Binary) as i16;
        self.output.frame(letter, |body| {
            body.put_u8(format as u8);
            body.put_i16(fields as i16);
            (0..fields).for_each(|_| body.put_i16(format));
        });
    }

    async fn copy_data(&mut self, bytes: Bytes) -> Done {
        // What comes after an error is not looked at.
        let Some(mut copying) = self.copying.take() else { return Ok(()) };
        copying.rows.push(&bytes)?;
        if copying.rows.rows() >= PIECE_ROWS {
            self.append_piece(&mut copying).await?;
        }
        self.copying = Some(copying);
        Ok(())
    }

    async fn copy_done(&mut self) -> Done {
        let Some(mut copying) = self.copying.take() else { return Ok(()) };
        copying.rows.finish()?;
        self.append_piece(&mut copying).await?;
        self.output.complete(&format!("COPY {}", copying.taken));
        if copying.is_extended { Ok(()) } else { self.run_waiting().await }
    }

    async fn append_piece(&mut self, copying: &mut Copying) -> Result<(), PgError> {
        let rows = copying.rows.take()?;
        copying.taken += rows.rows() as u64;
        self.append(copying.table.clone(), rows).await
    }

    async fn copy_out(&mut self, copy: &Copy, parameters: Vec<(Type, Scalar)>) -> Done {
        let query = match &copy.of {
            CopyOf::Query(query) => query.as_ref().clone(),
            CopyOf::Table(name, columns) => {
                let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
                let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
                let columns = if columns.is_empty() { "*".to_string() } else { columns.join(", ") };
                let table: Vec<String> = name.split('.').map(quoted).collect();
                let text = format!("SELECT {columns} FROM {}", table.join("."));
                query::statements(&text)
                    .ok()
                    .and_then(|mut statements| statements.pop())
                    .ok_or_else(|| PgError::new("42602", format!("not a table's name: name=`{name}`")))?
            }
        };
        let mut rows = self.rows(&query, parameters).await?;
        if rows.insert().is_some() {
            return Err(PgError::new("0A000", "only rows of a query are copied").into());
        }
        let out = CopyOut::new(copy.clone(), rows.fields().to_vec());
        self.describe_copy(b'H', copy.format, rows.fields().len());
        let (mut sent, mut scratch) = (0, BytesMut::new());
        let mut head = BytesMut::new();
        out.head(&mut head);
        // Clients take the head of the binary form with its first row.
        if copy.format != CopyFormat::Binary {
            self.send_copy(&head.split());
        }
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| PgError::of_statement(error, &query))?;
            let cells = out.cells(&batch);
            for row in 0..batch.num_rows() {
                self.output.frame(b'd', |body| {
                    body.put_slice(&head.split());
                    out.row(&cells, row, &mut scratch, body);
                });
                if row % ROWS_AT_ONCE == 0 {
                    self.output.make_room().await?;
                }
            }
            sent += batch.num_rows();
            self.output.make_room().await?;
        }
        out.foot(&mut head);
        self.send_copy(&head);
        self.output.bare(b'c');
        self.output.complete(&format!("COPY {sent}"));
        Ok(())
    }
}

impl Connection {
    /// Clients take a piece without bytes for the end.
    fn send_copy(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.output.frame(b'd', |body| body.put_slice(bytes));
        }
    }
}

impl Kept {
    /// The query that a statement is, or is about.
    fn query(&self) -> Option<&Statement> {
        let statement = self.statement.as_ref()?;
        match &statement.command {
            Command::Query | Command::Catalog => Some(statement),
            Command::Declare { query, .. } => Some(query),
            Command::Copy(Copy { of: CopyOf::Query(query), .. }) => Some(query),
            _ => None,
        }
    }
}

impl Portal {
    fn new(kept: Arc<Kept>, parameters: Vec<(Type, Scalar)>, formats: Vec<i16>) -> Portal {
        Portal { kept, parameters, formats, running: None, is_cursor: false, is_held: false }
    }
}

fn no_cursor(name: &str) -> PgError {
    PgError::new("34000", format!("no such cursor: cursor=`{name}`"))
}

fn no_statement(name: &str) -> PgError {
    PgError::new("26000", format!("no such statement: statement=`{name}`"))
}

/// How an answer with rows is tagged.
fn tag(statement: &Statement) -> &'static str {
    let first = statement.text.split_whitespace().next().unwrap_or_default();
    match first {
        first if first.eq_ignore_ascii_case("explain") => "EXPLAIN",
        first if first.eq_ignore_ascii_case("show") => "SHOW",
        _ => "SELECT",
    }
}

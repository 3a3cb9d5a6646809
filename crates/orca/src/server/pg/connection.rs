//! A connection: its prepared statements, portals and transaction, and what each message of its client does.
//!
//! Invariants:
//! - After an error the rest of a text is not run, and messages up to the next sync are not looked at.
//! - Transactions are what clients expect of their form alone: each append is atomic by itself and stays.

mod bulk;
mod portals;

use self::bulk::Copying;
use self::portals::{Kept, Portal, Running, no_cursor, no_statement, tag};
use super::cancel::Held;
use super::error::{PgError, Trouble};
use super::frames::{Frame, Input, Named, Output, Unread};
use super::startup::Client;
use super::variables::Variables;
use crate::server::Server;
use bytes::BufMut;
use futures::future::{Either, select};
use query::{Command, Session, Statement};
use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use tokio::sync::oneshot;

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
                self.send_shown(&shown);
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
}

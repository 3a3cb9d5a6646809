//! The commands of Flight SQL, each turned into the calls that every front makes.

use super::answer::{self, Messages};
use super::catalog;
use super::decode::batches;
use super::encode::outgoing_of;
use super::put::{self, Refuse};
use super::statements::{Parameters, Statement, Statements, new_id};
use super::status::{arrow_status, invalid, status};
use super::ticket::{Ticket, WITHIN_CANCEL, WITHIN_INFO, ticket_within};
use crate::failure::Failure;
use crate::server::Server;
use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::metadata::{SqlInfoDataBuilder, XdbcTypeInfoData};
use arrow_flight::sql::server::{DoPutError, FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::*;
use arrow_flight::{
    Action, ActionType, CancelStatus, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest,
    HandshakeResponse, IpcMessage, SchemaAsIpc,
};
use bytes::Bytes;
use data::{Column, Scalar, Type};
use env::Kind;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use graph::{FullName, NameKind};
use std::pin::Pin;
use std::sync::Arc;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};

/// The header that names the catalog of bare names.
const CATALOG: &str = "orca-catalog";

/// The header of a login.
const AUTHORIZATION: &str = "authorization";

/// How many parameter lists may be bound at once.
const RUNS_MAX: usize = 1 << 20;

/// The action beside those of Flight SQL.
const CANCEL: &str = "CancelFlightInfo";

/// A request that wants to know of rows, and not to have them made.
#[derive(Clone, Copy)]
pub(super) struct JustSchema;

/// The front.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) server: Arc<Server>,
    pub(super) statements: Arc<Statements>,
}

type Info = Result<Response<FlightInfo>, Status>;
type Got = Result<Response<<Front as FlightService>::DoGetStream>, Status>;

impl Front {
    /// The session of a request's bare names.
    fn session(&self, catalog: Option<String>) -> query::Session {
        let queries = self.server.orca().queries();
        match catalog {
            Some(_) => queries.in_catalog(catalog),
            None => queries.clone(),
        }
    }

    /// The rows of a ticket of ours.
    pub(super) async fn read(&self, ticket: Ticket) -> Result<Messages, Status> {
        let run = ticket.id().map(|id| self.statements.run(id));
        let messages = match ticket {
            Ticket::Query { sql, catalog, .. } => {
                let rows = self.session(catalog).run(&sql).await.map_err(status)?;
                match rows.insert() {
                    None => answer::rows(rows),
                    Some(_) => answer::whole(inserted(put::insert(&self.server, vec![rows]).await.map_err(status)?))?,
                }
            }
            Ticket::Prepared { prepared, .. } => self.read_prepared(&prepared).await?,
            Ticket::Ran { rows } => return answer::whole(inserted(rows)),
            Ticket::Subscribe(wanted) => super::subscribe::subscribe(&self.server, &wanted)?,
        };
        let messages = answer::until(messages, answer::stop(self.server.clone()));
        Ok(match run {
            Some(run) => answer::until(messages, run.cancelled()),
            None => messages,
        })
    }

    async fn read_prepared(&self, handle: &str) -> Result<Messages, Status> {
        let statement = self.statements.get(handle)?;
        if statement.prepared.insert().is_some() {
            return answer::whole(inserted(self.execute_insert(&statement).await?));
        }
        let mut runs = statement.runs()?.into_iter();
        let Some(first) = runs.next() else {
            let schema = outgoing_of(statement.prepared.fields());
            return answer::whole(RecordBatch::new_empty(schema));
        };
        let first = statement.prepared.execute(first).await.map_err(status)?;
        let (schema, prepared) = (first.schema(), statement.prepared);
        let others = stream::iter(runs).then(move |parameters| {
            let prepared = prepared.clone();
            async move { prepared.execute(parameters).await }
        });
        Ok(answer::rows_of_runs(&schema, first.chain(others.try_flatten())))
    }

    async fn execute_insert(&self, statement: &Statement) -> Result<i64, Status> {
        let mut runs = vec![];
        for parameters in statement.runs()? {
            runs.push(statement.prepared.execute(parameters).await.map_err(status)?);
        }
        put::insert(&self.server, runs).await.map_err(status)
    }

    /// What is told of a statement; an INSERT runs now, so that it has run whether its answer is read or not.
    async fn info_of_statement(&self, sql: String, request: &Request<FlightDescriptor>) -> Info {
        let catalog = catalog_of(request.metadata())?;
        let session = self.session(catalog.clone());
        let prepared = session.prepare(&sql).await.map_err(status)?;
        if !prepared.parameters().is_empty() {
            let count = prepared.parameters().len();
            return Err(invalid(format!("a statement with parameters is prepared first: parameters=`{count}`")));
        }
        match (prepared.insert(), request.extensions().get::<JustSchema>()) {
            (Some(_), Some(JustSchema)) => info(request, &inserted(0).schema(), &Ticket::Ran { rows: 0 }),
            (Some(_), None) => {
                let rows = prepared.execute(vec![]).await.map_err(status)?;
                let rows = put::insert(&self.server, vec![rows]).await.map_err(status)?;
                info(request, &inserted(rows).schema(), &Ticket::Ran { rows })
            }
            (None, _) => {
                let ticket = Ticket::Query { sql, catalog, id: Some(new_id()) };
                info(request, &outgoing_of(prepared.fields()), &ticket)
            }
        }
    }

    async fn info_of_prepared(&self, handle: &str, request: &Request<FlightDescriptor>) -> Info {
        let statement = self.statements.get(handle)?;
        if statement.prepared.insert().is_some() {
            let rows = match request.extensions().get::<JustSchema>() {
                Some(JustSchema) => 0,
                None => self.execute_insert(&statement).await?,
            };
            return info(request, &inserted(rows).schema(), &Ticket::Ran { rows });
        }
        let ticket = Ticket::Prepared { prepared: handle.to_string(), id: new_id() };
        match statement.prepared.parameters().is_empty() {
            true => info(request, &outgoing_of(statement.prepared.fields()), &ticket),
            // The types may depend on the parameters' own, so the rows tell them.
            false => Ok(Response::new(unread_info(request, &ticket))),
        }
    }

    /// A table by the path of a descriptor, and the query that gives its rows.
    fn info_of_table(&self, request: &Request<FlightDescriptor>) -> Info {
        let name = catalog::table_of_path(&self.server, &request.get_ref().path)?;
        Ok(Response::new(self.flight_of(&name, request.get_ref().clone())?))
    }

    /// What is told of a public table.
    pub(super) fn flight_of(&self, name: &FullName, descriptor: FlightDescriptor) -> Result<FlightInfo, Status> {
        let table = self.server.orca().table_of(name).map_err(status)?;
        let sql = format!("select * from \"{}\".{}.\"{}\"", name.catalog(), NameKind::Table.schema(), name.name());
        let ticket = Ticket::Query { sql, catalog: None, id: Some(new_id()) };
        let (_, start, end) = table.extent();
        let info = FlightInfo::new().try_with_schema(&outgoing_of(table.schema().fields())).map_err(arrow_status)?;
        let endpoint = FlightEndpoint::new().with_ticket(arrow_flight::Ticket::new(ticket.write()));
        Ok(info.with_endpoint(endpoint).with_descriptor(descriptor).with_total_records((end - start) as i64))
    }

    /// The parameters that a client binds to a statement, a list for each row it sends.
    async fn parameters(
        &self,
        statement: &Statement,
        came: PeekableFlightDataStream,
    ) -> Result<Vec<Parameters>, Status> {
        let wanted = statement.prepared.parameters();
        let mut runs = vec![];
        let mut came = batches(came);
        while let Some(batch) = came.try_next().await? {
            let columns = batch.rows.columns();
            if columns.len() != wanted.len() {
                return Err(invalid(format!(
                    "another number of parameters: wanted=`{}`, given=`{}`",
                    wanted.len(),
                    columns.len()
                )));
            }
            let columns = columns
                .iter()
                .zip(wanted)
                .enumerate()
                .map(|(place, (array, wanted))| parameter(&format!("${}", place + 1), array, *wanted));
            let columns = columns.collect::<Result<Vec<Column>, Failure>>().map_err(status)?;
            if runs.len() + batch.rows.num_rows() > RUNS_MAX {
                return Err(invalid(format!("too many lists of parameters: most=`{RUNS_MAX}`")));
            }
            runs.extend(
                (0..batch.rows.num_rows())
                    .map(|row| columns.iter().map(|column| (column.ty(), column.get(row))).collect::<Parameters>()),
            );
        }
        Ok(runs)
    }

    /// The table that a bulk ingestion is for.
    fn ingested(&self, command: &CommandStatementIngest, catalog: Option<String>) -> Result<FullName, Status> {
        let schema = command.schema.as_deref().filter(|schema| !schema.is_empty());
        if let Some(other) = schema.filter(|schema| !schema.eq_ignore_ascii_case(NameKind::Table.schema())) {
            return Err(invalid(format!("no such schema to write to: schema=`{other}`")));
        }
        let named = command.catalog.clone().filter(|catalog| !catalog.is_empty());
        let catalog = named.or(catalog);
        let name = self.server.orca().table_name(&command.table, catalog.as_deref()).map_err(status)?;
        let options = command.table_definition_options.unwrap_or_default();
        match (self.server.orca().table_of(&name), options.if_not_exist(), options.if_exists()) {
            (Ok(_), _, TableExistsOption::Append) => Ok(name),
            (Ok(_), _, TableExistsOption::Replace) => {
                Err(lacking(&format!("replacing a table by an append: table=`{name}`")))
            }
            (Ok(_), _, _) => {
                Err(status(Failure::of(Kind::Conflict, format!("table is there already: table=`{name}`"))))
            }
            (Err(_), TableNotExistOption::Create, _) => Err(lacking(&format!(
                "creating a table by an append: table=`{name}`; a script creates it, with createOrcaStreamTable"
            ))),
            (Err(failure), _, _) => Err(status(failure)),
        }
    }

    /// Cancels the query of a ticket.
    async fn cancel(&self, ticket: Option<Ticket>) -> Result<CancelStatus, Status> {
        let ticket = ticket.ok_or_else(|| invalid("no ticket of a query in what is to be cancelled"))?;
        match ticket.id() {
            Some(id) if self.statements.cancel(id) => Ok(CancelStatus::Cancelled),
            Some(_) => Err(status(Failure::of(Kind::NotFound, "no such query is running"))),
            None => Ok(CancelStatus::NotCancellable),
        }
    }
}

/// A column of parameters: of the type that the statement wants if nothing is lost by that, else of its own.
fn parameter(name: &str, array: &ArrayRef, wanted: Option<Type>) -> Result<Column, Failure> {
    let wanted = wanted.filter(|wanted| *wanted != Type::Void);
    if *array.data_type() == DataType::Null {
        return Ok(Column::repeat(wanted.unwrap_or(Type::Void), &Scalar::Null, array.len()));
    }
    if let Some(column) = wanted.and_then(|wanted| connect::column(name, wanted, array).ok()) {
        return Ok(column);
    }
    let own = Type::from_arrow(array.data_type())?;
    Ok(connect::column(name, own, array)?)
}

/// What an INSERT gives: how many rows.
fn inserted(rows: i64) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("rows", DataType::Int64, false)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int64Array::from(vec![rows]))]).expect("one column of numbers")
}

fn unread_info(request: &Request<FlightDescriptor>, ticket: &Ticket) -> FlightInfo {
    let endpoint = FlightEndpoint::new().with_ticket(arrow_flight::Ticket::new(ticket.write()));
    let total = if let Ticket::Ran { .. } = ticket { 1 } else { -1 };
    let info = FlightInfo::new().with_endpoint(endpoint).with_descriptor(request.get_ref().clone());
    info.with_total_records(total).with_total_bytes(-1).with_ordered(true)
}

fn info(request: &Request<FlightDescriptor>, schema: &Schema, ticket: &Ticket) -> Info {
    Ok(Response::new(unread_info(request, ticket).try_with_schema(schema).map_err(arrow_status)?))
}

/// What is told of a command whose rows the same command gives.
fn info_of_command(request: &Request<FlightDescriptor>, schema: &Schema) -> Info {
    let endpoint = FlightEndpoint::new().with_ticket(arrow_flight::Ticket::new(request.get_ref().cmd.clone()));
    let info = FlightInfo::new().try_with_schema(schema).map_err(arrow_status)?;
    Ok(Response::new(info.with_endpoint(endpoint).with_descriptor(request.get_ref().clone())))
}

fn got(batch: RecordBatch) -> Got {
    Ok(Response::new(answer::whole(batch)?))
}

/// The catalog that a request's header names.
fn catalog_of(headers: &MetadataMap) -> Result<Option<String>, Status> {
    let catalog = headers.get(CATALOG).map(|value| value.to_str().map(str::to_string)).transpose();
    catalog.map_err(|_| invalid(format!("a header is not text: header=`{CATALOG}`")))
}

/// A handle as clients give it back.
fn handle_of(bytes: &Bytes) -> Result<&str, Status> {
    std::str::from_utf8(bytes).map_err(|_| invalid("no such prepared statement: the handle is not one of ours"))
}

/// A schema as the bytes of a prepared statement's answer.
fn schema_bytes(schema: &Schema) -> Result<Bytes, Status> {
    let message: Result<IpcMessage, _> = SchemaAsIpc::new(schema, &IpcWriteOptions::default()).try_into();
    message.map(|IpcMessage(bytes)| bytes).map_err(arrow_status)
}

/// Transactions and plans are what this server does not have.
fn lacking(what: &str) -> Status {
    Status::unimplemented(format!("not supported: {what}"))
}

#[tonic::async_trait]
impl FlightSqlService for Front {
    type FlightService = Front;

    /// A login has been checked when a request comes here: its header is the token of those that follow.
    async fn do_handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Pin<Box<dyn Stream<Item = Result<HandshakeResponse, Status>> + Send>>>, Status> {
        let given = request.metadata().get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // Clients look for a bearer token; ours is what a basic login carries.
        let token = format!("Bearer {}", given.split_once(' ').map_or("", |(_, secret)| secret));
        let token = token.trim_end().to_string();
        let answer = HandshakeResponse { protocol_version: 0, payload: Bytes::from(token.clone()) };
        let mut response: Response<Pin<Box<dyn Stream<Item = _> + Send>>> =
            Response::new(Box::pin(stream::iter([Ok(answer)])));
        let token = token.parse().map_err(|_| invalid("the login is not text"))?;
        response.metadata_mut().insert(AUTHORIZATION, token);
        Ok(response)
    }

    async fn get_flight_info_statement(
        &self,
        query: CommandStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Info {
        self.info_of_statement(query.query, &request).await
    }

    async fn get_flight_info_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Info {
        self.info_of_prepared(handle_of(&query.prepared_statement_handle)?, &request).await
    }

    async fn get_flight_info_substrait_plan(
        &self,
        _query: CommandStatementSubstraitPlan,
        _request: Request<FlightDescriptor>,
    ) -> Info {
        Err(lacking("Substrait plans"))
    }

    async fn get_flight_info_fallback(&self, command: Command, request: Request<FlightDescriptor>) -> Info {
        match command {
            Command::Unknown(any) if any.type_url.is_empty() => self.info_of_table(&request),
            other => Err(lacking(other.type_url())),
        }
    }

    async fn get_flight_info_catalogs(&self, _: CommandGetCatalogs, request: Request<FlightDescriptor>) -> Info {
        info_of_command(&request, &catalog::catalogs(&self.server)?.schema())
    }

    async fn do_get_catalogs(&self, _: CommandGetCatalogs, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::catalogs(&self.server)?)
    }

    async fn get_flight_info_schemas(&self, query: CommandGetDbSchemas, request: Request<FlightDescriptor>) -> Info {
        info_of_command(&request, &query.into_builder().schema())
    }

    async fn do_get_schemas(&self, query: CommandGetDbSchemas, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::schemas(&self.server, query)?)
    }

    async fn get_flight_info_tables(&self, query: CommandGetTables, request: Request<FlightDescriptor>) -> Info {
        info_of_command(&request, &query.into_builder().schema())
    }

    async fn do_get_tables(&self, query: CommandGetTables, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::tables(&self.server, query)?)
    }

    async fn get_flight_info_table_types(&self, _: CommandGetTableTypes, request: Request<FlightDescriptor>) -> Info {
        info_of_command(&request, &catalog::table_types()?.schema())
    }

    async fn do_get_table_types(&self, _: CommandGetTableTypes, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::table_types()?)
    }

    async fn get_flight_info_sql_info(&self, _: CommandGetSqlInfo, request: Request<FlightDescriptor>) -> Info {
        info_of_command(&request, SqlInfoDataBuilder::schema())
    }

    async fn do_get_sql_info(&self, query: CommandGetSqlInfo, _: Request<arrow_flight::Ticket>) -> Got {
        got(query.into_builder(&catalog::SQL_INFO).build().map_err(Status::from)?)
    }

    async fn get_flight_info_xdbc_type_info(
        &self,
        _: CommandGetXdbcTypeInfo,
        request: Request<FlightDescriptor>,
    ) -> Info {
        info_of_command(&request, &XdbcTypeInfoData::schema(&catalog::TYPES))
    }

    async fn do_get_xdbc_type_info(&self, query: CommandGetXdbcTypeInfo, _: Request<arrow_flight::Ticket>) -> Got {
        got(query.into_builder(&catalog::TYPES).build().map_err(Status::from)?)
    }

    async fn get_flight_info_primary_keys(
        &self,
        query: CommandGetPrimaryKeys,
        request: Request<FlightDescriptor>,
    ) -> Info {
        info_of_command(&request, &catalog::primary_keys(&self.server, &query)?.schema())
    }

    async fn do_get_primary_keys(&self, query: CommandGetPrimaryKeys, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::primary_keys(&self.server, &query)?)
    }

    async fn get_flight_info_exported_keys(
        &self,
        _: CommandGetExportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Info {
        info_of_command(&request, &catalog::foreign_keys()?.schema())
    }

    async fn do_get_exported_keys(&self, _: CommandGetExportedKeys, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::foreign_keys()?)
    }

    async fn get_flight_info_imported_keys(
        &self,
        _: CommandGetImportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Info {
        info_of_command(&request, &catalog::foreign_keys()?.schema())
    }

    async fn do_get_imported_keys(&self, _: CommandGetImportedKeys, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::foreign_keys()?)
    }

    async fn get_flight_info_cross_reference(
        &self,
        _: CommandGetCrossReference,
        request: Request<FlightDescriptor>,
    ) -> Info {
        info_of_command(&request, &catalog::foreign_keys()?.schema())
    }

    async fn do_get_cross_reference(&self, _: CommandGetCrossReference, _: Request<arrow_flight::Ticket>) -> Got {
        got(catalog::foreign_keys()?)
    }

    async fn do_get_fallback(&self, _: Request<arrow_flight::Ticket>, message: Any) -> Got {
        Err(invalid(format!("not a ticket: type=`{}`", message.type_url)))
    }

    async fn do_put_fallback(
        &self,
        mut request: Request<PeekableFlightDataStream>,
        message: Any,
    ) -> Result<Response<<Self as FlightService>::DoPutStream>, Status> {
        if !message.type_url.is_empty() {
            return Err(lacking(&message.type_url));
        }
        let first = request.get_mut().peek().await.cloned().transpose()?;
        let path = first.and_then(|data| data.flight_descriptor).map(|descriptor| descriptor.path).unwrap_or_default();
        let name = match path.as_slice() {
            [verb, table] if verb == "append" => self.server.table_name(table).map_err(status)?,
            other => {
                return Err(invalid(format!("rows go to a path: path=`{}`, known=`append/TABLE`", other.join("/"))));
            }
        };
        let puts = put::append(self.server.clone(), name, request.into_inner(), Refuse::AtOnce)?;
        let puts = answer::until(puts, answer::stop(self.server.clone()));
        Ok(Response::new(put::answers(puts)))
    }

    async fn do_put_error_callback(
        &self,
        _: Request<PeekableFlightDataStream>,
        error: DoPutError,
    ) -> Result<Response<<Self as FlightService>::DoPutStream>, Status> {
        Err(invalid(format!("rows come with a descriptor that says where they go: {error}").to_lowercase()))
    }

    async fn do_put_statement_update(
        &self,
        command: CommandStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let session = self.session(catalog_of(request.metadata())?);
        let rows = session.run(&command.query).await.map_err(status)?;
        match rows.insert() {
            Some(_) => put::insert(&self.server, vec![rows]).await.map_err(status),
            None => Err(invalid("this statement changes nothing: it is a query")),
        }
    }

    async fn do_put_statement_ingest(
        &self,
        command: CommandStatementIngest,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let name = match catalog_of(request.metadata()).and_then(|catalog| self.ingested(&command, catalog)) {
            Ok(name) => name,
            Err(status) => return Err(put::refuse_at_the_end(request.into_inner(), status).await),
        };
        let puts = put::append(self.server.clone(), name, request.into_inner(), Refuse::AtTheEnd)?;
        let mut puts = answer::until(puts, answer::stop(self.server.clone()));
        let mut rows = 0;
        while let Some(put) = puts.try_next().await? {
            rows += put.rows as i64;
        }
        Ok(rows)
    }

    async fn do_put_prepared_statement_query(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        let handle = handle_of(&query.prepared_statement_handle)?;
        let statement = self.statements.get(handle)?;
        let runs = self.parameters(&statement, request.into_inner()).await?;
        self.statements.bind(handle, runs)?;
        Ok(DoPutPreparedStatementResult { prepared_statement_handle: Some(query.prepared_statement_handle.clone()) })
    }

    async fn do_put_prepared_statement_update(
        &self,
        command: CommandPreparedStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let mut statement = self.statements.get(handle_of(&command.prepared_statement_handle)?)?;
        if statement.prepared.insert().is_none() {
            return Err(invalid("this statement changes nothing: it is a query"));
        }
        if !statement.prepared.parameters().is_empty() {
            let runs = self.parameters(&statement, request.into_inner()).await?;
            // Those that were bound before hold if none come with it.
            if !runs.is_empty() {
                statement.bound = Some(Arc::new(runs));
            }
        }
        self.execute_insert(&statement).await
    }

    async fn do_put_substrait_plan(
        &self,
        _: CommandStatementSubstraitPlan,
        _: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        Err(lacking("Substrait plans"))
    }

    async fn do_action_create_prepared_statement(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let session = self.session(catalog_of(request.metadata())?);
        let prepared = session.prepare(&query.query).await.map_err(status)?;
        let dataset_schema = match prepared.insert() {
            Some(_) => Bytes::new(),
            None => schema_bytes(&outgoing_of(prepared.fields()))?,
        };
        let parameters = prepared.parameters().iter().enumerate().map(|(place, ty)| {
            // Where any type would do, text does.
            data::Field::new(format!("${}", place + 1), ty.unwrap_or(Type::String))
        });
        let parameter_schema = schema_bytes(&outgoing_of(&parameters.collect::<Vec<_>>()))?;
        let prepared_statement_handle = Bytes::from(self.statements.keep(prepared));
        Ok(ActionCreatePreparedStatementResult { prepared_statement_handle, dataset_schema, parameter_schema })
    }

    async fn do_action_close_prepared_statement(
        &self,
        query: ActionClosePreparedStatementRequest,
        _: Request<Action>,
    ) -> Result<(), Status> {
        self.statements.close(handle_of(&query.prepared_statement_handle)?);
        Ok(())
    }

    async fn do_action_cancel_query(
        &self,
        query: ActionCancelQueryRequest,
        _: Request<Action>,
    ) -> Result<ActionCancelQueryResult, Status> {
        let status = self.cancel(ticket_within(&query.info, WITHIN_INFO)).await?;
        Ok(ActionCancelQueryResult { result: status as i32 })
    }

    async fn do_action_fallback(
        &self,
        request: Request<Action>,
    ) -> Result<Response<<Self as FlightService>::DoActionStream>, Status> {
        let action = request.into_inner();
        match action.r#type.as_str() {
            CANCEL => {
                let status = self.cancel(ticket_within(&action.body, WITHIN_CANCEL)).await?;
                // A `CancelFlightInfoResult`, whose only field is this number.
                let result = arrow_flight::Result::new(vec![0x08, status as u8]);
                let results: BoxStream<'static, _> = stream::iter([Ok(result)]).boxed();
                Ok(Response::new(results))
            }
            other => Err(invalid(format!("no such action: action=`{other}`"))),
        }
    }

    async fn list_custom_actions(&self) -> Option<Vec<Result<ActionType, Status>>> {
        let cancel = ActionType { r#type: CANCEL.into(), description: "Cancels a query that runs.".into() };
        Some(vec![Ok(cancel)])
    }

    async fn register_sql_info(&self, _id: i32, _result: &SqlInfo) {}
}

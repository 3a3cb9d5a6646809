//! The Flight SQL front: queries, appends and subscriptions as Arrow, by gRPC on the port of HTTP.
//!
//! Invariants:
//! - Nothing a client sends ends more than its own request.
//! - An answer is made no faster than it is read; dropped, it ends its query.
//! - An answer that breaks off ends with an error, never as if it were whole.

mod answer;
mod catalog;
mod decode;
mod encode;
mod put;
mod sql;
mod statements;
mod status;
mod subscribe;
mod ticket;

use crate::server::Server;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest, PollInfo, SchemaResult,
};
use axum::Router;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use sql::{Front, JustSchema};
use statements::Statements;
use std::sync::Arc;
use ticket::Ticket;
use tonic::{Request, Response, Status, Streaming};

/// How large a message of a client may be.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The routes of Flight, for the router of HTTP.
pub fn routes(server: Arc<Server>) -> Router {
    let front = Front { server, statements: Arc::new(Statements::default()) };
    let service = FlightServiceServer::new(Service(front)).max_decoding_message_size(MESSAGE_BYTES_MAX);
    Router::new().route_service("/arrow.flight.protocol.FlightService/{*call}", service)
}

/// Flight as it stands below Flight SQL: tickets of ours, tables by their paths; the rest goes on.
struct Service(Front);

#[tonic::async_trait]
impl FlightService for Service {
    type HandshakeStream = <Front as FlightService>::HandshakeStream;
    type ListFlightsStream = <Front as FlightService>::ListFlightsStream;
    type DoGetStream = <Front as FlightService>::DoGetStream;
    type DoPutStream = <Front as FlightService>::DoPutStream;
    type DoActionStream = <Front as FlightService>::DoActionStream;
    type ListActionsStream = <Front as FlightService>::ListActionsStream;
    type DoExchangeStream = <Front as FlightService>::DoExchangeStream;

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        self.0.handshake(request).await
    }

    /// The public tables.
    async fn list_flights(&self, _: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        let names: Vec<_> =
            self.0.server.orca().with_worker(|worker| worker.tables().map(|(name, _)| name.clone()).collect());
        let infos = names.into_iter().filter_map(|name| {
            let descriptor = FlightDescriptor::new_path(vec![name.to_string()]);
            // One that has been dropped meanwhile is not there.
            self.0.flight_of(&name, descriptor).ok().map(Ok)
        });
        let infos: BoxStream<'static, _> = stream::iter(infos.collect::<Vec<_>>()).boxed();
        Ok(Response::new(infos))
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        self.0.get_flight_info(request).await
    }

    async fn poll_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        self.0.poll_flight_info(request).await
    }

    async fn get_schema(&self, mut request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        request.extensions_mut().insert(JustSchema);
        let info = self.0.get_flight_info(request).await?.into_inner();
        Ok(Response::new(SchemaResult { schema: info.schema }))
    }

    async fn do_get(&self, request: Request<arrow_flight::Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        match Ticket::is_ours(&request.get_ref().ticket) {
            true => Ok(Response::new(self.0.read(Ticket::read(&request.get_ref().ticket)?).await?)),
            false => self.0.do_get(request).await,
        }
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        self.0.do_put(request).await
    }

    async fn do_exchange(
        &self,
        request: Request<Streaming<FlightData>>,
    ) -> Result<Response<Self::DoExchangeStream>, Status> {
        self.0.do_exchange(request).await
    }

    async fn do_action(&self, request: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        self.0.do_action(request).await
    }

    async fn list_actions(&self, request: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        self.0.list_actions(request).await
    }
}

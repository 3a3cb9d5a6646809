//! Traces: the spans `submit`, `query` and `append`, sent by OTLP over gRPC where an endpoint is set.

use crate::failure::Failure;
use env::Kind;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// What sends traces, on a thread of its own.
pub struct Traces {
    provider: SdkTracerProvider,
    runtime: tokio::runtime::Runtime,
}

impl Traces {
    /// Begins to send to this endpoint: `http://host:4317`. Nobody waits for it: what cannot be sent is dropped.
    pub fn start(endpoint: &str) -> Result<Traces, Failure> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("traces").enable_all().build()?;
        let provider = {
            let _within = runtime.enter();
            let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build().map_err(|error| {
                Failure::of(Kind::Invalid, format!("traces cannot be sent: trace.endpoint=`{endpoint}`, {error}"))
            })?;
            let resource = Resource::builder().with_service_name("orca").build();
            SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build()
        };
        Ok(Traces { provider, runtime })
    }

    /// The layer that hears of spans.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.provider.tracer("orca"));
        layer.with_filter(filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("orca")))
    }

    /// Sends what is left, and ends.
    pub fn finish(self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
        self.runtime.shutdown_background();
    }
}

//! What is measured: one list of metrics, collected when somebody asks from the same facts that `orca_sys` shows.
//!
//! Invariants:
//! - Nothing is counted here on the way of a row: the facts are there anyway, and are looked at.
//! - Every series of a metric has the labels that the list names, and there are at most `metrics.series_max` of them.

use crate::server::Server;
use crate::tables::node_counts;
use data::Batch;
use master::GraphState;
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use query::{BOUNDS_S, Durations};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The content type of [`text`].
pub const MEDIA: &str = prometheus_text::CONTENT_TYPE;

/// What stands for the labels that were too many.
const OTHER: &str = "other";

/// One thing that is measured.
#[derive(Debug)]
pub struct Metric {
    /// Its name, with its unit, and `_total` at the end of a counter.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// The labels of its series.
    pub labels: &'static [&'static str],
    /// How its value behaves.
    pub kind: MetricKind,
}

/// How the value of a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// It only grows, but for a restart.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Durations by class.
    Histogram,
}

macro_rules! metrics {
    ($($id:ident $kind:ident $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(static $id: Metric = Metric { name: $name, help: $help, labels: &[$($label),*], kind: MetricKind::$kind };)*
        /// All metrics, in the order in which they are shown.
        pub static METRICS: &[&Metric] = &[$(&$id),*];
    };
}

metrics! {
    BUILD Gauge "orca_build_info" ["version"] "The program's version; always 1";
    UPTIME Gauge "orca_uptime_seconds" [] "How long the server has been there";
    CPU Counter "orca_process_cpu_seconds_total" [] "Processor time of all threads";
    RESIDENT Gauge "orca_process_resident_bytes" [] "Memory of the process now";
    PEAK Gauge "orca_process_peak_bytes" [] "The greatest memory the process has had";
    GRAPHS Gauge "orca_graphs" ["state"] "Graphs by state";
    GRAPH_TASKS Gauge "orca_graph_tasks" ["graph"] "Tasks of a graph";
    GRAPH_EPOCHS Counter "orca_graph_epochs_total" ["graph"] "Epochs that a running graph has begun";
    GRAPH_FINISHED Counter "orca_graph_epochs_finished_total" ["graph"] "Epochs that a running graph has finished";
    GRAPH_WAITING Gauge "orca_graph_waiting_rows" ["graph"] "Rows that wait to be processed";
    NODE_IN Counter "orca_node_rows_in_total" ["graph", "node"] "Rows that a node took";
    NODE_OUT Counter "orca_node_rows_out_total" ["graph", "node"] "Rows that a node gave";
    NODE_LATE Counter "orca_node_rows_late_total" ["graph", "node"] "Rows that a node dropped because they came too late";
    NODE_REJECTED Counter "orca_node_rows_rejected_total" ["graph", "node"] "Rows that a node dropped for another reason";
    NODE_NULL_KEYS Counter "orca_node_rows_null_key_total" ["graph", "node"] "Rows that an edge dropped because their key was NULL";
    TABLE_ROWS Gauge "orca_table_rows" ["table"] "Rows that a table keeps";
    TABLE_BYTES Gauge "orca_table_memory_bytes" ["table"] "About how much memory the rows of a table take";
    TABLE_START Gauge "orca_table_start_offset" ["table"] "The offset of the first row a table keeps";
    TABLE_END Gauge "orca_table_end_offset" ["table"] "The offset of a table's next row";
    APPENDS Counter "orca_appends_total" ["result"] "Appends of clients: new, held or failed";
    APPEND_ROWS Counter "orca_append_rows_total" [] "Rows that tables took from clients";
    APPEND_SECONDS Histogram "orca_append_seconds" [] "How long appends of clients took";
    SUBSCRIPTIONS Gauge "orca_subscriptions" ["table"] "Readers of a table";
    SUBSCRIPTION_LAG Gauge "orca_subscription_lag_rows" ["table"] "How many rows the slowest reader of a table is behind";
    SUBSCRIPTION_MISSED Gauge "orca_subscription_missed_rows" ["table"] "Rows that the readers a table has now have missed";
    QUERIES_FAILED Counter "orca_queries_failed_total" [] "Queries that failed";
    QUERY_SECONDS Histogram "orca_query_seconds" [] "How long queries took, to their last row";
    REQUESTS Counter "orca_http_requests_total" ["method", "route", "status"] "HTTP requests";
    REQUEST_SECONDS Histogram "orca_http_request_seconds" ["route"] "How long HTTP requests took, to the head of the answer";
}

/// What was asked for over HTTP so far.
#[derive(Debug, Default)]
pub struct Requests {
    counts: Mutex<BTreeMap<(&'static str, String, u16), AtomicU64>>,
    durations: Mutex<BTreeMap<String, Durations>>,
}

impl Requests {
    /// Counts a request. The route is that of the document, not the path, so that there are few.
    pub fn note(&self, method: &'static str, route: &str, status: u16, duration: Duration) {
        *self.counts.lock().entry((method, route.to_string(), status)).or_default().get_mut() += 1;
        let mut durations = self.durations.lock();
        if !durations.contains_key(route) {
            durations.insert(route.to_string(), Durations::default());
        }
        durations[route].note(duration);
    }
}

/// The series of one metric.
#[derive(Debug)]
pub struct Family {
    metric: &'static Metric,
    series: Vec<(Vec<String>, Value)>,
}

#[derive(Debug, Clone)]
enum Value {
    Number(f64),
    Histogram { classes: [u64; BOUNDS_S.len() + 1], sum_s: f64 },
}

impl Value {
    fn of(durations: &Durations) -> Value {
        Value::Histogram { classes: durations.classes(), sum_s: durations.sum_s() }
    }

    fn add(&mut self, other: &Value) {
        match (self, other) {
            (Value::Number(sum), Value::Number(more)) => *sum += more,
            (Value::Histogram { classes, sum_s }, Value::Histogram { classes: more, sum_s: more_s }) => {
                classes.iter_mut().zip(more).for_each(|(count, more)| *count += more);
                *sum_s += more_s;
            }
            _ => unreachable!("the series of a metric are of one kind"),
        }
    }
}

impl Family {
    /// The same with at most so many series: those beyond are one, under the label `other`.
    fn capped(mut self, series_max: usize) -> Family {
        let kept = series_max.max(1) - 1;
        if self.series.len() > kept + 1 {
            let beyond = self.series.split_off(kept);
            let mut sum = beyond[0].1.clone();
            beyond[1..].iter().for_each(|(_, value)| sum.add(value));
            self.series.push((vec![OTHER.to_string(); self.metric.labels.len()], sum));
        }
        self
    }
}

/// Collects the families of one moment.
struct Families(BTreeMap<&'static str, Vec<(Vec<String>, Value)>>);

impl Families {
    fn put(&mut self, metric: &'static Metric, labels: &[&str], value: Value) {
        assert_eq!(metric.labels.len(), labels.len(), "{}", metric.name);
        let labels = labels.iter().map(|label| label.to_string()).collect();
        self.0.entry(metric.name).or_default().push((labels, value));
    }

    fn number(&mut self, metric: &'static Metric, labels: &[&str], value: f64) {
        self.put(metric, labels, Value::Number(value));
    }

    fn count(&mut self, metric: &'static Metric, labels: &[&str], value: u64) {
        self.number(metric, labels, value as f64);
    }
}

/// Everything that is measured, now.
pub fn collect(server: &Server) -> Vec<Family> {
    let mut families = Families(BTreeMap::new());
    of_process(server, &mut families);
    of_graphs(server, &mut families);
    of_tables(server, &mut families);
    of_clients(server, &mut families);
    let series_max = server.settings().whole("metrics.series_max") as usize;
    let family = |metric: &&'static Metric| {
        Family { metric, series: families.0.remove(metric.name).unwrap_or_default() }.capped(series_max)
    };
    METRICS.iter().map(family).collect()
}

fn of_process(server: &Server, families: &mut Families) {
    families.number(&BUILD, &[env!("CARGO_PKG_VERSION")], 1.0);
    families.number(&UPTIME, &[], server.uptime().as_secs_f64());
    families.number(&CPU, &[], env::process_cpu_ns() as f64 / 1e9);
    families.count(&RESIDENT, &[], env::process_resident_bytes());
    families.count(&PEAK, &[], env::process_peak_bytes());
}

fn of_graphs(server: &Server, families: &mut Families) {
    use GraphState as S;
    let there: Vec<(String, GraphState, usize)> = server.orca().with_master(|master| {
        let there = master.graphs().filter(|graph| graph.is_there());
        there.map(|graph| (graph.logical.name.to_string(), graph.state, graph.plan.tasks.len())).collect()
    });
    for state in [S::Building, S::Running, S::Error, S::Failed, S::Stopping, S::Stopped, S::Destroying] {
        let count = there.iter().filter(|(_, of, _)| *of == state).count();
        families.count(&GRAPHS, &[&state.to_string()], count as u64);
    }
    there.iter().for_each(|(graph, _, tasks)| families.count(&GRAPH_TASKS, &[graph], *tasks as u64));
    let flows: Vec<_> = server
        .orca()
        .with_worker(|worker| worker.flows().map(|(graph, flow)| (graph.to_string(), flow.clone())).collect());
    for (graph, flow) in &flows {
        families.count(&GRAPH_EPOCHS, &[graph], flow.epoch());
        families.count(&GRAPH_FINISHED, &[graph], flow.finished());
        families.count(&GRAPH_WAITING, &[graph], flow.waiting_rows());
        for (node, stream::NodeCounts { counts, null_keys }) in node_counts(flow) {
            let labels = [graph.as_str(), &node];
            families.count(&NODE_IN, &labels, counts.rows_in);
            families.count(&NODE_OUT, &labels, counts.rows_out);
            families.count(&NODE_LATE, &labels, counts.late);
            families.count(&NODE_REJECTED, &labels, counts.rejected);
            families.count(&NODE_NULL_KEYS, &labels, null_keys);
        }
    }
}

fn of_tables(server: &Server, families: &mut Families) {
    let tables: Vec<_> = server
        .orca()
        .with_worker(|worker| worker.tables().map(|(name, table)| (name.to_string(), table.clone())).collect());
    for (name, table) in &tables {
        let (_, start, end) = table.extent();
        let (_, batches) = table.batches();
        families.count(&TABLE_ROWS, &[name], end - start);
        families.count(&TABLE_BYTES, &[name], batches.iter().map(Batch::bytes).sum::<usize>() as u64);
        families.count(&TABLE_START, &[name], start);
        families.count(&TABLE_END, &[name], end);
    }
}

fn of_clients(server: &Server, families: &mut Families) {
    let appends = server.appends();
    for (result, count) in [("new", &appends.new), ("held", &appends.held), ("failed", &appends.failed)] {
        families.count(&APPENDS, &[result], count.load(Relaxed));
    }
    families.count(&APPEND_ROWS, &[], appends.rows.load(Relaxed));
    families.put(&APPEND_SECONDS, &[], Value::of(&appends.durations));

    let mut readers: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for place in server.readers() {
        let (count, lag, missed) = readers.entry(place.table.name().to_string()).or_default();
        (*count, *lag, *missed) = (*count + 1, place.lag().max(*lag), *missed + place.missed.load(Relaxed));
    }
    for (table, (count, lag, missed)) in &readers {
        families.count(&SUBSCRIPTIONS, &[table], *count);
        families.count(&SUBSCRIPTION_LAG, &[table], *lag);
        families.count(&SUBSCRIPTION_MISSED, &[table], *missed);
    }

    let queries = server.orca().queries().figures();
    families.count(&QUERIES_FAILED, &[], queries.failed());
    families.put(&QUERY_SECONDS, &[], Value::of(&queries.durations));

    for ((method, route, status), count) in server.requests().counts.lock().iter() {
        families.count(&REQUESTS, &[method, route, &status.to_string()], count.load(Relaxed));
    }
    for (route, durations) in server.requests().durations.lock().iter() {
        families.put(&REQUEST_SECONDS, &[route], Value::of(durations));
    }
}

/// Each number with its name and its labels, as in the text of Prometheus: `route="/v1/sql"`. A histogram is its sum and its
/// count.
pub fn flat(families: &[Family]) -> Vec<(String, String, f64)> {
    let mut rows = vec![];
    for Family { metric, series } in families {
        for (labels, value) in series {
            let pairs = metric.labels.iter().zip(labels).map(|(label, value)| format!("{label}={value:?}"));
            let labels = pairs.collect::<Vec<_>>().join(",");
            match value {
                Value::Number(number) => rows.push((metric.name.to_string(), labels, *number)),
                Value::Histogram { classes, sum_s } => {
                    let count = classes.iter().sum::<u64>() as f64;
                    rows.push((format!("{}_sum", metric.name), labels.clone(), *sum_s));
                    rows.push((format!("{}_count", metric.name), labels, count));
                }
            }
        }
    }
    rows
}

/// Everything as the text that Prometheus reads.
pub fn text(families: Vec<Family>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Collected(families)));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Collected(Vec<Family>);

impl Collector for Collected {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for Family { metric, series } in &self.0 {
            let kind = match metric.kind {
                MetricKind::Counter => MetricType::Counter,
                MetricKind::Gauge => MetricType::Gauge,
                MetricKind::Histogram => MetricType::Histogram,
            };
            // The encoder puts `_total` behind the name of a counter itself.
            let name = metric.name.strip_suffix("_total").unwrap_or(metric.name);
            let mut family = encoder.encode_descriptor(name, metric.help, None, kind)?;
            for (labels, value) in series {
                let labels: Vec<(&str, &str)> =
                    metric.labels.iter().zip(labels).map(|(label, value)| (*label, value.as_str())).collect();
                match labels.is_empty() {
                    true => encode(value, metric.kind, &mut family)?,
                    false => encode(value, metric.kind, &mut family.encode_family(&labels)?)?,
                }
            }
        }
        Ok(())
    }
}

fn encode(value: &Value, kind: MetricKind, encoder: &mut MetricEncoder) -> fmt::Result {
    match value {
        Value::Number(number) if kind == MetricKind::Counter => {
            encoder.encode_counter::<NoLabelSet, _, f64>(number, None)
        }
        Value::Number(number) => encoder.encode_gauge(number),
        Value::Histogram { classes, sum_s } => {
            let bounds = BOUNDS_S.iter().copied().chain([f64::INFINITY]);
            let classes: Vec<(f64, u64)> = bounds.zip(classes.iter().copied()).collect();
            let count = classes.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(*sum_s, count, &classes, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_beyond_the_cap_is_summed_under_other() {
        let series = |name: &str, value| (vec![name.to_string()], Value::Number(value));
        let all = vec![series("a", 1.0), series("b", 2.0), series("c", 4.0)];
        let flat_of = |max| flat(&[Family { metric: &TABLE_ROWS, series: all.clone() }.capped(max)]);
        assert_eq!(flat_of(3).len(), 3);
        let capped = flat_of(2);
        assert_eq!(capped[0].1, "table=\"a\"");
        assert_eq!((capped[1].1.as_str(), capped[1].2), ("table=\"other\"", 6.0));
        assert_eq!(flat_of(1), vec![("orca_table_rows".to_string(), "table=\"other\"".to_string(), 7.0)]);
    }

    #[test]
    fn names_follow_the_convention() {
        for metric in METRICS {
            assert!(metric.name.starts_with("orca_"), "{}", metric.name);
            assert_eq!(metric.kind == MetricKind::Counter, metric.name.ends_with("_total"), "{}", metric.name);
            assert!(!metric.help.ends_with('.') && !metric.help.is_empty(), "{}", metric.name);
        }
    }
}

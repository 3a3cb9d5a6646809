//! The server's own facts as tables of the schema `orca_sys`.

use super::Server;
use crate::metrics;
use crate::tables::AddedTable;
use data::{Scalar, Type};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Adds them to the tables that SQL sees.
pub(super) fn add(server: &Arc<Server>) {
    for table in TABLES {
        // The tables belong to the process, and that to the server.
        let (weak, rows) = (Arc::downgrade(server), table.rows);
        server.orca.add_system_table(AddedTable {
            name: table.name,
            columns: table.columns,
            rows: Box::new(move || weak.upgrade().map_or(vec![], |server| rows(&server))),
        });
    }
}

struct ServerTable {
    name: &'static str,
    columns: &'static [(&'static str, Type)],
    rows: fn(&Server) -> Vec<Vec<Scalar>>,
}

static TABLES: &[ServerTable] = &[
    ServerTable {
        name: "settings",
        columns: &[
            ("setting", Type::String),
            ("value", Type::String),
            ("origin", Type::String),
            ("help", Type::String),
        ],
        rows: |server| {
            let row = |(setting, value, origin): (&crate::settings::Setting, &str, &crate::settings::Origin)| {
                vec![text(setting.key), text(value), text(&origin.to_string()), text(setting.help)]
            };
            server.settings.shown().map(row).collect()
        },
    },
    ServerTable {
        name: "subscriptions",
        columns: &[
            ("table", Type::String),
            ("next_offset", Type::Long),
            ("lag", Type::Long),
            ("missed", Type::Long),
            ("slow", Type::String),
            ("filter", Type::String),
        ],
        rows: |server| {
            let row = |place: &Arc<super::Place>| {
                vec![
                    text(place.table.name()),
                    whole(place.offset.load(Relaxed)),
                    whole(place.lag()),
                    whole(place.missed.load(Relaxed)),
                    text(place.slow.name()),
                    place.filter.as_deref().map_or(Scalar::Null, text),
                ]
            };
            server.readers().iter().map(row).collect()
        },
    },
    ServerTable {
        name: "metrics",
        columns: &[("name", Type::String), ("labels", Type::String), ("value", Type::Double)],
        rows: |server| {
            let rows = metrics::flat(&metrics::collect(server)).into_iter();
            rows.map(|(name, labels, value)| vec![text(&name), text(&labels), Scalar::Float(value)]).collect()
        },
    },
];

fn text(text: &str) -> Scalar {
    Scalar::Text(text.into())
}

fn whole(number: u64) -> Scalar {
    Scalar::Int(number as i64)
}

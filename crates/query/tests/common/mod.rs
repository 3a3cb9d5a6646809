//! A catalog in memory whose tables may change while it is used.

use query::{Catalog, Scan};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Tables by schema and name, in each of the catalogs.
pub struct Tables {
    catalogs: Vec<String>,
    tables: Mutex<BTreeMap<(String, String), Arc<dyn Scan>>>,
}

impl Tables {
    /// No tables in catalogs of these names.
    pub fn of(catalogs: &[&str]) -> Tables {
        Tables { catalogs: catalogs.iter().map(|name| name.to_string()).collect(), tables: Mutex::default() }
    }

    /// And this table.
    pub fn with(self, schema: &str, name: &str, scan: impl Scan + 'static) -> Tables {
        self.set(schema, name, Some(scan));
        self
    }

    /// Puts a table in the place of another of its name; none if `None`.
    pub fn set(&self, schema: &str, name: &str, scan: Option<impl Scan + 'static>) {
        let (mut tables, key) = (self.tables.lock().unwrap(), (schema.to_string(), name.to_string()));
        match scan {
            Some(scan) => drop(tables.insert(key, Arc::new(scan))),
            None => drop(tables.remove(&key)),
        }
    }
}

impl Catalog for Tables {
    fn catalogs(&self) -> Vec<String> {
        self.catalogs.clone()
    }

    fn schemas(&self, _: &str) -> Vec<String> {
        vec!["orca_table".into(), "orca_sys".into()]
    }

    fn tables(&self, _: &str, schema: &str) -> Vec<String> {
        let tables = self.tables.lock().unwrap();
        tables.keys().filter(|(of, _)| of == schema).map(|(_, name)| name.clone()).collect()
    }

    fn table(&self, _: &str, schema: &str, name: &str) -> Option<Arc<dyn Scan>> {
        self.tables.lock().unwrap().get(&(schema.to_string(), name.to_string())).cloned()
    }
}

//! The catalog as DataFusion asks for it.
//!
//! Invariants:
//! - A query sees one picture of a table, however often it names it.
//! - Partition `i` of a scan holds rows before those of partition `i + 1`, each in the order of their offsets.

use crate::catalog::{Catalog, OFFSET, Picture, Scan};
use crate::names::Spelling;
use crate::session::ANY_CATALOG;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, Session, TableProvider};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{Expr, LogicalPlan, TableSource, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The key of a field's metadata that keeps the column's own name, should the query spell it otherwise.
pub(crate) const COLUMN_NAME: &str = "orca.name";

/// A partition of fewer rows is not worth a task.
const PARTITION_ROWS_MIN: usize = 8_192;

/// The name in `known` that equals `name` without regard to case.
pub(crate) fn own_case(known: Vec<String>, name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    known.into_iter().find(|known| known.to_lowercase() == lower)
}

/// The catalogs; while there are none, the one of bare names, whose tables of the system are there all the same.
pub(crate) fn catalogs(catalog: &dyn Catalog) -> Vec<String> {
    let known = catalog.catalogs();
    if known.is_empty() { vec![ANY_CATALOG.to_string()] } else { known }
}

/// The full name of a table: catalog, schema and name, each in its own case.
pub type FullName = [String; 3];

/// The catalog as one query sees it.
#[derive(Clone)]
pub(crate) struct QueryCatalog {
    catalog: Arc<dyn Catalog>,
    spelling: Arc<Spelling>,
    opened: Arc<Mutex<BTreeMap<FullName, Arc<ScanTable>>>>,
}

impl QueryCatalog {
    pub(crate) fn new(catalog: Arc<dyn Catalog>, spelling: Arc<Spelling>) -> QueryCatalog {
        QueryCatalog { catalog, spelling, opened: Arc::default() }
    }

    fn open(&self, name: FullName) -> Option<Arc<ScanTable>> {
        let mut opened = self.opened.lock();
        if let Some(table) = opened.get(&name) {
            return Some(table.clone());
        }
        let [catalog, schema, table] = &name;
        let scan = self.catalog.table(catalog, schema, table)?;
        let table = Arc::new(ScanTable::new(name.clone(), scan, &self.spelling));
        opened.insert(name, table.clone());
        Some(table)
    }
}

impl fmt::Debug for QueryCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueryCatalog")
    }
}

impl CatalogProviderList for QueryCatalog {
    fn register_catalog(&self, _: String, _: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        self.catalog.catalogs()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let name = own_case(catalogs(&*self.catalog), name)?;
        Some(Arc::new(OneCatalog { all: self.clone(), name }))
    }
}

#[derive(Debug)]
struct OneCatalog {
    all: QueryCatalog,
    name: String,
}

impl CatalogProvider for OneCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.all.catalog.schemas(&self.name)
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let name = own_case(self.schema_names(), name)?;
        Some(Arc::new(OneSchema { all: self.all.clone(), catalog: self.name.clone(), name }))
    }
}

#[derive(Debug)]
struct OneSchema {
    all: QueryCatalog,
    catalog: String,
    name: String,
}

#[async_trait]
impl SchemaProvider for OneSchema {
    fn table_names(&self) -> Vec<String> {
        self.all.catalog.tables(&self.catalog, &self.name)
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(name) = own_case(self.table_names(), name) else { return Ok(None) };
        let table = self.all.open([self.catalog.clone(), self.name.clone(), name]);
        Ok(table.map(|table| table as Arc<dyn TableProvider>))
    }

    fn table_exist(&self, name: &str) -> bool {
        own_case(self.table_names(), name).is_some()
    }
}

/// A plan over the tables as they are now, one picture of each; `None` if a table is not what it was, or comes from
/// elsewhere.
pub(crate) fn reopened(plan: LogicalPlan, catalog: &Arc<dyn Catalog>) -> Result<Option<LogicalPlan>> {
    over(plan, |table| table.reopened(catalog))
}

/// A plan that keeps the columns of its tables alone, to be reopened; `None` if a table comes from elsewhere.
pub(crate) fn closed(plan: LogicalPlan) -> Result<Option<LogicalPlan>> {
    over(plan, |table| Some(table.with(Arc::new(Closed(table.scan.schema())))))
}

fn over(plan: LogicalPlan, other: impl Fn(&ScanTable) -> Option<ScanTable>) -> Result<Option<LogicalPlan>> {
    let (mut opened, mut is_whole) = (BTreeMap::<FullName, Arc<dyn TableSource>>::new(), true);
    let plan = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let provider = source_as_provider(&scan.source)?;
        let found = provider.downcast_ref::<ScanTable>().and_then(|table| {
            if let Some(source) = opened.get(&table.name) {
                return Some(source.clone());
            }
            let source = provider_as_source(Arc::new(other(table)?));
            opened.insert(table.name.clone(), source.clone());
            Some(source)
        });
        match found {
            Some(source) => scan.source = source,
            None => is_whole = false,
        }
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    })?;
    Ok(is_whole.then_some(plan.data))
}

/// The columns of a table that is not held.
struct Closed(Arc<data::Schema>);

impl Scan for Closed {
    fn schema(&self) -> Arc<data::Schema> {
        self.0.clone()
    }

    fn picture(&self) -> std::result::Result<Picture, lang::Diagnostic> {
        Err(lang::Diagnostic::new("a kept plan runs only over tables that are opened again"))
    }
}

/// A table as one query sees it: its columns as the query spells them, and the offset if the query asks for it.
struct ScanTable {
    name: FullName,
    scan: Arc<dyn Scan>,
    schema: SchemaRef,
    picture: OnceLock<std::result::Result<Picture, String>>,
}

impl ScanTable {
    fn new(name: FullName, scan: Arc<dyn Scan>, spelling: &Spelling) -> ScanTable {
        let own = scan.schema().to_arrow();
        let mut fields: Vec<Field> = Vec::with_capacity(own.fields().len() + 1);
        for field in own.fields() {
            let mut metadata = field.metadata().clone();
            metadata.insert(COLUMN_NAME.to_string(), field.name().clone());
            fields.push(field.as_ref().clone().with_name(spelling.of(field.name())).with_metadata(metadata));
        }
        if spelling.names_offset() {
            fields.push(Field::new(OFFSET, DataType::Int64, false));
        }
        ScanTable { name, scan, schema: Arc::new(Schema::new(fields)), picture: OnceLock::new() }
    }

    /// The table of this name as it is now; `None` if there is none any more, or it has other columns.
    fn reopened(&self, catalog: &Arc<dyn Catalog>) -> Option<ScanTable> {
        let [of_catalog, schema, table] = &self.name;
        let scan = catalog.table(of_catalog, schema, table).filter(|scan| scan.schema() == self.scan.schema())?;
        Some(self.with(scan))
    }

    fn with(&self, scan: Arc<dyn Scan>) -> ScanTable {
        ScanTable { name: self.name.clone(), scan, schema: self.schema.clone(), picture: OnceLock::new() }
    }

    fn picture(&self) -> Result<&Picture> {
        let picture = self.picture.get_or_init(|| self.scan.picture().map_err(|error| error.to_string()));
        picture.as_ref().map_err(|reason| DataFusionError::Execution(reason.clone()))
    }

    /// The picked columns of at most `rows_max` rows, cut into partitions.
    fn partitions(&self, columns: &[usize], rows_max: usize, target: usize) -> Result<Vec<Vec<RecordBatch>>> {
        let picture = self.picture()?;
        let schema = Arc::new(self.schema.project(columns)?);
        let rows: usize = picture.batches.iter().map(data::Batch::rows).sum::<usize>().min(rows_max);
        let count = (rows / PARTITION_ROWS_MIN).clamp(1, target.max(1));
        let mut partitions = vec![vec![]; count];
        let mut done = 0;
        for batch in &picture.batches {
            let batch = batch.slice(0, batch.rows().min(rows - done));
            if batch.rows() == 0 {
                continue;
            }
            let first = picture.first_offset as i64 + done as i64;
            let array = |&column: &usize| -> ArrayRef {
                match batch.columns().get(column) {
                    Some(column) => column.to_arrow(),
                    None => Arc::new(Int64Array::from_iter_values(first..first + batch.rows() as i64)),
                }
            };
            let options = RecordBatchOptions::new().with_row_count(Some(batch.rows()));
            let arrays = columns.iter().map(array).collect();
            let partition = done * count / rows;
            partitions[partition].push(RecordBatch::try_new_with_options(schema.clone(), arrays, &options)?);
            done += batch.rows();
        }
        Ok(partitions)
    }
}

impl fmt::Debug for ScanTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for ScanTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let target = state.config().target_partitions();
        let partitions = self.partitions(&columns, limit.unwrap_or(usize::MAX), target)?;
        let schema = Arc::new(self.schema.project(&columns)?);
        let mut source = MemorySourceConfig::try_new(&partitions, schema.clone(), None)?;
        if let Ok(offset) = schema.index_of(OFFSET) {
            let by_offset = PhysicalSortExpr::new(Arc::new(Column::new(OFFSET, offset)), SortOptions::default());
            source = source.try_with_sort_information(LexOrdering::new([by_offset]).into_iter().collect())?;
        }
        Ok(DataSourceExec::from_data_source(source))
    }
}

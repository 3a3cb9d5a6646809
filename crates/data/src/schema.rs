//! Names and types of the columns of a table. Names keep their case and are matched without regard to it.

use crate::error::{Error, Result};
use crate::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// The key under which a field of an Arrow schema keeps the script type.
const SCRIPT_TYPE: &str = "orca.type";

/// One column's name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name, in the case it was written in.
    pub name: Arc<str>,
    /// The type.
    pub ty: Type,
}

impl Field {
    /// A field of this name and type.
    pub fn new(name: impl Into<Arc<str>>, ty: Type) -> Field {
        Field { name: name.into(), ty }
    }

    /// The Arrow field, which keeps the script type in its metadata.
    pub fn to_arrow(&self) -> arrow_schema::Field {
        arrow_schema::Field::new(&*self.name, self.ty.to_arrow(), true)
            .with_metadata(HashMap::from([(SCRIPT_TYPE.to_string(), self.ty.to_string())]))
    }
}

/// The columns of a table, in order; no two have the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    fields: Vec<Field>,
}

impl Schema {
    /// A schema of these fields; an error names the first name that comes twice.
    pub fn new(fields: Vec<Field>) -> Result<Schema> {
        let mut seen = HashMap::new();
        for field in &fields {
            if seen.insert(field.name.to_lowercase(), ()).is_some() {
                return Err(Error::DuplicateColumn { column: field.name.to_string() });
            }
        }
        Ok(Schema { fields })
    }

    /// A schema from names and types, for tests and literals.
    pub fn of(fields: &[(&str, Type)]) -> Arc<Schema> {
        let fields = fields.iter().map(|(name, ty)| Field::new(*name, *ty)).collect();
        Arc::new(Schema::new(fields).expect("a literal schema names each column once"))
    }

    /// The columns in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many columns.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// No column at all?
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The place of a column, its name matched without regard to case.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let exact = self.fields.iter().position(|field| &*field.name == name);
        exact.or_else(|| {
            let name = name.to_lowercase();
            self.fields.iter().position(|field| field.name.to_lowercase() == name)
        })
    }

    /// The column of this name, matched without regard to case.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.index_of(name).map(|index| &self.fields[index])
    }

    /// The names in order.
    pub fn names(&self) -> Vec<String> {
        self.fields.iter().map(|field| field.name.to_string()).collect()
    }

    /// The same columns, in the same order, by name without regard to case and by type?
    pub fn same_as(&self, other: &Schema) -> bool {
        self.len() == other.len()
            && self
                .fields
                .iter()
                .zip(&other.fields)
                .all(|(mine, theirs)| mine.ty == theirs.ty && mine.name.to_lowercase() == theirs.name.to_lowercase())
    }

    /// The Arrow schema; each field names its script type in its metadata.
    pub fn to_arrow(&self) -> arrow_schema::Schema {
        arrow_schema::Schema::new(self.fields.iter().map(Field::to_arrow).collect::<Vec<_>>())
    }

    /// The schema of an Arrow schema: the script type a field names, else the nearest one.
    pub fn from_arrow(arrow: &arrow_schema::Schema) -> Result<Schema> {
        let mut fields = Vec::with_capacity(arrow.fields().len());
        for field in arrow.fields() {
            let named = field.metadata().get(SCRIPT_TYPE).and_then(|name| Type::parse(name));
            let ty = match named {
                Some(ty) if ty.to_arrow() == *field.data_type() => ty,
                _ => Type::from_arrow(field.data_type())?,
            };
            fields.push(Field::new(field.name().as_str(), ty));
        }
        Schema::new(fields)
    }
}

//! The values of the script language.

use crate::diagnostic::{Diagnostic, Source, Span};
use crate::matrix::Matrix;
use crate::tree::{Expr, FunctionDef};
use data::{Batch, Column, Scalar, Schema, Type, stable_hash};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A value of the script language.
#[derive(Debug, Clone)]
pub enum Value {
    /// One value of a column type; `(Void, Null)` is a bare `NULL`.
    Scalar(Type, Scalar),
    /// A length of time such as `5m`: count and unit (`y M w d H m s ms us ns`).
    Duration(i64, Arc<str>),
    /// A vector of one type.
    Vector(Column),
    /// A tuple: values of any kind.
    Tuple(Vec<Value>),
    /// A matrix.
    Matrix(Arc<Matrix>),
    /// `a:b`.
    Pair(Box<Value>, Box<Value>),
    /// A dictionary; shared, as all containers that can be changed in place.
    Dict(Arc<Mutex<Dict>>),
    /// A table in memory.
    Table(Table),
    /// A type as a value, such as `INT`.
    Type(Type),
    /// A function of the library, by name.
    Builtin(Arc<str>),
    /// A user function, perhaps with some arguments given already.
    Function(UserFunction),
    /// Metacode.
    Code(Code),
    /// Something that only the host understands: a graph, a stream.
    Object(Arc<dyn Object>),
}

/// How many containers may stand within one another.
const LEVELS_MAX: usize = 64;

/// What a value that is too deep is refused with.
pub(crate) fn too_deep() -> Diagnostic {
    Diagnostic::new(format!("values are nested too deeply: levels=`{LEVELS_MAX}`"))
}

impl Value {
    /// About how many bytes it takes, what it shares with others counted as its own.
    pub fn bytes(&self) -> usize {
        const EACH: usize = size_of::<Value>();
        EACH + match self {
            Value::Scalar(_, Scalar::Text(text)) => text.len(),
            Value::Scalar(_, Scalar::Bytes(bytes)) => bytes.len(),
            Value::Scalar(_, Scalar::List(column)) => column_bytes(column),
            Value::Vector(column) => column_bytes(column),
            Value::Tuple(values) => values.iter().map(Value::bytes).sum(),
            Value::Pair(a, b) => a.bytes() + b.bytes(),
            Value::Matrix(matrix) => matrix.bytes(),
            // A dictionary may hold itself, so its values are counted where they are made.
            Value::Dict(dict) => dict.lock().entries.len() * 2 * EACH,
            Value::Table(table) => table.batch().columns().iter().map(column_bytes).sum(),
            _ => 0,
        }
    }

    /// Do more than [`LEVELS_MAX`] containers stand within one another? All that walks a value descends.
    pub(crate) fn too_deep(&self) -> bool {
        fn deeper(value: &Value, levels: usize, visits: &mut usize) -> bool {
            if levels == 0 || *visits == 0 {
                return levels == 0;
            }
            match value {
                Value::Tuple(values) => {
                    *visits -= 1;
                    values.iter().any(|value| deeper(value, levels - 1, visits))
                }
                Value::Pair(a, b) => deeper(a, levels - 1, visits) || deeper(b, levels - 1, visits),
                Value::Dict(dict) => {
                    *visits -= 1;
                    dict.lock().entries.iter().any(|(_, value)| deeper(value, levels - 1, visits))
                }
                _ => false,
            }
        }
        deeper(self, LEVELS_MAX, &mut 100_000)
    }

    /// A bare `NULL`.
    pub const NULL: Value = Value::Scalar(Type::Void, Scalar::Null);

    /// A STRING; an empty one is its NULL.
    pub fn text(text: &str) -> Value {
        Value::Scalar(Type::String, if text.is_empty() { Scalar::Null } else { Scalar::Text(text.into()) })
    }

    /// An INT.
    pub fn int(value: i32) -> Value {
        Value::Scalar(Type::Int, Scalar::Int(value as i64))
    }

    /// A LONG.
    pub fn long(value: i64) -> Value {
        Value::Scalar(Type::Long, Scalar::Int(value))
    }

    /// A DOUBLE.
    pub fn double(value: f64) -> Value {
        Value::Scalar(Type::Double, Scalar::Float(value))
    }

    /// A BOOL.
    pub fn bool(value: bool) -> Value {
        Value::Scalar(Type::Bool, Scalar::Bool(value))
    }

    /// A STRING vector.
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
        Value::Vector(Column::of_texts(texts.into_iter().map(Some)))
    }

    /// What these values make when written in a row: a vector if they are scalars of one kind, with the widest of
    /// their types, else a tuple. NULLs take the type of the others.
    pub fn vector(values: Vec<Value>) -> Value {
        let mut common = Type::Void;
        for value in &values {
            let joined = match value {
                // An array vector's cell is a vector, but several of them are a tuple of vectors.
                Value::Scalar(ty, _) if ty.element().is_none() => vector_type(common, *ty),
                _ => None,
            };
            match joined {
                Some(ty) => common = ty,
                None => return Value::Tuple(values),
            }
        }
        let scalars = values.iter().map(|value| match value {
            Value::Scalar(_, scalar) => scalar,
            _ => unreachable!("only scalars have a common type"),
        });
        Value::Vector(Column::of_scalars(common, scalars))
    }

    /// Is it a bare `NULL` or the NULL of a type?
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Scalar(_, Scalar::Null))
    }

    /// The text of a STRING or SYMBOL; an empty one for their NULL.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Scalar(ty, Scalar::Null) if ty.is_text() => Some(""),
            Value::Scalar(_, scalar) => scalar.as_text(),
            _ => None,
        }
    }

    /// The whole number of a scalar.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Scalar(ty, scalar) if ty.is_number() => scalar.as_i64(),
            _ => None,
        }
    }

    /// The truth value of a scalar; `None` for NULL and for what has none.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Scalar(_, Scalar::Bool(value)) => Some(*value),
            Value::Scalar(ty, scalar) if ty.is_number() => scalar.as_f64().map(|value| value != 0.0),
            _ => None,
        }
    }

    /// What it is, as `typestr` says it.
    pub fn kind(&self) -> String {
        match self {
            Value::Scalar(ty, _) => ty.to_string(),
            Value::Duration(..) => "DURATION".to_string(),
            Value::Vector(column) if column.ty() == Type::String => "STRING VECTOR".to_string(),
            Value::Vector(column) => format!("FAST {} VECTOR", column.ty()),
            Value::Tuple(_) => "ANY VECTOR".to_string(),
            Value::Matrix(matrix) if matrix.ty() == Type::String => "STRING MATRIX".to_string(),
            Value::Matrix(matrix) => format!("FAST {} MATRIX", matrix.ty()),
            Value::Pair(a, _) => format!("{} PAIR", a.kind()),
            Value::Dict(dict) => {
                let dict = dict.lock();
                match dict.set {
                    true => format!("{} SET", dict.key_type()),
                    false => format!("{}->ANY DICTIONARY", dict.key_type()),
                }
            }
            Value::Table(_) => "IN-MEMORY TABLE".to_string(),
            Value::Type(_) => "DATATYPE".to_string(),
            Value::Builtin(_) | Value::Function(_) => "FUNCTIONDEF".to_string(),
            Value::Code(_) => "CODE".to_string(),
            Value::Object(object) => object.class().to_string(),
        }
    }

    /// One row of a column; the cell of an array vector is a vector.
    pub fn of_row(column: &Column, row: usize) -> Value {
        match column.get(row) {
            Scalar::List(cell) => Value::Vector(Arc::unwrap_or_clone(cell)),
            scalar => Value::Scalar(column.ty(), scalar),
        }
    }

    /// One text or a vector or tuple of texts, as names; `None` if it is none of these.
    pub fn names(&self) -> Option<Vec<Arc<str>>> {
        match self {
            Value::Tuple(values) => values.iter().map(|value| value.as_text().map(Arc::from)).collect(),
            Value::Vector(column) => {
                let texts = column.to_strings()?;
                Some(texts.texts().iter().map(|text| text.unwrap_or("").into()).collect())
            }
            value => Some(vec![value.as_text()?.into()]),
        }
    }
}

pub(crate) fn column_bytes(column: &Column) -> usize {
    match column.ty() {
        Type::String => {
            let offsets = column.texts().value_offsets();
            (offsets[offsets.len() - 1] - offsets[0]) as usize + 4 * column.len()
        }
        _ => column.bytes(),
    }
}

/// The type of a vector that holds values of both types as they are; `None` if there is none.
pub(crate) fn vector_type(a: Type, b: Type) -> Option<Type> {
    // From narrow to wide.
    const NUMBERS: [Type; 7] = [Type::Bool, Type::Char, Type::Short, Type::Int, Type::Long, Type::Float, Type::Double];
    let width = |ty| NUMBERS.iter().position(|&number| number == ty);
    match (a, b) {
        (a, b) if a == b => Some(a),
        (Type::Void, other) | (other, Type::Void) => Some(other),
        (Type::Long, Type::Float) | (Type::Float, Type::Long) => Some(Type::Double),
        (a, b) if a.is_text() && b.is_text() => Some(Type::String),
        (a, b) => Some(NUMBERS[width(a)?.max(width(b)?)]),
    }
}

/// A dictionary in the order of insertion.
#[derive(Debug, Default)]
pub struct Dict {
    /// Type of the keys.
    pub keys: Option<Type>,
    /// Entries.
    pub entries: Vec<(Scalar, Value)>,
    /// Is it a set, whose keys alone count?
    pub set: bool,
    /// The places of the first so many entries by the hash of their keys; made and kept up by [`Dict::set`].
    places: HashMap<u64, Vec<u32>>,
    indexed: usize,
}

impl Dict {
    /// The type of the keys; STRING for a dictionary that has none yet.
    pub fn key_type(&self) -> Type {
        self.keys.unwrap_or(Type::String)
    }

    /// A dictionary of these entries, whose keys differ.
    pub fn of(keys: Type, entries: Vec<(Scalar, Value)>) -> Dict {
        Dict { keys: Some(keys), entries, ..Dict::default() }
    }

    /// A set of a column's values, each once.
    pub(crate) fn set_of(values: &Column) -> Value {
        let entries = (0..values.len()).map(|row| (values.get(row), Value::NULL)).collect();
        Value::Dict(Arc::new(Mutex::new(Dict { set: true, ..Dict::of(values.ty(), entries) })))
    }

    /// A dictionary that shares nothing with this one.
    pub(crate) fn copy(&self) -> Dict {
        let Dict { keys, entries, set, .. } = self;
        Dict { keys: *keys, entries: entries.clone(), set: *set, ..Dict::default() }
    }

    /// The keys.
    pub(crate) fn key_column(&self) -> Column {
        Column::of_scalars(self.key_type(), self.entries.iter().map(|(key, _)| key))
    }

    /// The value of a key.
    pub fn get(&self, key: &Scalar) -> Option<&Value> {
        self.place(key).map(|place| &self.entries[place].1)
    }

    fn place(&self, key: &Scalar) -> Option<usize> {
        if self.indexed != self.entries.len() {
            return self.entries.iter().position(|(known, _)| known == key);
        }
        let places = self.places.get(&stable_hash(key))?;
        places.iter().map(|&place| place as usize).find(|&place| self.entries[place].0 == *key)
    }

    /// Notes the places of entries that came or went by other ways than [`Dict::set`].
    fn index(&mut self) {
        if self.indexed == self.entries.len() {
            return;
        }
        self.places.clear();
        for (place, (key, _)) in self.entries.iter().enumerate() {
            self.places.entry(stable_hash(key)).or_default().push(place as u32);
        }
        self.indexed = self.entries.len();
    }

    /// Gives a key a value; a new key goes to the end.
    pub fn set(&mut self, key: Scalar, value: Value) {
        self.index();
        match self.place(&key) {
            Some(place) => self.entries[place].1 = value,
            None => {
                self.places.entry(stable_hash(&key)).or_default().push(self.entries.len() as u32);
                self.indexed += 1;
                self.entries.push((key, value));
            }
        }
    }
}

/// A table in memory, shared and growing.
#[derive(Debug, Clone)]
pub struct Table {
    content: Arc<Mutex<Content>>,
    /// What happens to new rows.
    pub rule: Arc<TableRule>,
}

/// What happens to rows that are added to a table.
#[derive(Debug, Default)]
pub struct TableRule {
    /// The key columns; none where rows need not differ.
    pub keys: Vec<Arc<str>>,
    /// Rows stay as they are: of a key the first row is kept, not the last, and nothing is changed or taken away.
    pub stream: bool,
}

#[derive(Debug)]
struct Content {
    rows: Batch,
    /// The places of the rows by the hash of their keys; `None` until they are asked for, and after other changes.
    places: Option<HashMap<u64, Vec<u32>>>,
}

impl Table {
    /// A table of these rows.
    pub fn new(rows: Batch) -> Table {
        let content = Arc::new(Mutex::new(Content { rows, places: None }));
        Table { content, rule: Arc::default() }
    }

    /// An empty table with a rule.
    pub(crate) fn ruled(schema: Arc<Schema>, rule: TableRule) -> Table {
        Table { rule: Arc::new(rule), ..Table::new(Batch::empty(schema)) }
    }

    /// The rows now.
    pub fn batch(&self) -> Batch {
        self.content.lock().rows.clone()
    }

    /// A table of the same rows and rule that shares nothing with this one.
    pub(crate) fn copy(&self) -> Table {
        Table { rule: self.rule.clone(), ..Table::new(self.batch()) }
    }

    /// Where it is in memory: the same for all that share it.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.content) as usize
    }

    /// Puts these rows in the place of all, unless that breaks the table's rule.
    pub(crate) fn set(&self, rows: Batch) -> Result<(), Diagnostic> {
        if self.rule.stream {
            let error = Diagnostic::new("rows and columns of a stream table stay as they are; rows can only be added");
            return Err(error.help("take a copy that can be changed: `select * from t`"));
        }
        if self.rule.keys.is_empty() {
            *self.content.lock() = Content { rows, places: None };
            return Ok(());
        }
        let count = rows.rows();
        let new = Table { rule: self.rule.clone(), ..Table::new(Batch::empty(rows.schema().clone())) };
        new.add(rows)?;
        if new.batch().rows() < count {
            let keys = self.rule.keys.join("`, `");
            return Err(Diagnostic::new(format!("several rows would have one key: keys=`{keys}`")));
        }
        std::mem::swap(&mut *self.content.lock(), &mut *new.content.lock());
        Ok(())
    }

    /// Adds rows of the same columns by the table's rule.
    pub(crate) fn add(&self, new: Batch) -> Result<(), Diagnostic> {
        let mut content = self.content.lock();
        let before = content.rows.clone();
        let all = Batch::concat(before.schema().clone(), &[before.clone(), new])?;
        if self.rule.keys.is_empty() {
            content.rows = all;
            return Ok(());
        }
        let column = |name: &Arc<str>| match all.schema().index_of(name) {
            Some(place) => Ok(all.column(place)),
            None => Err(Diagnostic::new(format!("a key column of the table is gone: column=`{name}`"))),
        };
        let keys = self.rule.keys.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let hashes = keys.iter().map(|key| key.stable_hashes()).reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all = all.rotate_left(25) ^ more);
            all
        });
        let hashes = hashes.unwrap_or_default();
        // Which of all rows stands at each place.
        let mut kept: Vec<u32> = (0..before.rows() as u32).collect();
        let mut places = content.places.take().unwrap_or_else(|| {
            let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
            kept.iter().for_each(|&row| places.entry(hashes[row as usize]).or_default().push(row));
            places
        });
        for (row, hash) in hashes.iter().enumerate().skip(before.rows()) {
            let alike = places.entry(*hash).or_default();
            let same = |place: &&u32| keys.iter().all(|key| key.get(kept[**place as usize] as usize) == key.get(row));
            match alike.iter().find(same) {
                Some(&place) if !self.rule.stream => kept[place as usize] = row as u32,
                Some(_) => {}
                None => {
                    alike.push(kept.len() as u32);
                    kept.push(row as u32);
                }
            }
        }
        let rows = if kept.len() == all.rows() { all } else { all.take(&kept) };
        *content = Content { rows, places: Some(places) };
        Ok(())
    }
}

/// A user function or partial application: `def` with the values already given, by place.
#[derive(Debug, Clone)]
pub struct UserFunction {
    /// What is called in the end.
    pub callee: Callee,
    /// Arguments given by partial application; `None` for those still asked for. Empty when none is given.
    pub given: Vec<Option<Value>>,
    /// User functions in sight where it was written that it refers to, directly or through one another.
    pub functions: Arc<Vec<Arc<FunctionDef>>>,
}

/// What a function value calls.
#[derive(Debug, Clone)]
pub enum Callee {
    /// A function of the library or of the host.
    Builtin(Arc<str>),
    /// A user function.
    Defined(Arc<FunctionDef>),
}

/// A piece of metacode with the names after `as`, and the user functions it may call.
#[derive(Debug, Clone)]
pub struct Code {
    /// The expression.
    pub expr: Arc<Expr>,
    /// The names it is given.
    pub names: Vec<Arc<str>>,
    /// User functions in sight where it was written, by name, that the expression refers to, directly or through
    /// one another.
    pub functions: Arc<Vec<Arc<FunctionDef>>>,
}

/// A metric is a piece of metacode.
pub type Metric = Code;

/// A value of the host's own.
pub trait Object: Any + fmt::Debug + Send + Sync {
    /// The name of its class, as `typestr` shows it.
    fn class(&self) -> &'static str;
    /// For downcasting.
    fn any(&self) -> &dyn Any;
}

/// The arguments of a call, evaluated, with their places.
#[derive(Debug, Clone, Default)]
pub struct Args {
    /// By place; `None` where the place is left empty.
    pub values: Vec<Option<Value>>,
    /// By name.
    pub named: Vec<(Arc<str>, Value)>,
    /// The place of each argument by place, then of each by name.
    pub spans: Vec<Span>,
    /// The place of the call.
    pub span: Span,
}

/// What a script, a user function or a lookup asks of the world around it. Every method has a refusing default, so a
/// host answers only what it knows.
pub trait Host {
    /// Calls a function that the library does not know; `None` if the host does not know it either.
    fn call(&mut self, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let _ = (name, args);
        None
    }

    /// Calls a method of an object; `None` if the object has no such method.
    fn method(&mut self, object: &Arc<dyn Object>, name: &str, args: &Args) -> Option<Result<Value, Diagnostic>> {
        let _ = (object, name, args);
        None
    }

    /// The names of all functions and methods the host knows, for suggestions.
    fn names(&self) -> Vec<&'static str> {
        vec![]
    }

    /// Makes a catalog the session's current one.
    fn use_catalog(&mut self, name: &str) -> Result<(), Diagnostic> {
        Err(Diagnostic::new(format!("no such catalog: catalog=`{name}`")))
    }

    /// The rows of a table named by its full name, such as `demo.orca_table.trades`; `None` if there is none.
    fn table(&mut self, name: &str) -> Option<Result<Batch, Diagnostic>> {
        let _ = name;
        None
    }

    /// Takes what the script prints.
    fn print(&mut self, text: &str) {
        let _ = text;
    }

    /// Calls a function value, as `each` does. Only the interpreter can: it is the host of the library's functions.
    fn apply(&mut self, function: &Value, args: Vec<Value>) -> Result<Value, Diagnostic> {
        let _ = args;
        Err(Diagnostic::new(format!("functions cannot be called back here: function=`{}`", function.kind())))
    }

    /// The value of metacode over the columns of a table. Only the interpreter can give it, as with `apply`.
    fn eval_over(&mut self, code: &Code, rows: Option<&Batch>) -> Result<Value, Diagnostic> {
        let _ = rows;
        Err(Diagnostic::new(format!("metacode cannot be evaluated here: code=`{code}`")))
    }

    /// Asks whether a value of so many bytes may be made. Whoever makes much out of little asks before.
    fn reserve(&mut self, bytes: usize) -> Result<(), Diagnostic> {
        let _ = bytes;
        Ok(())
    }

    /// The text of a module, such as `prices::bars`; `None` if there is none.
    fn module(&mut self, path: &str) -> Option<Arc<Source>> {
        let _ = path;
        None
    }

    /// The limit in milliseconds, once the script at work has taken longer. It is asked every now and then.
    fn late(&mut self) -> Option<u64> {
        None
    }

    /// Lets time pass. It is asked for little at a time.
    fn sleep(&mut self, time: Duration) -> Result<(), Diagnostic> {
        let _ = time;
        Err(Diagnostic::new("there is no clock here: function=`sleep`"))
    }

    /// A number by chance; `None` where nothing may depend on chance.
    fn chance(&mut self) -> Option<u64> {
        None
    }

    /// The time `now()` gives, in nanoseconds since 1970-01-01; `None` where there is no clock.
    fn now(&mut self) -> Option<i64> {
        None
    }
}

//! What a function of the library is: one entry for scripts, engines and SQL.
//!
//! An entry's [`Form`] is its one implementation. A script calls it on vectors, an engine on the rows of a stream, SQL
//! on Arrow arrays: all come here, so their answers cannot differ.

use crate::diagnostic::Diagnostic;
use crate::value::{Args, Host, Value};
use data::{Column, Scalar, Type};

/// The result of binding or calling a function.
pub type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// One function of the library.
pub struct Function {
    /// The name, as scripts write it. Names of functions are matched exactly, as the language does.
    pub name: &'static str,
    /// Its parameters as a manual writes them: `X, window, [minPeriods]`, `[x=default]`, a trailing `...` for any
    /// number of the last one. Arity and named arguments are checked against it.
    ///
    /// A parameter with a capital letter has a value for each row (`X`); the others are settings (`window`), which are
    /// constant and may be of any kind.
    pub parameters: &'static str,
    /// One or more sentences: what it gives, units, NULL rule.
    pub summary: &'static str,
    /// An example call that a test runs, with its printed result: `msum(2 1 3 7, 3)` and `[,,6,11]`.
    pub example: (&'static str, &'static str),
    /// How it computes.
    pub form: Form,
}

/// What the binder knows of an argument before any row comes.
#[derive(Debug, Clone)]
pub struct Argument {
    /// The type of its values.
    pub ty: Type,
    /// The value, if it is constant.
    pub constant: Option<Value>,
}

impl Argument {
    /// A constant.
    pub fn constant(value: Value) -> Argument {
        let ty = match &value {
            Value::Scalar(ty, _) => *ty,
            Value::Vector(column) => column.ty(),
            _ => Type::Void,
        };
        Argument { ty, constant: Some(value) }
    }

    /// What stands where an argument is left out.
    pub fn left_out() -> Argument {
        Argument::constant(Value::Scalar(Type::Void, Scalar::Null))
    }

    /// A value for each row.
    pub fn of(ty: Type) -> Argument {
        Argument { ty, constant: None }
    }
}

/// What the binder knows of the arguments of a function that calls a function.
pub struct Operands {
    /// By parameter: one, or each of several columns that stand together as a tuple.
    pub places: Vec<Vec<Argument>>,
    /// May a function that cannot be bound be called through the interpreter, without a host?
    pub interpret: bool,
}

/// A function of scripts, on whole values.
pub type Script = fn(&mut dyn Host, &Args) -> Result<Value>;

/// The one implementation of a function.
pub enum Form {
    /// One value for each row, from that row alone.
    Row(fn(&[Argument]) -> Result<BoundRow>),
    /// One value for each row, from that row's values taken together: those of several columns, or the elements of an
    /// array vector. A plain row function goes through the elements instead.
    Across(fn(&[Argument]) -> Result<BoundRow>),
    /// One value for many rows.
    Aggregate(fn(&[Argument]) -> Result<Box<dyn Aggregate>>),
    /// One value for each row, from that row and those of its key before it.
    State(fn(&[Argument]) -> Result<Box<dyn State>>),
    /// One value for each row, from that row and those of its key before it, through a function among the arguments.
    ///
    /// The state takes a column for each argument that is not constant. Where it cannot be bound, a script calls the
    /// other function on the whole values, if there is one.
    Calling(fn(&Operands) -> Result<Box<dyn State>>, Option<Script>),
    /// Needs the whole vector (`next`, `sort`, `size`) or works on values that are no vectors (`dict`, `take`): for
    /// scripts alone.
    Script(Script),
    /// Another form for each number of arguments, from one on; the last one for all above. `max(x)` is an aggregate,
    /// `max(x, y)` a row function.
    ByArity(&'static [Form]),
}

impl Function {
    /// The form for this number of arguments.
    pub fn form(&self, arguments: usize) -> &Form {
        match &self.form {
            Form::ByArity(forms) => &forms[arguments.clamp(1, forms.len()) - 1],
            form => form,
        }
    }
}

/// A function of columns of equal length to a column of that length.
pub type Kernel = Box<dyn Fn(&[Column]) -> Result<Column> + Send + Sync>;

/// A row function bound to the types of its arguments.
pub struct BoundRow {
    /// The type of the result.
    pub ty: Type,
    /// What computes it, from one column for each argument that is no setting. Constant arguments come as columns too.
    pub kernel: Kernel,
}

/// No slot: the row is not counted.
pub const NO_SLOT: u32 = u32::MAX;

/// A column, and which of its rows are meant, without copying them.
#[derive(Debug, Clone, Copy)]
pub struct Picked<'a> {
    /// The values.
    pub column: &'a Column,
    /// Which rows, in order; `None` for all.
    pub rows: Option<&'a [u32]>,
}

impl Picked<'_> {
    /// How many rows are meant.
    pub fn len(&self) -> usize {
        self.rows.map_or(self.column.len(), <[u32]>::len)
    }

    /// No row?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows that are meant, as a column of their own.
    pub fn compact(&self) -> Column {
        match self.rows {
            Some(rows) => self.column.take(rows),
            None => self.column.clone(),
        }
    }
}

/// An aggregate function with the state of many groups, one in each slot.
///
/// Sums of a slot are taken strictly in the order of its rows, so a result does not depend on how rows were cut into
/// batches. The state's vectors are paged ([`data::Paged`]): `snapshot` costs the time of a page table.
pub trait Aggregate: Send {
    /// The type of the results.
    fn ty(&self) -> Type;
    /// Makes room for slots `0..slots`; new ones are empty.
    fn grow(&mut self, slots: usize);
    /// Takes rows: row `i` of the arguments into slot `slots[i]`, none where that is [`NO_SLOT`]. Settings are not
    /// among the arguments.
    fn fold(&mut self, slots: &[u32], args: &[Picked]) -> Result<()>;
    /// Adds all that one slot has taken to another, as if its rows had come after the other's.
    fn merge(&mut self, into: u32, from: u32);
    /// Does a slot take room for each of its rows?
    fn grows(&self) -> bool;
    /// The results of these slots, in this order. A slot without rows gives what the function gives for no rows.
    fn emit(&self, slots: &[u32]) -> Result<Column>;
    /// Makes these slots empty.
    fn reset(&mut self, slots: &[u32]);
    /// A picture of the state now, to be encoded elsewhere while this one goes on.
    fn snapshot(&mut self) -> Box<dyn Aggregate>;
    /// The state of one slot as bytes. Values, never symbol codes.
    fn encode(&self, slot: u32, bytes: &mut Vec<u8>);
    /// The state of one slot from the bytes of `encode`; what is read is cut off their front.
    fn decode(&mut self, slot: u32, bytes: &mut &[u8]) -> Result<()>;
}

/// A function whose value depends on the rows of its key before, with the state of many keys.
pub trait State: Send {
    /// The types of the results: one, or several for a function with several results.
    fn types(&self) -> Vec<Type>;
    /// Is the state of a key rows, or what grows with them? Then it is far from that of the next key.
    fn keeps_rows(&self) -> bool {
        true
    }
    /// Takes rows in order and gives one value for each: row `i` belongs to key `keys[i]`, a dense number. Keys not
    /// seen before start empty. The arguments, without the settings, have the length of `keys`.
    fn push(&mut self, keys: &[u32], args: &[Column]) -> Result<Vec<Column>>;
    /// Forgets these keys.
    fn reset(&mut self, keys: &[u32]);
    /// A picture of the state now, to be encoded elsewhere while this one goes on.
    fn snapshot(&mut self) -> Box<dyn State>;
    /// The state of one key as bytes. Values, never symbol codes.
    fn encode(&self, key: u32, bytes: &mut Vec<u8>);
    /// The state of one key from the bytes of `encode`; what is read is cut off their front.
    fn decode(&mut self, key: u32, bytes: &mut &[u8]) -> Result<()>;
}

//! Sequence functions: values before and after, and differences to them.

use super::entry::state;
use super::item::{Item, by_class, wire};
use super::keyed::{Keyed, Step, refuse};
use super::settings::{need_number, numbers, setting, whole};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, Form, Function, Result, State};
use crate::interpreter::ELEMENTS_MAX;
use crate::value::{Args, Host, Value};
use data::{Column, Scalar, Type};
use std::collections::VecDeque;

pub(super) static FUNCTIONS: &[Function] = &[
    state("prev", "X", "The value of the row before.", ("prev(3 9 5)", "[,3,9]"), |args| before(args, 1)),
    state(
        "move",
        "X, steps",
        "The value of the row `steps` before; in a script, of a row after if `steps` is below 0.",
        ("move(3 9 5 1, 2)", "[,,3,9]"),
        |args| before(args, steps(args, 1, "move")?),
    ),
    Function {
        name: "next",
        parameters: "X",
        summary: "The value of the row after; looks ahead, so no stream has it.",
        example: ("next(3 9 5)", "[9,5,]"),
        form: Form::Script(next),
    },
    state(
        "deltas",
        "X, [n=1]",
        "The difference to the row `n` before; in a script, to a row after if `n` is below 0.",
        ("deltas(7 4 5 8)", "[,-3,1,3]"),
        |args| {
            need_number_or_time(args)?;
            let back = steps(args, 1, "deltas")?;
            Ok(match args[0].ty {
                ty if ty.is_float() || ty.is_decimal() => Keyed::state(Change { back, of: Difference }, Type::Double),
                ty => Keyed::state(WholeDifference { back }, difference_type(ty)),
            })
        },
    ),
    state(
        "ratios",
        "X",
        "The ratio to the row before; NULL where that is 0.",
        ("ratios(3 12 0 -5)", "[,4,0,]"),
        |args| {
            need_number(args, 0)?;
            Ok(Keyed::state(Change { back: 1, of: Ratio }, Type::Double))
        },
    ),
    state(
        "percentChange",
        "X, [n=1]",
        "The change since the row `n` before, as a part of it; in a script, since a row after if `n` is below 0.",
        ("percentChange(80 90)", "[,0.125]"),
        |args| {
            need_number(args, 0)?;
            Ok(Keyed::state(Change { back: steps(args, 1, "percentChange")?, of: Part }, Type::Double))
        },
    ),
    state(
        "ffill",
        "X, [limit]",
        "NULLs filled with the value before, at most `limit` in a row.",
        ("ffill([1,,,4])", "[1,1,1,4]"),
        |args| {
            let limit = whole(args, 1, "limit")?.unwrap_or(i64::MAX);
            by_class!(args[0].ty, T => Ok(Keyed::state(Fill::<T> { limit, class: std::marker::PhantomData }, args[0].ty)))
        },
    ),
    Function {
        name: "bfill",
        parameters: "X, [limit]",
        summary: "NULLs filled with the value after, at most `limit` in a row; looks ahead, so no stream has it.",
        example: ("bfill([1,,,4])", "[1,4,4,4]"),
        form: Form::Script(bfill),
    },
    state(
        "prevState",
        "X",
        "The last value before that differs from this one; NULLs are passed over.",
        ("prevState([1,2,,2,3])", "[,1,2,2,2]"),
        |args| by_class!(args[0].ty, T => Ok(Keyed::state(PrevState::<T>(std::marker::PhantomData), args[0].ty))),
    ),
    state(
        "iterate",
        "init, coeffs, X",
        "f(n) = coeffs * f(n-1) + X(n), from `init` on; with vectors over as many values before. In a script, a whole \
         number in place of X goes on for so many values that add nothing.",
        ("iterate(1, 0.8, 0.1 0.2 0.3)", "[0.9,0.92,1.036]"),
        |args| {
            need_number(args, 2)?;
            let list = |place, name| match setting(args, place) {
                Some(Value::Scalar(_, value)) => Ok(value.as_f64().map(|value| vec![value])),
                _ => numbers(args, place, name),
            };
            match (list(0, "init")?, list(1, "coeffs")?) {
                (Some(init), Some(coeffs)) if init.len() == coeffs.len() && !init.is_empty() => {
                    Ok(Keyed::state(Iterate { init, coeffs }, Type::Double))
                }
                _ => refuse("iterate expects numbers, as many in `init` as in `coeffs`"),
            }
        },
    ),
    state(
        "differ",
        "X",
        "Is it another value than that of the row before? The first one is; NULL equals NULL.",
        ("differ([1,1,,,2])", "[true,false,true,false,true]"),
        |args| by_class!(args[0].ty, T => Ok(Keyed::state(Differ::<T>(std::marker::PhantomData), Type::Bool))),
    ),
    state(
        "topRange",
        "X",
        "How many rows in a row before have a smaller value.",
        ("topRange(13.5 13.6 13.4 13.9)", "[0,1,0,3]"),
        |args| {
            need_number(args, 0)?;
            Ok(Keyed::state(Range { sign: 1.0 }, Type::Int))
        },
    ),
    state(
        "lowRange",
        "X",
        "How many rows in a row before have a greater value.",
        ("lowRange(13.5 13.6 13.4)", "[0,0,2]"),
        |args| {
            need_number(args, 0)?;
            Ok(Keyed::state(Range { sign: -1.0 }, Type::Int))
        },
    ),
    state(
        "trueRange",
        "High, Low, Close",
        "The greatest distance of two of these: high, low and the close of the row before.",
        ("trueRange(11.5 12.3 12.2, 10.9 11.2 11.7, 11.4 12.1 11.9)", "[,1.1,0.5]"),
        |args| {
            (0..3).try_for_each(|place| need_number(args, place))?;
            Ok(Keyed::state(TrueRange, Type::Double))
        },
    ),
    state(
        "sumbars",
        "X, Y",
        "How many rows, this one and those before it, it takes for the sum of X to reach Y; 0 if all do not. NULLs and \
         values below 0 add nothing.",
        ("sumbars(1 2 3.3 2 5, 3)", "[0,2,1,2,1]"),
        |args| {
            (0..2).try_for_each(|place| need_number(args, place))?;
            Ok(Keyed::state(SumBars { fixed: args[1].constant.is_some() }, Type::Int))
        },
    ),
];

fn steps(args: &[Argument], place: usize, name: &str) -> Result<usize> {
    match whole(args, place, "steps")?.unwrap_or(1) {
        steps if steps < 0 => {
            let error = Diagnostic::new(format!("{name} would look ahead: steps=`{steps}`"));
            Err(error.help("a stream has no rows after this one; give a number from 0 on"))
        }
        steps if steps > 1_000_000 => refuse(format!("too many rows to look back: steps=`{steps}`")),
        steps => Ok(steps as usize),
    }
}

/// The functions that look back as many rows as their second argument says.
const STEPPING: &[&str] = &["move", "deltas", "percentChange"];

/// Takes all rows there are at once. Then a function may look ahead too: it looks back from the last row on.
pub(super) fn push_all(
    function: &str,
    bind: fn(&[Argument]) -> Result<Box<dyn State>>,
    args: &[Argument],
    keys: &[u32],
    columns: &[Column],
) -> Result<Vec<Column>> {
    let Some(args) = turned(function, args) else { return bind(args)?.push(keys, columns) };
    let rows: Vec<u32> = (0..keys.len() as u32).rev().collect();
    let keys: Vec<u32> = keys.iter().rev().copied().collect();
    let columns: Vec<Column> = columns.iter().map(|column| column.take(&rows)).collect();
    let results = bind(&args)?.push(&keys, &columns)?;
    Ok(results.iter().map(|result| result.take(&rows)).collect())
}

/// The arguments that look back as far as these look ahead; `None` if they do not.
pub(super) fn turned(function: &str, args: &[Argument]) -> Option<Vec<Argument>> {
    let steps = whole(args, 1, "steps").ok()??;
    if steps >= 0 || !STEPPING.contains(&function) {
        return None;
    }
    let mut turned = args.to_vec();
    turned[1] = Argument::constant(Value::long(steps.checked_neg()?));
    Some(turned)
}

/// `iterate` for a number of values: as many that add nothing.
pub(super) fn unroll(function: &str, values: &mut [Option<Value>]) -> Result<()> {
    if function == "iterate"
        && let Some(Some(x)) = values.get_mut(2)
        && let Value::Scalar(ty, Scalar::Int(count)) = x
        && ty.is_integer()
    {
        match usize::try_from(*count) {
            Ok(count) if count <= ELEMENTS_MAX => {
                *x = Value::Vector(Column::repeat(Type::Double, &Scalar::Float(0.0), count));
            }
            _ => return refuse(format!("number of values is out of range: X=`{count}`, limit=`{ELEMENTS_MAX}`")),
        }
    }
    Ok(())
}

fn before(args: &[Argument], back: usize) -> Result<Box<dyn State>> {
    let ty = args[0].ty;
    by_class!(ty, T => Ok(match back {
        1 => Keyed::state(Prev::<T>(std::marker::PhantomData), ty),
        _ => Keyed::state(Before::<T> { back, class: std::marker::PhantomData }, ty),
    }))
}

fn need_number_or_time(args: &[Argument]) -> Result<()> {
    if args[0].ty.is_temporal() { Ok(()) } else { need_number(args, 0) }
}

/// The type of a difference of two values: 64 bits stay 64 bits, times become numbers of units.
pub(super) fn difference_type(ty: Type) -> Type {
    match ty {
        Type::Char | Type::Short => ty,
        ty if ty.physical() == data::Physical::I64 => Type::Long,
        _ => Type::Int,
    }
}

#[derive(Clone)]
struct Prev<T>(std::marker::PhantomData<T>);

impl<T: Item> Step for Prev<T> {
    type In = T;
    type Key = Option<T>;
    type Out = T;
    #[inline(always)]
    fn step(&self, key: &mut Option<T>, value: Option<T>) -> Option<T> {
        std::mem::replace(key, value)
    }
}

#[derive(Clone)]
struct Before<T> {
    back: usize,
    class: std::marker::PhantomData<T>,
}

/// The value `back` rows before, and the row kept for those to come.
fn look_back<T: Clone>(key: &mut VecDeque<Option<T>>, value: Option<T>, back: usize) -> Option<T> {
    key.push_back(value);
    if key.len() > back { key.pop_front().expect("more rows than none") } else { None }
}

impl<T: Item> Step for Before<T> {
    type In = T;
    type Key = VecDeque<Option<T>>;
    type Out = T;
    fn step(&self, key: &mut VecDeque<Option<T>>, value: Option<T>) -> Option<T> {
        look_back(key, value, self.back)
    }
}

/// What a value and one before come to.
trait Compare: Clone + Send + Sync + 'static {
    fn of(&self, value: f64, before: f64) -> Option<f64>;
}

#[derive(Clone)]
struct Difference;
#[derive(Clone)]
struct Ratio;
#[derive(Clone)]
struct Part;

impl Compare for Difference {
    fn of(&self, value: f64, before: f64) -> Option<f64> {
        Some(value - before)
    }
}

impl Compare for Ratio {
    fn of(&self, value: f64, before: f64) -> Option<f64> {
        (before != 0.0).then(|| value / before)
    }
}

impl Compare for Part {
    fn of(&self, value: f64, before: f64) -> Option<f64> {
        (before != 0.0).then(|| value / before - 1.0)
    }
}

#[derive(Clone)]
struct Change<C> {
    back: usize,
    of: C,
}

impl<C: Compare> Step for Change<C> {
    type In = f64;
    type Key = VecDeque<Option<f64>>;
    type Out = f64;
    fn step(&self, key: &mut VecDeque<Option<f64>>, value: Option<f64>) -> Option<f64> {
        let before = look_back(key, value, self.back);
        self.of.of(value?, before?)
    }
}

#[derive(Clone)]
struct WholeDifference {
    back: usize,
}

impl Step for WholeDifference {
    type In = i64;
    type Key = VecDeque<Option<i64>>;
    type Out = i64;
    fn step(&self, key: &mut VecDeque<Option<i64>>, value: Option<i64>) -> Option<i64> {
        let before = look_back(key, value, self.back);
        Some(value?.wrapping_sub(before?))
    }
}

#[derive(Clone)]
struct Fill<T> {
    limit: i64,
    class: std::marker::PhantomData<T>,
}

impl<T: Item> Step for Fill<T> {
    type In = T;
    type Key = (Option<T>, i64);
    type Out = T;
    fn step(&self, key: &mut (Option<T>, i64), value: Option<T>) -> Option<T> {
        match value {
            Some(value) => *key = (Some(value), 0),
            None => key.1 += 1,
        }
        if key.1 <= self.limit { key.0.clone() } else { None }
    }
}

/// The value now and the last one before that differed.
#[derive(Clone)]
struct Turn<T> {
    now: Option<T>,
    before: Option<T>,
}

impl<T> Default for Turn<T> {
    fn default() -> Turn<T> {
        Turn { now: None, before: None }
    }
}
wire!(Turn<T> { now, before });

#[derive(Clone)]
struct PrevState<T>(std::marker::PhantomData<T>);

impl<T: Item> Step for PrevState<T> {
    type In = T;
    type Key = Turn<T>;
    type Out = T;
    fn step(&self, key: &mut Turn<T>, value: Option<T>) -> Option<T> {
        // A stretch of NULLs is a state too, but never one that is given.
        if key.now != value
            && let Some(before) = std::mem::replace(&mut key.now, value)
        {
            key.before = Some(before);
        }
        key.before.clone()
    }
}

#[derive(Clone)]
struct Differ<T>(std::marker::PhantomData<T>);

impl<T: Item> Step for Differ<T> {
    type In = T;
    /// The value before, NULL or not, once there is one.
    type Key = Option<Option<T>>;
    type Out = i64;
    fn step(&self, key: &mut Self::Key, value: Option<T>) -> Option<i64> {
        let same = match (&*key, &value) {
            (Some(Some(before)), Some(value)) => before.order(value).is_eq(),
            (Some(before), value) => before.is_none() && value.is_none(),
            (None, _) => false,
        };
        *key = Some(value);
        Some(!same as i64)
    }
}

#[derive(Clone)]
struct Iterate {
    init: Vec<f64>,
    coeffs: Vec<f64>,
}

impl Step for Iterate {
    type In = f64;
    type Key = Option<Vec<f64>>;
    type Out = f64;
    fn step(&self, key: &mut Option<Vec<f64>>, value: Option<f64>) -> Option<f64> {
        let before = key.get_or_insert_with(|| self.init.clone());
        let carried: f64 = before.iter().zip(&self.coeffs).map(|(value, coeff)| value * coeff).sum();
        let next = carried + value?;
        before.rotate_left(1);
        *before.last_mut().expect("at least one value before") = next;
        Some(next)
    }
}

/// Values that no later one has passed, with their rows.
#[derive(Clone)]
struct Range {
    sign: f64,
}

impl Step for Range {
    type In = f64;
    type Key = (i64, Vec<(f64, i64)>);
    type Out = i64;
    fn step(&self, key: &mut (i64, Vec<(f64, i64)>), value: Option<f64>) -> Option<i64> {
        let (row, standing) = key;
        *row += 1;
        let value = value? * self.sign;
        while standing.last().is_some_and(|(other, _)| *other < value) {
            standing.pop();
        }
        let since = standing.last().map_or(0, |(_, row)| *row);
        standing.push((value, *row));
        Some(*row - since - 1)
    }
}

#[derive(Clone)]
struct TrueRange;

impl Step for TrueRange {
    type In = [Option<f64>; 3];
    type Key = Option<f64>;
    type Out = f64;
    fn step(&self, key: &mut Option<f64>, row: Option<[Option<f64>; 3]>) -> Option<f64> {
        let [high, low, close] = row?;
        let before = std::mem::replace(key, close);
        let (high, low, before) = (high?, low?, before?);
        Some((high - low).abs().max((high - before).abs()).max((before - low).abs()))
    }
}

/// How many rows it takes to reach a sum.
#[derive(Clone)]
struct SumBars {
    /// Is that sum the same for all rows? Then rows that are not needed once are never needed again.
    fixed: bool,
}

/// The rows of one key, summed by twos, by fours, and so on: `sums[l]` holds the sums of `1 << l` rows each, from the one
/// with row `dropped` on.
#[derive(Clone, Default)]
struct Sums {
    rows: u64,
    dropped: u64,
    sums: Vec<VecDeque<f64>>,
}
wire!(Sums { rows, dropped, sums });

impl Sums {
    fn push(&mut self, value: f64) {
        let (mut sum, mut level) = (value, 0);
        loop {
            if level == self.sums.len() {
                self.sums.push(VecDeque::new());
            }
            let sums = &mut self.sums[level];
            let before = sums.back().copied();
            sums.push_back(sum);
            if (self.rows >> level) & 1 == 0 {
                break;
            }
            // The second of two makes a sum of the level above; a first one that was dropped is not missed.
            sum += before.unwrap_or(0.0);
            level += 1;
        }
        self.rows += 1;
    }

    /// How many of the last rows it takes to reach a sum.
    fn reach(&self, wanted: f64) -> Option<u64> {
        let (mut start, mut level, mut sum) = (self.rows, 0, 0.0);
        while start > self.dropped {
            let place = (start >> level) - 1 - (self.dropped >> level);
            let more = sum + self.sums[level][place as usize];
            if more >= wanted {
                match level {
                    0 => return Some(self.rows - start + 1),
                    _ => level -= 1,
                }
                continue;
            }
            sum = more;
            start -= 1 << level;
            while start > self.dropped && (start >> level) & 1 == 0 {
                level += 1;
            }
        }
        None
    }

    /// Forgets all but the last rows.
    fn keep(&mut self, rows: u64) {
        let dropped = self.rows - rows;
        for (level, sums) in self.sums.iter_mut().enumerate() {
            sums.drain(..((dropped >> level) - (self.dropped >> level)) as usize);
        }
        self.dropped = dropped;
    }
}

impl Step for SumBars {
    type In = [Option<f64>; 2];
    type Key = Sums;
    type Out = i64;
    fn step(&self, key: &mut Sums, row: Option<[Option<f64>; 2]>) -> Option<i64> {
        let [value, wanted] = row?;
        key.push(value.map_or(0.0, |value| value.max(0.0)));
        let mut taken = key.reach(wanted?);
        if self.fixed {
            // What reached the sum before does so still, even if it is rounded otherwise.
            taken = taken.or((key.dropped > 0).then_some(key.rows - key.dropped));
            key.keep(taken.unwrap_or(key.rows));
        }
        Some(taken.unwrap_or(0) as i64)
    }
}

fn vector<'a>(args: &'a Args, name: &str) -> Result<&'a Column> {
    match args.values.first() {
        Some(Some(Value::Vector(column))) => Ok(column),
        _ => refuse(format!("{name} expects a vector")),
    }
}

fn next(_: &mut dyn Host, args: &Args) -> Result<Value> {
    let column = vector(args, "next")?;
    if column.is_empty() {
        return Ok(Value::Vector(column.clone()));
    }
    let tail = column.slice(1, column.len() - 1);
    Ok(Value::Vector(Column::concat(&[&tail, &Column::nulls(column.ty(), 1)])?))
}

fn bfill(_: &mut dyn Host, args: &Args) -> Result<Value> {
    let column = vector(args, "bfill")?;
    let limit = match args.values.get(1) {
        Some(Some(Value::Scalar(_, limit))) => limit.as_i64().unwrap_or(i64::MAX),
        _ => i64::MAX,
    };
    // From the end on: the value after, and how many rows away it is.
    let mut places: Vec<u32> = (0..column.len() as u32).collect();
    let mut after: Option<u32> = None;
    for row in (0..column.len() as u32).rev() {
        if !column.is_null(row as usize) {
            after = Some(row);
        } else if let Some(found) = after.filter(|found| ((found - row) as i64) <= limit) {
            places[row as usize] = found;
        }
    }
    Ok(Value::Vector(column.take(&places)))
}

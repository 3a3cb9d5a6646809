//! Row functions: one value from a row's values in several columns, or from the elements of its array vector.

use super::aggregate::Collect;
use super::cast::convert;
use super::item::{Input, Reading, Vocabulary};
use super::keyed::refuse;
use super::operator::common_type;
use super::output::Output;
use super::ranking::{Order, Ranking};
use super::sequence::{push_all, turned};
use super::sorted::Sorted;
use super::statistic::{self as st, Use};
use super::summary::Summary;
use super::{bind_row, find};
use crate::diagnostic::Diagnostic;
use crate::function::{Argument, BoundRow, Form, Function, Result};
use crate::value::{Args, Host, Value};
use data::{Column, Type};
use std::cmp::Ordering;

const fn across(
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    example: (&'static str, &'static str),
    bind: fn(&[Argument]) -> Result<BoundRow>,
) -> Function {
    Function { name, parameters, summary, example, form: Form::Across(bind) }
}

pub(super) static FUNCTIONS: &[Function] = &[
    across("rowSum", "X...", "The sum.", ("rowSum(1 2, 3 4)", "[4,6]"), |a| Across::of(a, st::sum)),
    across("rowSum2", "X...", "The sum of squares.", ("rowSum2(1 2, 3 4)", "[10,20]"), |a| Across::of(a, st::sum2)),
    across("rowAvg", "X...", "The mean.", ("rowAvg(1 2, 3 4)", "[2,3]"), |a| Across::of(a, st::avg)),
    across("rowProd", "X...", "The product.", ("rowProd(1 2, 3 4)", "[3,8]"), |a| Across::of(a, st::prod)),
    across("rowCount", "X...", "How many values.", ("rowCount([1,], 3 4)", "[2,1]"), |a| Across::of(a, st::count)),
    across("rowSize", "X...", "How many places.", ("rowSize([1,], 3 4)", "[2,2]"), |a| Across::of(a, st::size)),
    across("rowMin", "X...", "The minimum.", ("rowMin(1 5, 3 4)", "[1,4]"), |a| Across::of(a, st::min)),
    across("rowMax", "X...", "The maximum.", ("rowMax(1 5, 3 4)", "[3,5]"), |a| Across::of(a, st::max)),
    across("rowMed", "X...", "The median.", ("rowMed(1 5, 3 4)", "[2,4.5]"), |a| Across::of(a, st::med)),
    across("rowVar", "X...", "The sample variance.", ("rowVar(1 5, 3 5)", "[2,0]"), |a| Across::of(a, st::var)),
    across("rowVarp", "X...", "The population variance.", ("rowVarp(1 5, 3 5)", "[1,0]"), |a| Across::of(a, st::varp)),
    across("rowStd", "X...", "The sample standard deviation.", ("rowStd(5 5, 5 5)", "[0,0]"), |a| {
        Across::of(a, st::std)
    }),
    across("rowStdp", "X...", "The population standard deviation.", ("rowStdp(1 5, 3 5)", "[1,0]"), |a| {
        Across::of(a, st::stdp)
    }),
    across("rowSkew", "X...", "The skewness.", ("rowSkew(1 5, 3 4)", "[0,0]"), |a| {
        Across::of(a, |args, to| st::skew(args, to, 1))
    }),
    across("rowKurtosis", "X...", "The kurtosis.", ("rowKurtosis(1 5, 2 4, 3 3)", "[1.5,1.5]"), |a| {
        Across::of(a, |args, to| st::kurtosis(args, to, 1))
    }),
    across("rowImin", "X...", "The first place of the minimum.", ("rowImin(1 5, 3 4)", "[0,1]"), |a| {
        Across::of(a, st::imin)
    }),
    across("rowImax", "X...", "The first place of the maximum.", ("rowImax(1 5, 3 4)", "[1,0]"), |a| {
        Across::of(a, st::imax)
    }),
    across("rowIminLast", "X...", "The last place of the minimum.", ("rowIminLast(1 5, 1 4)", "[1,1]"), |a| {
        Across::of(a, st::imin_last)
    }),
    across("rowImaxLast", "X...", "The last place of the maximum.", ("rowImaxLast(3 5, 3 4)", "[1,0]"), |a| {
        Across::of(a, st::imax_last)
    }),
    across("rowWavg", "X, Y", "The mean of X weighted by Y.", ("rowWavg(3, 2)", "3"), |a| Across::pair(a, st::wavg)),
    across("rowWsum", "X, Y", "The sum of X weighted by Y.", ("rowWsum(3, 2)", "6"), |a| Across::pair(a, st::wsum)),
    across("rowDot", "X, Y", "The inner product.", ("rowDot(3 4, 2 5)", "[6,20]"), |a| Across::pair(a, st::wsum)),
    across("rowCorr", "X, Y", "The correlation.", ("isNull(rowCorr(3, 2))", "true"), |a| Across::pair(a, st::corr)),
    across("rowCovar", "X, Y", "The sample covariance.", ("isNull(rowCovar(3, 2))", "true"), |a| {
        Across::pair(a, st::covar)
    }),
    across("rowCovarp", "X, Y", "The population covariance.", ("rowCovarp(3, 2)", "0"), |a| {
        Across::pair(a, st::covarp)
    }),
    across("rowBeta", "Y, X", "The slope of Y on X.", ("isNull(rowBeta(3, 2))", "true"), |a| Across::pair(a, st::beta)),
    across("rowEuclidean", "X, Y", "The Euclidean distance.", ("rowEuclidean(3, 5)", "2"), |a| {
        Across::pair(a, st::euclidean)
    }),
    across("rowTanimoto", "X, Y", "The Tanimoto distance.", ("rowTanimoto(3, 3)", "0"), |a| {
        Across::pair(a, st::tanimoto)
    }),
    across("rowAnd", "X...", "All of them?", ("rowAnd(true false, true true)", "[true,false]"), |a| chain(a, "and")),
    across("rowOr", "X...", "One of them?", ("rowOr(true false, true false)", "[true,false]"), |a| chain(a, "or")),
    across("rowXor", "X...", "An odd number of them?", ("rowXor(true, true)", "false"), |a| chain(a, "xor")),
    across(
        "rowPrev",
        "X",
        "The element before.",
        ("rowSum(rowPrev(fixedLengthArrayVector(1 2, 3 4)))", "[1,2]"),
        |a| within(a, "prev"),
    ),
    across(
        "rowMove",
        "X, steps",
        "The element `steps` before; one after if `steps` is below 0.",
        ("rowSum(rowMove(fixedLengthArrayVector(1 2, 3 4), 1))", "[1,2]"),
        |a| within(a, "move"),
    ),
    across("rowNext", "X", "The element after.", ("rowSum(rowNext(fixedLengthArrayVector(1 2, 3 4)))", "[3,4]"), |a| {
        within(&[&a[..1], &[Argument::constant(Value::int(-1))]].concat(), "move")
    }),
    across(
        "rowAt",
        "X, Y",
        "The element at the place Y, or those at the places of an array vector; NULL where there is none.",
        ("rowAt(fixedLengthArrayVector(1 2, 3 4), 1 0)", "[3,2]"),
        row_at,
    ),
    across(
        "rowRank",
        "X, [ascending=true], [groupNum], [ignoreNA=true], [tiesMethod=`min], [percent=false], [precision]",
        "The rank of each element in its row, from 0, as `rank` has it.",
        ("rowAt(rowRank(fixedLengthArrayVector(3 9, 1 9, 2 5)), 0)", "[2,1]"),
        |a| ranked(a, Ranking::of),
    ),
    across(
        "rowDenseRank",
        "X, [ascending=true], [ignoreNA=true], [percent=false], [precision]",
        "The rank of each element in its row, from 0, without gaps.",
        ("rowMax(rowDenseRank(fixedLengthArrayVector(3 9, 1 9, 1 5)))", "[1,1]"),
        |a| ranked(a, Ranking::dense),
    ),
    across(
        "rowCumsum",
        "X",
        "The sum so far.",
        ("rowMax(rowCumsum(fixedLengthArrayVector(1 2, 3 4)))", "[4,6]"),
        |a| within(a, "cumsum"),
    ),
    across(
        "rowCumprod",
        "X",
        "The product so far.",
        ("rowMax(rowCumprod(fixedLengthArrayVector(1 2, 3 4)))", "[3,8]"),
        |a| within(a, "cumprod"),
    ),
    across(
        "rowCummin",
        "X",
        "The minimum so far.",
        ("rowSum(rowCummin(fixedLengthArrayVector(1 2, 3 4)))", "[2,4]"),
        |a| within(a, "cummin"),
    ),
    across(
        "rowCummax",
        "X",
        "The maximum so far.",
        ("rowSum(rowCummax(fixedLengthArrayVector(1 2, 3 4)))", "[4,6]"),
        |a| within(a, "cummax"),
    ),
    across(
        "rowCumwsum",
        "X, Y",
        "The weighted sum so far.",
        ("rowMax(rowCumwsum(fixedLengthArrayVector(1 2, 3 4), fixedLengthArrayVector(1 2, 3 4)))", "[10,20]"),
        |a| within(a, "cumwsum"),
    ),
    Function {
        name: "rowAlign",
        parameters: "left, right, how",
        summary: "Prices of two sides brought to one line: for each row of two array vectors, the places in `left` and \
                  those in `right` of each price that one of them has, -1 where it has it not. `how` is `bid` for \
                  prices that fall or `ask` for prices that rise, as far as both sides reach; `allBid` and `allAsk` \
                  take all.",
        example: ("rowAlign([9.0 9.0, 8.9 8.9, 8.7 8.7], [9.1 9.1, 9.0 9.0, 8.8 8.8], `bid)[0][1]", "[-1,0,1,-1]"),
        form: Form::Script(row_align),
    },
    across(
        "fixedLengthArrayVector",
        "X...",
        "An array vector of a row's values.",
        ("rowSum(fixedLengthArrayVector(1 2, 3 4))", "[4,6]"),
        gather,
    ),
];

/// Use across a row's values.
struct Across {
    /// The type that all values are brought to.
    ty: Type,
}

fn element(arg: &Argument) -> Type {
    arg.ty.element().unwrap_or(arg.ty)
}

fn common(args: &[Argument]) -> Result<Type> {
    let common = args.iter().map(element).try_fold(Type::Void, common_type);
    common.ok_or_else(|| {
        let types: Vec<String> = args.iter().map(|arg| arg.ty.to_string()).collect();
        Diagnostic::new(format!("values of one kind are wanted: types=`{}`", types.join(", ")))
    })
}

impl Across {
    fn of(args: &[Argument], statistic: fn(&[Argument], Across) -> Result<BoundRow>) -> Result<BoundRow> {
        let ty = common(args)?;
        statistic(&[Argument::of(ty)], Across { ty })
    }

    fn pair(args: &[Argument], statistic: fn(&[Argument], Across) -> Result<BoundRow>) -> Result<BoundRow> {
        statistic(&[Argument::of(element(&args[0])), Argument::of(element(&args[1]))], Across { ty: Type::Double })
    }
}

/// The values of a column in a row, and the rows they belong to: those of an array vector are its elements.
fn values(column: &Column, ty: Type) -> Result<(Column, Option<Vec<u32>>)> {
    if column.ty().element().is_none() {
        return Ok((convert(column, ty)?, None));
    }
    let offsets = column.list_offsets();
    let (start, end) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    Ok((convert(&column.list_elements().slice(start, end - start), ty)?, Some(owners(offsets))))
}

fn owners(offsets: &[i32]) -> Vec<u32> {
    let of = |(row, ends): (usize, &[i32])| std::iter::repeat_n(row as u32, (ends[1] - ends[0]) as usize);
    offsets.windows(2).enumerate().flat_map(of).collect()
}

/// Adds each value to the slot of its row.
struct Fold<'a, S: Summary> {
    summary: &'a S,
    slots: &'a mut [S::Slot],
    rows: usize,
    owners: Option<&'a [u32]>,
}

impl<S: Summary> Reading<S::In> for Fold<'_, S> {
    fn read(self, value: impl Fn(usize) -> Option<S::In>) -> Result<()> {
        for place in 0..self.rows {
            let slot = &mut self.slots[self.owners.map_or(place, |owners| owners[place] as usize)];
            match value(place) {
                Some(value) => self.summary.add(slot, value),
                None if S::NULLS => self.summary.add_null(slot),
                None => {}
            }
        }
        Ok(())
    }
}

impl Use for Across {
    type Made = BoundRow;

    fn summary<S: Summary>(self, summary: S, ty: Type) -> BoundRow {
        let kernel = move |columns: &[Column]| {
            let mut vocabulary = Vocabulary::default();
            let mut slots = vec![S::Slot::default(); columns[0].len()];
            for group in columns.chunks(S::In::ARGUMENTS) {
                let parts: Vec<_> = group.iter().map(|column| values(column, self.ty)).collect::<Result<_>>()?;
                let owners = &parts[0].1;
                if parts.iter().any(|(_, others)| others != owners) {
                    return Err(Diagnostic::new("array vectors of different length in one row"));
                }
                let columns: Vec<&Column> = parts.iter().map(|(column, _)| column).collect();
                let to =
                    Fold { summary: &summary, slots: &mut slots, rows: columns[0].len(), owners: owners.as_deref() };
                S::In::rows(&columns, &mut vocabulary, to)?;
            }
            let mut output = Output::of(slots.len());
            slots.iter().for_each(|slot| output.push(summary.result(slot)));
            Ok(output.column(ty, &vocabulary))
        };
        BoundRow { ty, kernel: Box::new(kernel) }
    }

    fn sorted<S: Sorted>(self, sorted: S) -> BoundRow {
        self.summary(Collect(sorted), Type::Double)
    }
}

/// An operator between all values of a row.
fn chain(args: &[Argument], operator: &str) -> Result<BoundRow> {
    let function = find(operator).expect("an operator of the library");
    let Form::Row(bind) = function.form else { unreachable!("an operator is a row function") };
    let bool = Argument::of(Type::Bool);
    args.iter().try_for_each(|arg| bind(&[arg.clone(), bool.clone()]).map(drop))?;
    let bound = bind_row(&function.signature(), bind, &[bool.clone(), bool])?;
    let kernel = move |columns: &[Column]| {
        let mut all = convert(&columns[0], Type::Bool)?;
        for column in &columns[1..] {
            all = (bound.kernel)(&[all, convert(column, Type::Bool)?])?;
        }
        Ok(all)
    };
    Ok(BoundRow { ty: Type::Bool, kernel: Box::new(kernel) })
}

/// A function with a state, within each row's array.
fn within(args: &[Argument], name: &'static str) -> Result<BoundRow> {
    let Form::State(bind) = find(name).expect("a function of the library").form else {
        unreachable!("a function with a state")
    };
    if args[0].ty.element().is_none() {
        return Err(no_array(args));
    }
    let of_element = |arg: &Argument| arg.ty.element().map_or_else(|| arg.clone(), Argument::of);
    let args: Vec<Argument> = args.iter().map(of_element).collect();
    let element = bind(&turned(name, &args).unwrap_or_else(|| args.clone()))?.types()[0];
    let ty = element
        .array_of()
        .ok_or_else(|| Diagnostic::new(format!("no array vectors of this type: type=`{element}`")))?;
    let kernel = move |columns: &[Column]| {
        let parts: Vec<_> = columns
            .iter()
            .map(|column| {
                let element = column.ty().element().unwrap_or(column.ty());
                values(column, element)
            })
            .collect::<Result<_>>()?;
        let Some(owners) = &parts[0].1 else { unreachable!("an array vector") };
        if parts.iter().any(|(_, others)| others.as_ref() != Some(owners)) {
            return Err(Diagnostic::new("array vectors of different length in one row"));
        }
        let parts: Vec<Column> = parts.iter().map(|(column, _)| column.clone()).collect();
        let mut results = push_all(name, bind, &args, owners, &parts)?;
        Ok(Column::of_lists(offsets(&columns[0]), results.remove(0), columns[0].validity().cloned()))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

fn row_at(args: &[Argument]) -> Result<BoundRow> {
    let Some(of) = args[0].ty.element() else { return Err(no_array(args)) };
    let place = element(&args[1]);
    if !(place.is_integer() || place == Type::Void) {
        return Err(Diagnostic::new(format!("whole numbers are wanted: parameter=`Y`, type=`{}`", args[1].ty)));
    }
    let several = args[1].ty.element().is_some();
    let kernel = move |columns: &[Column]| {
        let (elements, ends) = (columns[0].list_elements(), columns[0].list_offsets());
        let (wanted, owners) = values(&columns[1], Type::Long)?;
        let place = |row: usize| {
            let owner = owners.as_ref().map_or(row, |owners| owners[row] as usize);
            let index = usize::try_from(wanted.i64s()[row]).ok().filter(|_| !wanted.is_null(row));
            let (start, end) = (ends[owner] as usize, ends[owner + 1] as usize);
            match index.and_then(|index| start.checked_add(index)) {
                Some(place) if place < end && !columns[0].is_null(owner) => (0, place),
                _ => (1, 0),
            }
        };
        let places: Vec<(usize, usize)> = (0..wanted.len()).map(place).collect();
        let found = Column::interleave(&[&elements, &Column::nulls(of, 1)], &places)?;
        Ok(match several {
            true => Column::of_lists(offsets(&columns[1]), found, columns[1].validity().cloned()),
            false => found,
        })
    };
    Ok(BoundRow { ty: if several { args[0].ty } else { of }, kernel: Box::new(kernel) })
}

/// The ranks of the elements of each row's array.
fn ranked(args: &[Argument], ranking: fn(&[Argument]) -> Result<Ranking>) -> Result<BoundRow> {
    let Some(of) = args[0].ty.element() else { return Err(no_array(args)) };
    let ranking = ranking(&[&[Argument::of(of)], &args[1..]].concat())?;
    let ty = ranking.ty().array_of().expect("there are arrays of ranks");
    let kernel = move |columns: &[Column]| {
        let offsets = offsets(&columns[0]);
        let rows = offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let ranks = ranking.column(&values(&columns[0], of)?.0, rows)?;
        Ok(Column::of_lists(offsets, ranks, columns[0].validity().cloned()))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

fn row_align(_: &mut dyn Host, args: &Args) -> Result<Value> {
    let side = |place: usize, name: &str| match args.values.get(place) {
        Some(Some(Value::Vector(column))) if column.ty().element().is_some() => Ok(column.clone()),
        Some(Some(Value::Tuple(columns))) => gathered(columns),
        Some(Some(Value::Matrix(matrix))) => in_rows(matrix.columns()),
        _ => refuse(format!("an array vector is wanted: parameter=`{name}`")),
    };
    let (left, right) = (side(0, "left")?, side(1, "right")?);
    if left.len() != right.len() {
        return refuse(format!("array vectors of different length: rows=`{}, {}`", left.len(), right.len()));
    }
    let how = args.values.get(2).and_then(|how| how.as_ref()?.as_text()).unwrap_or("");
    let (falling, all) = match how.to_lowercase().as_str() {
        "bid" => (true, false),
        "allbid" => (true, true),
        "ask" => (false, false),
        "allask" => (false, true),
        _ => return refuse("one of bid, allBid, ask, allAsk is wanted: parameter=`how`"),
    };
    let ty = common(&[Argument::of(left.ty()), Argument::of(right.ty())])?;
    let prices = Column::concat(&[&values(&left, ty)?.0, &values(&right, ty)?.0])?;
    let order = Order::of(&prices);
    let (left_ends, right_ends) = (offsets(&left), offsets(&right));
    let shift = left_ends[left_ends.len() - 1];
    let valid = |from: i32, to: i32| -> Vec<usize> {
        (from as usize..to as usize).filter(|&place| !order.is_null(place)).collect()
    };
    let (mut ends, mut places) = (vec![0], [vec![], vec![]]);
    for row in 0..left.len() {
        let (left_start, right_start) = (left_ends[row], right_ends[row] + shift);
        let (left, right) = (valid(left_start, left_ends[row + 1]), valid(right_start, right_ends[row + 1] + shift));
        let (mut a, mut b) = (0, 0);
        while a < left.len() && b < right.len() || all && (a < left.len() || b < right.len()) {
            let next = match (left.get(a), right.get(b)) {
                (Some(&left), Some(&right)) if falling => order.compare(right, left),
                (Some(&left), Some(&right)) => order.compare(left, right),
                (left, _) => {
                    if left.is_some() {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
            };
            places[0].push(if next.is_le() { left[a] as i32 - left_start } else { -1 });
            places[1].push(if next.is_ge() { right[b] as i32 - right_start } else { -1 });
            (a, b) = (a + next.is_le() as usize, b + next.is_ge() as usize);
        }
        ends.push(places[0].len() as i32);
    }
    let array =
        |places: Vec<i32>| Value::Vector(Column::of_lists(ends.clone(), Column::of_i32(Type::Int, places, None), None));
    Ok(Value::Tuple(places.map(array).into()))
}

fn no_array(args: &[Argument]) -> Diagnostic {
    Diagnostic::new(format!("an array vector is wanted: parameter=`X`, type=`{}`", args[0].ty))
}

/// Where the array of each row begins and ends, from 0 on.
fn offsets(column: &Column) -> Vec<i32> {
    let offsets = column.list_offsets();
    offsets.iter().map(|offset| offset - offsets[0]).collect()
}

/// The columns of a tuple as an array vector of their rows.
pub(super) fn gathered(values: &[Value]) -> Result<Column> {
    let column = |value: &Value| match value {
        Value::Vector(column) => Some(column.clone()),
        _ => None,
    };
    let columns: Option<Vec<Column>> = values.iter().map(column).collect();
    in_rows(&columns.unwrap_or_default())
}

/// Columns of one length as an array vector of their rows.
fn in_rows(columns: &[Column]) -> Result<Column> {
    if !columns.first().is_some_and(|first| columns.iter().all(|other| other.len() == first.len())) {
        return Err(Diagnostic::new("a tuple of vectors of one length is wanted"));
    }
    let args: Vec<Argument> = columns.iter().map(|column| Argument::of(column.ty())).collect();
    (gather(&args)?.kernel)(columns)
}

fn gather(args: &[Argument]) -> Result<BoundRow> {
    let element = common(args)?;
    let no_array = || Diagnostic::new(format!("no array vectors of this type: type=`{element}`"));
    let ty = element.array_of().filter(|_| args.iter().all(|arg| arg.ty.element().is_none())).ok_or_else(no_array)?;
    let kernel = move |columns: &[Column]| {
        let columns: Vec<Column> = columns.iter().map(|column| convert(column, element)).collect::<Result<_>>()?;
        let (rows, width) = (columns[0].len(), columns.len());
        let places: Vec<(usize, usize)> = (0..rows).flat_map(|row| (0..width).map(move |part| (part, row))).collect();
        let elements = Column::interleave(&columns.iter().collect::<Vec<_>>(), &places)?;
        let offsets = (0..=rows).map(|row| (row * width) as i32).collect();
        Ok(Column::of_lists(offsets, elements, None))
    };
    Ok(BoundRow { ty, kernel: Box::new(kernel) })
}

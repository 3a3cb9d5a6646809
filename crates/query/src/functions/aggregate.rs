//! Aggregates of the library as aggregates of SQL: a group is a slot.

use super::Entry;
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature};
use lang::function::{Aggregate as Slots, Argument, Form, NO_SLOT, Picked};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// About what a slot takes in memory; the library does not say.
const SLOT_BYTES: usize = 64;

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Aggregate(pub(super) Arc<Entry>);

impl Aggregate {
    fn groups(&self, args: &AccumulatorArgs) -> Result<Groups> {
        if args.is_distinct {
            return not_impl_err!("DISTINCT in {}", self.0.name);
        }
        if !args.order_bys.is_empty() {
            // DataFusion would not sort: it drops the order of an aggregate that has no reverse.
            return not_impl_err!("ORDER BY in {}; first_value and last_value take it", self.0.name);
        }
        let arguments = self.0.physical_arguments(args.expr_fields, args.exprs)?;
        let slots = Mutex::new(bind(&self.0, &arguments)?);
        Ok(Groups { entry: self.0.clone(), arguments, slots, count: 0 })
    }
}

fn bind(entry: &Entry, arguments: &[Argument]) -> Result<Box<dyn Slots>> {
    let Form::Aggregate(bind) = entry.function.form(1) else { unreachable!("registered by its form") };
    bind(arguments).map_err(|error| entry.refused(error))
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn signature(&self) -> &Signature {
        &self.0.any
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of a result hangs on the script types of the arguments")
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        let slots = self.0.bind_typed(fields, |arguments| bind(&self.0, arguments))?;
        Ok(self.0.field(slots.ty()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "slot"), DataType::Binary, false))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.groups(&args)?))
    }
}

/// The slots of one call; without groups there is just slot 0.
struct Groups {
    entry: Arc<Entry>,
    arguments: Vec<Argument>,
    /// Never contended: the lock only makes it `Sync`, which DataFusion asks for.
    slots: Mutex<Box<dyn Slots>>,
    count: usize,
}

impl Groups {
    fn grow(&mut self, count: usize) -> &mut dyn Slots {
        let slots = self.slots.get_mut();
        if count > self.count {
            slots.grow(count);
            self.count = count;
        }
        slots.as_mut()
    }

    fn fold(&mut self, values: &[ArrayRef], slots: &[u32], count: usize) -> Result<()> {
        let columns = self.entry.columns(&self.arguments, values)?;
        let picked: Vec<Picked> = columns.iter().map(|column| Picked { column, rows: None }).collect();
        let folded = self.grow(count).fold(slots, &picked);
        folded.map_err(|error| self.entry.failed(error))
    }

    /// Adds encoded slots to groups, each as if its rows came after those the group has.
    fn merge(&mut self, states: &ArrayRef, group: impl Fn(usize) -> u32, count: usize) -> Result<()> {
        let scratch = count as u32;
        let entry = self.entry.clone();
        let slots = self.grow(count + 1);
        for (row, mut bytes) in states.as_binary::<i32>().iter().flatten().enumerate() {
            slots.reset(&[scratch]);
            slots.decode(scratch, &mut bytes).map_err(|error| entry.failed(error))?;
            slots.merge(group(row), scratch);
        }
        slots.reset(&[scratch]);
        Ok(())
    }

    fn encoded(&mut self, slots: std::ops::Range<u32>) -> Vec<Vec<u8>> {
        let state = self.slots.get_mut();
        let encode = |slot| {
            let mut bytes = vec![];
            state.encode(slot, &mut bytes);
            bytes
        };
        slots.map(encode).collect()
    }

    /// Drops the first groups and counts the others from 0 on.
    fn drop_first(&mut self, count: u32) -> Result<()> {
        let rest = self.encoded(count..self.count as u32);
        *self = self.empty()?;
        let entry = self.entry.clone();
        let slots = self.grow(rest.len());
        for (slot, bytes) in rest.iter().enumerate() {
            slots.decode(slot as u32, &mut bytes.as_slice()).map_err(|error| entry.failed(error))?;
        }
        Ok(())
    }

    /// The same call without rows.
    fn empty(&self) -> Result<Groups> {
        let slots = Mutex::new(bind(&self.entry, &self.arguments)?);
        Ok(Groups { entry: self.entry.clone(), arguments: self.arguments.clone(), slots, count: 0 })
    }

    fn emitted(&self, emit_to: EmitTo) -> u32 {
        match emit_to {
            EmitTo::All => self.count as u32,
            EmitTo::First(count) => count as u32,
        }
    }
}

/// The slot of each row; none where the filter does not hold.
fn slots(groups: impl Iterator<Item = usize>, filter: Option<&BooleanArray>) -> Vec<u32> {
    let counts = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
    groups.enumerate().map(|(row, group)| if counts(row) { group as u32 } else { NO_SLOT }).collect()
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("arguments", &self.arguments).field("count", &self.count).finish()
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.fold(values, &slots(groups.iter().copied(), filter), count)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |values| values.len());
        let mut of_each = self.empty()?;
        of_each.fold(values, &slots(0..rows, filter), rows)?;
        GroupsAccumulator::state(&mut of_each, EmitTo::All)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let count = self.emitted(emit_to);
        let results = self.slots.get_mut().emit(&(0..count).collect::<Vec<_>>());
        let results = results.map_err(|error| self.entry.failed(error))?;
        self.drop_first(count)?;
        Ok(results.to_arrow())
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let count = self.emitted(emit_to);
        let states = BinaryArray::from_iter_values(self.encoded(0..count));
        self.drop_first(count)?;
        Ok(vec![Arc::new(states)])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.merge(&values[0], |row| groups[row] as u32, count)?;
        // The scratch slot is the next group's.
        self.count = self.count.min(count);
        Ok(())
    }

    fn size(&self) -> usize {
        self.count * SLOT_BYTES
    }
}

impl Accumulator for Groups {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |values| values.len());
        self.fold(values, &vec![0; rows], 1)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let result = self.grow(1).emit(&[0]);
        ScalarValue::try_from_array(&result.map_err(|error| self.entry.failed(error))?.to_arrow(), 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.grow(1);
        Ok(vec![ScalarValue::Binary(self.encoded(0..1).pop())])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.merge(&states[0], |_| 0, 1)
    }

    fn size(&self) -> usize {
        SLOT_BYTES
    }
}

//! Rows on their way out.
//!
//! Invariants:
//! - A SYMBOL column goes out as a dictionary with 32-bit signed keys, which every client reads; of a dictionary that
//!   has grown only what is new is sent.
//! - The schema that is told of a query is the schema its rows come under.

use super::status::arrow_status;
use arrow::array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef, UInt32Type};
use arrow::error::ArrowError;
use arrow::ipc::writer::{DictionaryHandling, DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_flight::FlightData;
use bytes::Bytes;
use std::sync::Arc;
use tonic::Status;

/// About how many bytes a message has.
const MESSAGE_BYTES: usize = 1 << 20;

/// The schema that rows of this one go out under.
pub(super) fn outgoing(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(key, value) if **key == DataType::UInt32 => {
            let coded = DataType::Dictionary(Box::new(DataType::Int32), value.clone());
            Arc::new(field.as_ref().clone().with_data_type(coded))
        }
        _ => field.clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The schema that rows of these columns go out under.
pub(super) fn outgoing_of(fields: &[data::Field]) -> SchemaRef {
    outgoing(&Schema::new(fields.iter().map(data::Field::to_arrow).collect::<Vec<Field>>()))
}

/// Turns the batches of one answer into messages.
pub(super) struct Encoder {
    schema: SchemaRef,
    generator: IpcDataGenerator,
    dictionaries: DictionaryTracker,
    options: IpcWriteOptions,
    context: IpcWriteContext,
}

impl Encoder {
    /// An encoder of batches of this schema, and the message that opens the answer.
    pub(super) fn new(schema: &Schema) -> (Encoder, FlightData) {
        let schema = outgoing(schema);
        let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
        let (generator, mut dictionaries) = (IpcDataGenerator::default(), DictionaryTracker::new(false));
        let opening = generator.schema_to_bytes_with_dictionary_tracker(&schema, &mut dictionaries, &options);
        (Encoder { schema, generator, dictionaries, options, context: IpcWriteContext::default() }, opening.into())
    }

    /// A batch as messages of a size that clients take.
    pub(super) fn encode(&mut self, batch: &RecordBatch) -> Result<Vec<FlightData>, Status> {
        let rows_max = (MESSAGE_BYTES / row_bytes(batch)).max(1);
        let mut messages = vec![];
        for first in (0..batch.num_rows()).step_by(rows_max) {
            let piece = batch.slice(first, rows_max.min(batch.num_rows() - first));
            self.encode_piece(&piece, Bytes::new(), &mut messages)?;
        }
        Ok(messages)
    }

    /// A batch as one message that carries a note, behind those of its dictionaries.
    pub(super) fn encode_noted(&mut self, batch: &RecordBatch, note: Bytes) -> Result<Vec<FlightData>, Status> {
        let mut messages = vec![];
        self.encode_piece(batch, note, &mut messages)?;
        Ok(messages)
    }

    fn encode_piece(&mut self, batch: &RecordBatch, note: Bytes, messages: &mut Vec<FlightData>) -> Result<(), Status> {
        let columns = batch.columns().iter().map(signed).collect::<Result<_, _>>().map_err(arrow_status)?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(arrow_status)?;
        let encoded = self.generator.encode(&batch, &mut self.dictionaries, &self.options, &mut self.context);
        let (dictionaries, rows) = encoded.map_err(arrow_status)?;
        messages.extend(dictionaries.into_iter().map(FlightData::from));
        messages.push(FlightData::from(rows).with_app_metadata(note));
        Ok(())
    }
}

/// About how many bytes a row takes, dictionaries not counted.
fn row_bytes(batch: &RecordBatch) -> usize {
    let bytes = |column: &ArrayRef| match column.data_type() {
        DataType::Dictionary(_, _) => 4 * column.len(),
        _ => column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_buffer_memory_size()),
    };
    (batch.columns().iter().map(bytes).sum::<usize>() / batch.num_rows().max(1)).max(1)
}

/// A dictionary's codes as signed numbers, over the same memory: there are fewer symbols than would change a sign.
fn signed(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let Some(coded) = column.as_any().downcast_ref::<DictionaryArray<UInt32Type>>() else {
        return Ok(column.clone());
    };
    let keys = coded.keys();
    let values = ScalarBuffer::<i32>::from(keys.values().inner().clone());
    let keys = Int32Array::new(values, keys.nulls().cloned());
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, coded.values().clone())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow_flight::decode::FlightRecordBatchStream;
    use data::{Batch, Column, Dictionary, Type};
    use futures::{StreamExt, stream};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
    }

    #[test]
    fn a_dictionary_that_grows_is_sent_piece_by_piece_and_read_whole() {
        let dictionary = Dictionary::new();
        let schema = data::Schema::of(&[("sym", Type::Symbol), ("n", Type::Long)]);
        let (mut encoder, opening) = Encoder::new(&schema.to_arrow());
        let mut messages = vec![opening];
        let mut bytes_of_dictionaries = vec![];
        for piece in 0..3 {
            let codes: Vec<u32> = (0..1_000)
                .map(|n| dictionary.intern(&format!("symbol {}", n + piece * 10)).expect("there is room"))
                .collect();
            let columns = vec![
                Column::of_codes(codes, None, dictionary.clone()),
                Column::of_i64(Type::Long, (0..1_000).collect::<Vec<i64>>(), None),
            ];
            let batch = Batch::new(schema.clone(), columns).expect("columns of the schema").to_arrow();
            let encoded = encoder.encode(&batch).expect("an encoding");
            bytes_of_dictionaries.push(encoded[0].data_body.len());
            messages.extend(encoded);
        }
        assert!(bytes_of_dictionaries[1] * 10 < bytes_of_dictionaries[0], "{bytes_of_dictionaries:?}");
        let read = FlightRecordBatchStream::new_from_flight_data(stream::iter(messages.into_iter().map(Ok)));
        let read: Vec<_> = runtime().block_on(read.collect());
        let last = read.last().expect("batches").as_ref().expect("a batch");
        let texts = arrow::compute::cast(last.column(0), &DataType::Utf8).expect("texts");
        assert_eq!(texts.as_string::<i32>().value(999), "symbol 1019");
    }

    #[test]
    fn a_large_batch_goes_out_in_messages_of_bounded_size() {
        let schema = data::Schema::of(&[("n", Type::Long)]);
        let column = Column::of_i64(Type::Long, (0..1_000_000).collect::<Vec<i64>>(), None);
        let batch = Batch::new(schema.clone(), vec![column]).expect("a column of the schema").to_arrow();
        let (mut encoder, _) = Encoder::new(&schema.to_arrow());
        let messages = encoder.encode(&batch).expect("an encoding");
        assert!(messages.len() >= 8 && messages.iter().all(|one| one.data_body.len() <= MESSAGE_BYTES + 4_096));
    }
}

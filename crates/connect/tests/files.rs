//! Files are read as a table's schema says, and refused with their place where they do not fit.

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use connect::{Error, Kind, infer_schema, interleave, open, read_all};
use data::{Batch, Scalar, Schema, Type, parse_table};
use parquet::arrow::ArrowWriter;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        match name.ends_with(".zst") {
            true => fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap(),
            false => fs::write(&path, text).unwrap(),
        }
        path
    }

    fn parquet(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
        let path = self.0.path().join(name);
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }
}

fn trades() -> Arc<Schema> {
    Schema::of(&[("sym", Type::Symbol), ("time", Type::Timestamp), ("price", Type::Double), ("qty", Type::Int)])
}

fn three_trades() -> Batch {
    let text = r#"
        sym  time                     price  qty
        A    2024.01.02T09:30:00.000  10.5   100
        B    2024.01.02T09:30:00.001  20     .
        .    2024.01.02T09:30:01.000  .      300
    "#;
    parse_table(&trades(), text).unwrap()
}

#[test]
fn a_csv_file_is_matched_by_name_and_typed_by_the_schema() {
    let folder = Folder::new();
    let text = "QTY,extra,Sym,time,price\n\
        100,x,A,2024-01-02T09:30:00.000,10.5\n\
        ,y,B,1704187800001,20\n\
        300,z,,2024.01.02T09:30:01.000,\n";
    for name in ["trades.csv", "trades.csv.zst"] {
        assert_eq!(read_all(folder.text(name, text), &trades()).unwrap(), three_trades());
    }
}

#[test]
fn json_lines_are_read_alike() {
    let folder = Folder::new();
    let text = r#"{"sym": "A", "TIME": "2024-01-02T09:30:00.000", "price": 10.5, "qty": 100}
        {"sym": "B", "time": 1704187800001, "price": 20}

        {"sym": "", "time": "2024.01.02T09:30:01.000", "price": null, "qty": 300, "more": [1]}"#;
    assert_eq!(read_all(folder.text("trades.jsonl", text), &trades()).unwrap(), three_trades());
}

#[test]
fn a_parquet_file_may_have_times_of_another_unit_and_wider_numbers() {
    let folder = Folder::new();
    let micros = [1_704_187_800_000_000, 1_704_187_800_001_000, 1_704_187_801_000_999];
    let times = TimestampMicrosecondArray::from(micros.to_vec()).with_timezone("UTC");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("Qty", Arc::new(Int64Array::from(vec![Some(100), None, Some(300)]))),
        ("time", Arc::new(times)),
        ("unused", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("sym", Arc::new(StringArray::from(vec![Some("A"), Some("B"), None]))),
        ("price", Arc::new(Float64Array::from(vec![Some(10.5), Some(20.0), None]))),
    ];
    let path = folder.parquet("trades.parquet", columns);
    assert_eq!(read_all(&path, &trades()).unwrap(), three_trades());

    let by_row: Vec<Batch> = open(&path, &trades(), 1).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(by_row.len(), 3);
    let dictionary = |batch: &Batch| batch.column(0).dictionary().unwrap().id();
    assert!(by_row.iter().all(|batch| dictionary(batch) == dictionary(&by_row[0])), "one dictionary a reader");
}

#[test]
fn parquet_integers_are_times_in_the_columns_unit_and_texts_are_parsed() {
    let folder = Folder::new();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", Arc::new(Int64Array::from(vec![1_704_187_800_000]))),
        ("day", Arc::new(StringArray::from(vec!["2024-01-02"]))),
        ("month", Arc::new(TimestampMicrosecondArray::from(vec![1_704_187_800_000_000]))),
        ("clock", Arc::new(TimestampMicrosecondArray::from(vec![1_704_187_800_000_000]))),
        ("n", Arc::new(Float64Array::from(vec![3.0]))),
    ];
    let path = folder.parquet("times.parquet", columns);
    let schema = Schema::of(&[
        ("time", Type::Timestamp),
        ("day", Type::Date),
        ("month", Type::Month),
        ("clock", Type::Minute),
        ("n", Type::Int),
    ]);
    let want = "time day month clock n\n 2024.01.02T09:30:00.000 2024.01.02 2024.01M 09:30m 3";
    assert_eq!(read_all(path, &schema).unwrap(), parse_table(&schema, want).unwrap());
}

#[test]
fn array_vectors_are_read_from_a_quoted_field() {
    let folder = Folder::new();
    let schema = Schema::of(&[("id", Type::Int), ("list", Type::Array(&Type::Double))]);
    let path = folder.text("lists.csv", "id,list\n1,\"[1,null,2.5]\"\n2,\n3,[]\n");
    let rows = read_all(path, &schema).unwrap();
    let Scalar::List(list) = rows.column(1).get(0) else { panic!("a list") };
    assert_eq!(list.len(), 3);
    assert!(list.is_null(1));
    assert!(rows.column(1).is_null(1));
    assert!(!rows.column(1).is_null(2));
}

#[test]
fn a_missing_column_is_named_with_those_there_are() {
    let folder = Folder::new();
    let path = folder.text("trades.csv", "symm,time,price\n");
    let error = open(&path, &trades(), 10).err().unwrap();
    assert_eq!(error.kind(), Kind::NotFound);
    let text = error.to_string();
    for part in ["missing column: column=`sym`", "symm, time, price", "did you mean `symm`?", "trades.csv"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    let folder = Folder::new();
    let path = folder.text("trades.csv", "sym,time,price,qty\nA,0,1,1\nA,0,1,1.5\n");
    let want = Error::Value {
        file: path.display().to_string(),
        row: 3,
        column: "qty".into(),
        value: "1.5".into(),
        ty: "INT".into(),
    };
    let mut reader = open(&path, &trades(), 10).unwrap();
    assert_eq!(reader.next(), Some(Err(want)));
    assert_eq!(reader.next(), None);

    let path = folder.parquet("n.parquet", vec![("n", Arc::new(Int64Array::from(vec![1, 1 << 40])))]);
    let error = read_all(&path, &Schema::of(&[("n", Type::Int)])).unwrap_err().to_string();
    assert!(error.contains("value=`1099511627776`, column=`n`, row=`2`"), "{error}");
}

#[test]
fn a_broken_file_is_an_error_and_no_panic() {
    let folder = Folder::new();
    let cases = [
        ("short.csv", "sym,time,price,qty\nA,0\n", "line=`2`, fields=`2`, wanted=`4`"),
        ("not.parquet", "PAR0", "malformed file"),
        ("half.jsonl", "{\"sym\": ", "line=`1`"),
        ("odd.txt", "", "unknown kind of file"),
    ];
    for (name, text, want) in cases {
        let error = read_all(folder.text(name, text), &trades()).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
    let error = read_all(folder.0.path().join("none.csv"), &trades()).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    fs::write(folder.0.path().join("raw.csv.zst"), "not compressed").unwrap();
    assert!(read_all(folder.0.path().join("raw.csv.zst"), &trades()).is_err());
}

#[test]
fn files_are_merged_by_time_and_the_earlier_file_goes_first() {
    let folder = Folder::new();
    let trades = Schema::of(&[("time", Type::Time), ("price", Type::Double)]);
    let quotes = Schema::of(&[("TIME", Type::Nanotime), ("bid", Type::Double)]);
    let first = folder.text("first.csv", "time,price\n1000,1\n2000,2\n1500,3\n4000,4\n");
    let second = folder.text("second.csv", "time,bid\n1000000000,10\n2000000001,20\n3000000000,30\n");
    let readers = vec![open(first, &trades, 2).unwrap(), open(second, &quotes, 10).unwrap()];
    let mut merged = vec![];
    for run in interleave(readers, "time").unwrap() {
        let (file, rows) = run.unwrap();
        (0..rows.rows()).for_each(|row| merged.push((file, rows.column(1).get(row).as_f64().unwrap())));
    }
    // The late row of the first file goes as soon as it is that file's turn.
    assert_eq!(merged, [(0, 1.0), (1, 10.0), (0, 2.0), (0, 3.0), (1, 20.0), (1, 30.0), (0, 4.0)]);
}

#[test]
fn files_are_not_merged_by_a_column_without_order() {
    let folder = Folder::new();
    let reader = || open(folder.text("trades.csv", "sym,time,price,qty\n"), &trades(), 2).unwrap();
    assert!(interleave(vec![reader()], "sym").is_err());
    assert!(interleave(vec![reader()], "when").is_err());
    assert_eq!(interleave(vec![reader()], "TIME").unwrap().count(), 0);
}

#[test]
fn a_schema_is_inferred_from_the_values() {
    let folder = Folder::new();
    let text = "sym,time,day,clock,price,n,ok,none\n\
        A,2024-01-02T09:30:00.000,2024-01-02,09:30:00.000,1,1,true,\n\
        B,2024.01.02 09:30:00,2024.01.02,09:30:00,1.5,,false,\n";
    let want = Schema::of(&[
        ("sym", Type::String),
        ("time", Type::Timestamp),
        ("day", Type::Date),
        ("clock", Type::Time),
        ("price", Type::Double),
        ("n", Type::Long),
        ("ok", Type::Bool),
        ("none", Type::String),
    ]);
    assert_eq!(infer_schema(folder.text("rows.csv", text)).unwrap(), want);
    let json = folder.text("rows.jsonl", "{\"a\": 1, \"b\": null}\n{\"a\": 1.5, \"b\": \"x\"}\n");
    assert_eq!(infer_schema(json).unwrap(), Schema::of(&[("a", Type::Double), ("b", Type::String)]));
    let parquet = folder.parquet("rows.parquet", vec![("n", Arc::new(Int64Array::from(vec![1])))]);
    assert_eq!(infer_schema(parquet).unwrap(), Schema::of(&[("n", Type::Long)]));
}

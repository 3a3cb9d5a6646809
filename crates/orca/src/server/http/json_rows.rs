//! JSON to columns: each value goes from the text into its column, with no tree of values in between.
//!
//! Values are what the file readers take: numbers, texts of numbers and dates, whole numbers in the unit of a temporal
//! column. A name that an object does not have is NULL there; a name that no column has is an error.

use connect::{Cells, Error, Refused};
use data::{Batch, Schema};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Error>;

/// The rows of JSON lines, an object a line; blank lines are skipped. `name` is what errors call the text.
pub(super) fn lines(name: &str, text: &[u8], schema: &Arc<Schema>) -> Result<Batch> {
    let mut rows = Rows::new(name, schema);
    for (place, line) in without_mark(text).split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        rows.line = place as u64 + 1;
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = rows.row(&mut json).and_then(|()| json.end());
        read.map_err(|error| rows.error(error))?;
    }
    rows.finish()
}

/// The rows of one JSON array of objects.
pub(super) fn array(name: &str, text: &[u8], schema: &Arc<Schema>) -> Result<Batch> {
    let mut rows = Rows::new(name, schema);
    let mut json = serde_json::Deserializer::from_slice(without_mark(text));
    let read = json.deserialize_seq(Array(&mut rows)).and_then(|()| json.end());
    read.map_err(|error| rows.error(error))?;
    rows.finish()
}

/// A text without the mark that some put before it.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The columns under way.
struct Rows<'a> {
    name: &'a str,
    schema: &'a Arc<Schema>,
    cells: Vec<Cells>,
    /// The last row that gave each column a value.
    filled: Vec<u64>,
    /// The row under way, from 1, and the line it is on; in an array the row's number.
    row: u64,
    line: u64,
    /// The column whose value is under way.
    column: usize,
    /// Why the reader was told to stop.
    fault: Option<Error>,
}

impl<'a> Rows<'a> {
    fn new(name: &'a str, schema: &'a Arc<Schema>) -> Rows<'a> {
        let cells = schema.fields().iter().map(|field| Cells::new(field.ty)).collect();
        Rows { name, schema, cells, filled: vec![0; schema.len()], row: 0, line: 0, column: 0, fault: None }
    }

    fn row<'de, D: Deserializer<'de>>(&mut self, json: D) -> std::result::Result<(), D::Error> {
        self.row += 1;
        self.column = self.schema.len().wrapping_sub(1);
        json.deserialize_map(Object(self))
    }

    /// The column of a name: most often the one after the last.
    fn column(&mut self, name: &str) -> std::result::Result<(), String> {
        let fields = self.schema.fields();
        let after = if self.column + 1 < fields.len() { self.column + 1 } else { 0 };
        let column = match fields.get(after) {
            Some(field) if *field.name == *name => after,
            _ => match self.schema.index_of(name) {
                Some(column) => column,
                None => {
                    let near = lang::nearest(name, fields.iter().map(|field| &*field.name));
                    let mend = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
                    return Err(format!("no such column: column=`{name}`{mend}, line=`{}`", self.line));
                }
            },
        };
        if self.filled[column] == self.row {
            return Err(format!("column comes twice: column=`{name}`, line=`{}`", self.line));
        }
        self.filled[column] = self.row;
        self.column = column;
        Ok(())
    }

    /// Notes that a value does not go into its column.
    fn refuse(&mut self, value: String, refused: Refused) {
        let (file, field) = (self.name.to_string(), &self.schema.fields()[self.column]);
        self.fault = Some(match refused {
            Refused::Value => {
                Error::Value { file, row: self.line, column: field.name.to_string(), value, ty: field.ty.to_string() }
            }
            Refused::Data(error) => Error::Data { file, error },
        });
    }

    fn error(&mut self, error: serde_json::Error) -> Error {
        let malformed = |reason| Error::Malformed { file: self.name.to_string(), reason };
        match self.fault.take() {
            Some(fault) => fault,
            // A line is read alone, so its errors count from 1.
            None if self.line > 0 && error.line() == 1 => {
                let text = error.to_string();
                let reason = text.split(" at line ").next().unwrap_or(&text);
                malformed(format!("{reason}, line=`{}`, column=`{}`", self.line, error.column()))
            }
            None => malformed(error.to_string()),
        }
    }

    fn finish(mut self) -> Result<Batch> {
        let columns = self.cells.iter_mut().map(Cells::take).collect();
        Batch::new(self.schema.clone(), columns).map_err(|error| Error::Data { file: self.name.to_string(), error })
    }
}

struct Array<'r, 'a>(&'r mut Rows<'a>);

impl<'de> Visitor<'de> for Array<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut objects: A) -> std::result::Result<(), A::Error> {
        while objects.next_element_seed(Element(self.0))?.is_some() {}
        // What is wrong behind the array is in no row.
        self.0.line = 0;
        Ok(())
    }
}

struct Element<'r, 'a>(&'r mut Rows<'a>);

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        self.0.line = self.0.row + 1;
        self.0.row(json)
    }
}

struct Object<'r, 'a>(&'r mut Rows<'a>);

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while map.next_key_seed(Name(self.0))?.is_some() {
            let column = self.0.column;
            let mut refused = None;
            let value = Value { cells: &mut self.0.cells[column], refused: &mut refused };
            let read = map.next_value_seed(value);
            if let Some((value, why)) = refused {
                self.0.refuse(value, why);
            }
            read?;
        }
        for (cells, filled) in self.0.cells.iter_mut().zip(&self.0.filled) {
            if *filled != self.0.row {
                cells.push_null();
            }
        }
        Ok(())
    }
}

struct Name<'r, 'a>(&'r mut Rows<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a column")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<(), E> {
        let rows = self.0;
        rows.column(name).map_err(|reason| {
            rows.fault = Some(Error::Unfit { file: rows.name.to_string(), reason });
            E::custom("")
        })
    }
}

/// One value on its way into its column.
struct Value<'r> {
    cells: &'r mut Cells,
    refused: &'r mut Option<(String, Refused)>,
}

impl Value<'_> {
    fn done<E: serde::de::Error>(
        self,
        pushed: std::result::Result<(), Refused>,
        value: impl fmt::Display,
    ) -> std::result::Result<(), E> {
        pushed.map_err(|refused| {
            *self.refused = Some((value.to_string(), refused));
            E::custom("")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<(), E> {
        self.cells.push_null();
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<(), E> {
        let pushed = self.cells.push(if value { b"true" } else { b"false" });
        self.done(pushed, value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<(), E> {
        let pushed = self.cells.push_int(value);
        self.done(pushed, value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<(), E> {
        let pushed = match i64::try_from(value) {
            Ok(value) => self.cells.push_int(value),
            Err(_) => self.cells.push(value.to_string().as_bytes()),
        };
        self.done(pushed, value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<(), E> {
        let pushed = self.cells.push_float(value);
        self.done(pushed, value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> std::result::Result<(), E> {
        let pushed = self.cells.push(value.as_bytes());
        self.done(pushed, format_args!("\"{value}\""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> std::result::Result<(), A::Error> {
        let Some(element) = self.cells.ty().element() else {
            return self.done(Err(Refused::Value), "an array");
        };
        let mut elements = Cells::new(element);
        while values.next_element_seed(Value { cells: &mut elements, refused: &mut *self.refused })?.is_some() {}
        let pushed = self.cells.push_list(elements.take());
        self.done(pushed, "an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> std::result::Result<(), A::Error> {
        self.done(Err(Refused::Value), "an object")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{Scalar, Type};

    fn schema() -> Arc<Schema> {
        Schema::of(&[
            ("sym", Type::Symbol),
            ("time", Type::Timestamp),
            ("price", Type::Double),
            ("n", Type::Int),
            ("ok", Type::Bool),
            ("list", Type::Array(&Type::Int)),
            ("money", Type::Decimal64(2)),
        ])
    }

    #[test]
    fn each_value_goes_into_its_column_in_any_order_and_case() {
        let text = br#"
            {"sym":"A","time":"2024-01-02T09:30:00.000","price":1.5,"n":7,"ok":true,"list":[1,null,3],"money":1.25}
            {"PRICE":2,"sym":"B\u00e9","time":1704187800000,"n":"8","ok":null,"money":"0.10"}
        "#;
        let rows = lines("body", text, &schema()).unwrap();
        assert_eq!(rows.rows(), 2);
        assert_eq!(rows.column_named("sym").unwrap().get(1), Scalar::from("Bé"));
        let times = rows.column_named("time").unwrap();
        assert_eq!((times.get(0), times.get(1)), (Scalar::Int(1_704_187_800_000), Scalar::Int(1_704_187_800_000)));
        assert_eq!(rows.column_named("price").unwrap().get(1), Scalar::Float(2.0));
        assert_eq!(rows.column_named("n").unwrap().get(1), Scalar::Int(8));
        assert_eq!(rows.column_named("ok").unwrap().get(1), Scalar::Null);
        assert_eq!(rows.column_named("list").unwrap().get(1), Scalar::Null);
        let Scalar::List(list) = rows.column_named("list").unwrap().get(0) else { panic!("a list") };
        assert_eq!((list.get(0), list.get(1), list.len()), (Scalar::Int(1), Scalar::Null, 3));
        assert_eq!(rows.column_named("money").unwrap().get(0), Scalar::Decimal(125));
        let one_array = [b"[".as_slice(), text.trim_ascii(), b"]"].concat();
        let one_array = String::from_utf8(one_array).unwrap().replace("}\n", "},\n");
        assert_eq!(array("body", one_array.as_bytes(), &schema()).unwrap(), rows);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line_and_mend() {
        let said = |text: &str| lines("body", text.as_bytes(), &schema()).unwrap_err().to_string();
        let unknown = said("{\"n\":1}\n{\"prise\":1}");
        assert!(
            unknown.contains("column=`prise`") && unknown.contains("`price`?") && unknown.contains("line=`2`"),
            "{unknown}"
        );
        let value = said("\n{\"n\":\"x\"}");
        assert!(
            value.contains("not a INT value") && value.contains("column=`n`") && value.contains("row=`2`"),
            "{value}"
        );
        assert!(said("{\"n\":1,\"N\":2}").contains("twice"));
        assert!(said("{\"n\":2147483648}").contains("value=`2147483648`"));
        assert!(said("{\"n\":{}}").contains("an object"));
        assert!(said("{\"n\":[1]}").contains("an array"));
        assert!(said("{\"n\":1").contains("line=`1`"));
        assert!(said("{\"n\":1} {\"n\":1}").contains("line=`1`"));
        assert!(said("[]").contains("an object"));
        assert!(matches!(array("body", b"[{\"n\":1}] x", &schema()), Err(Error::Malformed { .. })));
        assert!(matches!(array("body", b"{}", &schema()), Err(Error::Malformed { .. })));
    }

    #[test]
    fn no_rows_are_no_rows() {
        assert_eq!(lines("body", b"\n\n", &schema()).unwrap().rows(), 0);
        assert_eq!(array("body", b"[]", &schema()).unwrap().rows(), 0);
    }
}

//! The columns of a table: numbers become features, words name the points, their classes or are texts, as in a table in
//! text. Values are read column after column, a batch at a time.

use std::fs::File;

use bytes::Bytes;
use parquet::basic::{ConvertedType as Meaning, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result as Outcome};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescPtr;

use super::super::dialect::{Role, SAMPLE, assign};
use super::super::source::Source;
use super::super::values::{Number, Order, dense, half};
use super::super::{Loaded, Options, Precision, documents};
use super::NAME;
use crate::error::{Error, Place, Result};
use crate::matrix::Matrix;

/// Values that are decoded at once.
const BATCH: usize = 4096;

pub(super) fn read(source: &Source, options: &Options) -> Result<Loaded> {
    let table = Table::open(source)?;
    let titles = table.titles();
    if let Some(text) = &options.columns.text {
        return documents::of_columns(source, NAME, &titles, text, |at| table.words(at), options);
    }
    let sample: Vec<Vec<Vec<u8>>> = (0..titles.len()).map(|at| table.sample(at)).collect::<Result<_>>()?;
    if !table.columns.iter().any(|column| column.is_number) {
        let text = documents::among(source, &titles, &sample, options)?;
        return documents::of_columns(source, NAME, &titles, &titles[text], |at| table.words(at), options);
    }
    let column = |at: usize| sample[at].iter().map(Vec::as_slice);
    let wordy = |at: usize| !table.columns[at].is_number;
    let (roles, notes) =
        assign(&titles, table.indexed, column, wordy, &options.columns).map_err(|error| match error {
            Error::Data(problem) => source.fault(Place::Whole, problem),
            other => other,
        })?;
    let of_role = |role| (0..titles.len()).filter(|&at| roles[at] == role).collect::<Vec<_>>();
    let features = of_role(Role::Feature);
    let [first, ..] = features[..] else {
        let problem = "the table has no column of numbers: if it holds texts, name their column with --text";
        return Err(source.fault(Place::Whole, problem));
    };
    if let Some(&at) = features.iter().find(|&&at| wordy(at)) {
        return Err(source.fault(Place::Whole, format!("column {:?} holds no numbers", titles[at])));
    }
    // What the file says of its length is believed when a column has proved to be as long.
    let rows = table.rows(first)?;
    let single = features.iter().all(|&at| table.columns[at].is_single);
    let precision = options.precision.unwrap_or(if single { Precision::F32 } else { Precision::F64 });
    let matrix = match precision {
        Precision::F32 => table.matrix::<f32>(rows, &features, options)?,
        Precision::F64 => table.matrix::<f64>(rows, &features, options)?,
    };
    let list = |role| of_role(role).first().map(|&at| table.words(at)).transpose();
    Ok(Loaded {
        names: list(Role::Name)?,
        truth: list(Role::Class)?,
        vocabulary: Some(features.iter().map(|&at| titles[at].clone()).collect()),
        notes,
        ..Loaded::new(matrix, NAME)
    })
}

struct Table<'s> {
    source: &'s Source<'s>,
    reader: Box<dyn FileReader>,
    columns: Vec<Column>,
    /// Whether the first column is the index of pandas, which names the rows.
    indexed: bool,
}

struct Column {
    /// Its number in the file.
    at: usize,
    about: ColumnDescPtr,
    title: String,
    is_number: bool,
    /// Whether float32 holds its numbers.
    is_single: bool,
    /// Whether it holds more than one value in a row.
    is_list: bool,
}

impl Column {
    fn new(at: usize, about: ColumnDescPtr) -> Column {
        let meaning = about.converted_type();
        let is_time = matches!(
            meaning,
            Meaning::DATE
                | Meaning::TIME_MILLIS
                | Meaning::TIME_MICROS
                | Meaning::TIMESTAMP_MILLIS
                | Meaning::TIMESTAMP_MICROS
        ) || matches!(
            about.logical_type_ref(),
            Some(LogicalType::Timestamp { .. } | LogicalType::Time { .. })
        );
        let is_half = about.logical_type_ref() == Some(&LogicalType::Float16);
        let is_number = match about.physical_type() {
            Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => true,
            Type::INT32 | Type::INT64 => !is_time,
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => is_half || meaning == Meaning::DECIMAL,
            Type::INT96 => false,
        };
        let is_single = is_half || about.physical_type() == Type::FLOAT;
        let is_list = about.max_rep_level() > 0;
        // A field of a record is called by its path, a list by its beginning.
        let parts = about.path().parts();
        let title = if is_list { parts[0].clone() } else { parts.join(".") };
        Column { at, title, about, is_number: is_number && !is_list, is_single, is_list }
    }
}

impl<'s> Table<'s> {
    fn open(source: &'s Source<'s>) -> Result<Self> {
        let opened: Outcome<Box<dyn FileReader>> = if source.is_on_disk() && source.plain_size().is_some() {
            let file = File::open(source.path()).map_err(|error| source.failed(error))?;
            SerializedFileReader::new(file).map(|reader| Box::new(reader) as _)
        } else {
            let bytes = Bytes::from(source.whole()?.into_owned());
            SerializedFileReader::new(bytes).map(|reader| Box::new(reader) as _)
        };
        let reader = opened.map_err(|error| broken(source, &error))?;
        // The crate would panic where it opens such a column.
        let begins = |c: &ColumnChunkMetaData| c.dictionary_page_offset().unwrap_or(c.data_page_offset());
        let is_nowhere = |c: &ColumnChunkMetaData| begins(c) < 0 || c.compressed_size() < 0;
        if reader.metadata().row_groups().iter().flat_map(|group| group.columns()).any(is_nowhere) {
            return Err(broken(source, &ParquetError::General("a column begins before the file".into())));
        }
        let about = reader.metadata().file_metadata();
        let mut columns: Vec<Column> = about
            .schema_descr()
            .columns()
            .iter()
            .enumerate()
            .map(|(at, c)| Column::new(at, c.clone()))
            .collect();
        let index = about.key_value_metadata().and_then(|list| index_of_pandas(list));
        let place = index.and_then(|title| columns.iter().position(|column| column.title == title));
        if let Some(place) = place {
            columns[..=place].rotate_right(1);
        }
        Ok(Table { source, reader, columns, indexed: place.is_some() })
    }

    fn titles(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.title.clone()).collect()
    }

    /// The first values of a column, as text.
    fn sample(&self, at: usize) -> Result<Vec<Vec<u8>>> {
        let mut words = Vec::new();
        if self.columns[at].is_list {
            return Ok(words);
        }
        self.visit(at, SAMPLE, |value| words.push(value.word().into_bytes()))?;
        Ok(words)
    }

    fn words(&self, at: usize) -> Result<Vec<String>> {
        let mut words = Vec::new();
        self.visit(at, usize::MAX, |value| words.push(value.word()))?;
        Ok(words)
    }

    fn rows(&self, at: usize) -> Result<usize> {
        let mut rows = 0;
        self.visit(at, usize::MAX, |_| rows += 1)?;
        Ok(rows)
    }

    fn matrix<T: Number>(&self, rows: usize, features: &[usize], options: &Options) -> Result<Matrix> {
        let width = features.len();
        self.source.check_room(rows as u128 * width as u128 * size_of::<T>() as u128, options)?;
        let mut values = vec![T::default(); rows * width];
        for (feature, &at) in features.iter().enumerate() {
            let mut row = 0;
            self.visit(at, usize::MAX, |value| {
                if let Some(place) = values.get_mut(row * width + feature) {
                    *place = T::from_f64(value.number());
                }
                row += 1;
            })?;
            if row != rows {
                let title = &self.columns[at].title;
                let problem = format!("column {title:?} has {row} values, others have {rows}");
                return Err(self.source.fault(Place::Whole, problem));
            }
        }
        Ok(dense(rows, width, values, Order::Rows))
    }

    /// The values of a column from the top, so many of them at most.
    fn visit(&self, at: usize, most: usize, mut take: impl FnMut(Value)) -> Result<()> {
        let column = &self.columns[at];
        if column.is_list {
            let problem = format!("column {:?} holds lists: leave it out with --drop", column.title);
            return Err(self.source.fault(Place::Whole, problem));
        }
        let mut left = most;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group);
            group
                .and_then(|group| group.get_column_reader(column.at))
                .and_then(|reader| column.visit(reader, &mut left, &mut take))
                .map_err(|error| broken(self.source, &error))?;
        }
        Ok(())
    }
}

impl Column {
    /// The values of one group of rows.
    fn visit(&self, reader: ColumnReader, left: &mut usize, take: &mut impl FnMut(Value)) -> Outcome<()> {
        use ColumnReader as Of;
        match reader {
            Of::BoolColumnReader(r) => self.each(r, left, |&x| Value::Flag(x), take),
            Of::Int32ColumnReader(r) => self.each(r, left, |&x| self.whole(x.into(), u32::MAX.into()), take),
            Of::Int64ColumnReader(r) => self.each(r, left, |&x| self.whole(x, u64::MAX), take),
            Of::Int96ColumnReader(r) => self.each(r, left, |x| Value::Whole(x.to_nanos().into()), take),
            Of::FloatColumnReader(r) => self.each(r, left, |&x| Value::Real(x.into()), take),
            Of::DoubleColumnReader(r) => self.each(r, left, |&x| Value::Real(x), take),
            Of::ByteArrayColumnReader(r) => self.each(r, left, |x| self.bytes(x.data()), take),
            Of::FixedLenByteArrayColumnReader(r) => self.each(r, left, |x| self.bytes(x.data()), take),
        }
    }

    fn each<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        left: &mut usize,
        value: impl Fn(&T::T) -> Value,
        take: &mut impl FnMut(Value),
    ) -> Outcome<()> {
        let deepest = self.about.max_def_level();
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        while *left > 0 {
            values.clear();
            levels.clear();
            let (rows, ..) = reader.read_records(BATCH.min(*left), Some(&mut levels), None, &mut values)?;
            if rows == 0 {
                break;
            }
            *left -= rows;
            // Only what is there is among the values; a column that may lack nothing has no levels.
            levels.resize(rows, deepest);
            let mut given = values.iter();
            for &level in &levels {
                let found = if level == deepest { given.next() } else { None };
                take(found.map_or(Value::Absent, &value));
            }
        }
        Ok(())
    }

    /// A whole number, which may stand for one with decimals; `most` is all of its bits.
    fn whole(&self, x: i64, most: u64) -> Value<'static> {
        match self.about.converted_type() {
            Meaning::DECIMAL => Value::Real(x as f64 / 10f64.powi(self.about.type_scale())),
            Meaning::UINT_8 | Meaning::UINT_16 | Meaning::UINT_32 | Meaning::UINT_64 => {
                Value::Whole((x as u64 & most).into())
            }
            _ => Value::Whole(x.into()),
        }
    }

    fn bytes<'v>(&self, bytes: &'v [u8]) -> Value<'v> {
        match (self.is_number, bytes) {
            (true, &[low, high]) if self.is_single => Value::Real(half(u16::from_le_bytes([low, high]))),
            // The largest digit first; a leading bit is minus.
            (true, [first, rest @ ..]) => {
                let digits =
                    rest.iter().fold(f64::from(*first as i8), |sum, &byte| sum * 256.0 + f64::from(byte));
                Value::Real(digits / 10f64.powi(self.about.type_scale()))
            }
            (true, []) => Value::Absent,
            (false, _) => Value::Text(bytes),
        }
    }
}

/// What a row has in a column.
enum Value<'v> {
    Absent,
    Flag(bool),
    Whole(i128),
    Real(f64),
    Text(&'v [u8]),
}

impl Value<'_> {
    fn number(&self) -> f64 {
        match *self {
            Value::Flag(x) => x.into(),
            Value::Whole(x) => x as f64,
            Value::Real(x) => x,
            Value::Absent | Value::Text(_) => f64::NAN,
        }
    }

    fn word(&self) -> String {
        match self {
            Value::Absent => String::new(),
            Value::Flag(x) => x.to_string(),
            Value::Whole(x) => x.to_string(),
            Value::Real(x) => x.to_string(),
            Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

fn broken(source: &Source, error: &ParquetError) -> Error {
    let told = error.to_string();
    let problem = match told.contains("Disabled feature") || told.contains("codec type") {
        true => {
            let name = source.path().file_name().unwrap_or_default().to_string_lossy().replace('\'', "");
            format!(
                "is compressed in a way that is not read here (zstd, snappy, gzip, lz4 are); in Python: import pandas; \
                 pandas.read_parquet('{name}').to_parquet('zstd-{name}', compression='zstd')"
            )
        }
        false => format!("the Parquet file cannot be read: {}", told.trim_start_matches("Parquet error: ")),
    };
    source.fault(Place::Whole, problem)
}

/// The column that pandas keeps the names of the rows in; if it is more than one, none of them is.
fn index_of_pandas(about: &[KeyValue]) -> Option<String> {
    let text = about.iter().find(|entry| entry.key == "pandas")?.value.as_ref()?;
    let pandas: serde_json::Value = serde_json::from_str(text).ok()?;
    match &pandas.get("index_columns")?.as_array()?[..] {
        [serde_json::Value::String(title)] => Some(title.clone()),
        _ => None,
    }
}

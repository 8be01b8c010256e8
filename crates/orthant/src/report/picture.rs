//! Pictures: labels, strengths and directions as PNG, and as HTML with the PNG inside.

use super::colour::{NOWHERE, Rgb, category, sequential};
use super::page::escape;
use crate::error::{Error, Result};
use crate::image::{ImageShape, Scan};

/// A picture of indexed colours, row after row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// At most 256 colours.
    pub palette: Vec<Rgb>,
    /// One index into the palette a pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    fn from_fn(shape: ImageShape, palette: Vec<Rgb>, index: impl Fn(usize) -> u8) -> Picture {
        let mut pixels = Vec::with_capacity(shape.pixels());
        for row in 0..shape.height {
            for column in 0..shape.width {
                pixels.push(index(shape.pixel(row, column)));
            }
        }
        Picture { width: shape.width, height: shape.height, palette, pixels }
    }

    /// Every pixel as a square of pixels, as often as it takes to make the longer side at least `side`.
    pub fn enlarged(&self, side: usize) -> Picture {
        let factor = side.div_ceil(self.width.max(self.height).max(1)).max(1);
        if factor == 1 {
            return self.clone();
        }
        let shape = ImageShape { height: self.height * factor, width: self.width * factor, scan: Scan::Rows };
        Picture::from_fn(shape, self.palette.clone(), |p| {
            self.pixels[p / shape.width / factor * self.width + p % shape.width / factor]
        })
    }

    /// Every n-th pixel of every n-th row, so that the longer side is at most `side`.
    pub fn reduced(&self, side: usize) -> Picture {
        let step = self.width.max(self.height).div_ceil(side.max(1)).max(1);
        if step == 1 {
            return self.clone();
        }
        let shape = ImageShape {
            height: self.height.div_ceil(step),
            width: self.width.div_ceil(step),
            scan: Scan::Rows,
        };
        Picture::from_fn(shape, self.palette.clone(), |p| {
            self.pixels[p / shape.width * step * self.width + p % shape.width * step]
        })
    }

    /// As a PNG file.
    pub fn png(&self) -> Result<Vec<u8>> {
        encoded((self.width, self.height), Some(self.palette.concat()), &self.pixels)
    }

    /// As an `img` element that holds the whole picture. `alt` says what it shows.
    pub fn img(&self, alt: &str) -> Result<String> {
        Ok(element((self.width, self.height), alt, &self.png()?))
    }
}

/// Bytes of pixels, with a palette or in threes, as a PNG file.
fn encoded((width, height): (usize, usize), palette: Option<Vec<u8>>, pixels: &[u8]) -> Result<Vec<u8>> {
    let failed = |e: png::EncodingError| Error::Computation(format!("a picture could not be made: {e}"));
    let side = |x: usize| {
        u32::try_from(x).map_err(|_| Error::Computation(format!("a picture of side {x} is too large")))
    };
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, side(width)?, side(height)?);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    match palette {
        Some(palette) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(palette);
        }
        None => encoder.set_color(png::ColorType::Rgb),
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

fn element((width, height): (usize, usize), alt: &str, png: &[u8]) -> String {
    format!(
        r#"<img class="px" width="{width}" height="{height}" alt="{}" src="data:image/png;base64,{}">"#,
        escape(alt),
        base64(png)
    )
}

/// A picture of all colours, such as three bands of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    width: usize,
    height: usize,
    /// Red, green and blue of one pixel after the other.
    pixels: Vec<u8>,
}

impl Photo {
    /// Three numbers for each pixel; each colour goes from its 2nd to its 98th percentile. The longer side is at most
    /// `side`: every so many pixels one is taken.
    pub fn new(values: &[f64], shape: ImageShape, side: usize) -> Result<Photo> {
        shape.check(values.len() / 3)?;
        let range = |colour: usize| {
            let mut sorted: Vec<f64> =
                values.iter().skip(colour).step_by(3).copied().filter(|x| x.is_finite()).collect();
            sorted.sort_by(f64::total_cmp);
            let at = |share: f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or(0.0);
            (at(0.02), at(0.98))
        };
        let ranges = [range(0), range(1), range(2)];
        let step = shape.width.max(shape.height).div_ceil(side.max(1)).max(1);
        let mut pixels = vec![];
        for row in (0..shape.height).step_by(step) {
            for column in (0..shape.width).step_by(step) {
                let pixel = shape.pixel(row, column);
                pixels.extend(ranges.iter().enumerate().map(|(c, (low, high))| {
                    let share = (values[3 * pixel + c] - low) / (high - low);
                    if share.is_finite() { (255.0 * share.clamp(0.0, 1.0)).round() as u8 } else { 0 }
                }));
            }
        }
        Ok(Photo { width: shape.width.div_ceil(step), height: shape.height.div_ceil(step), pixels })
    }

    /// As a PNG file.
    pub fn png(&self) -> Result<Vec<u8>> {
        encoded((self.width, self.height), None, &self.pixels)
    }

    /// As an `img` element that holds the whole picture. `alt` says what it shows.
    pub fn img(&self, alt: &str) -> Result<String> {
        Ok(element((self.width, self.height), alt, &self.png()?))
    }
}

/// Labels as colours; what has none (−1) is grey. Colours repeat where there are more labels than a
/// palette holds.
pub fn segmentation(labels: &[i32], shape: ImageShape) -> Result<Picture> {
    coloured(labels, shape, |label| label)
}

/// Labels with the colours of other numbers: a truth in the colours of the clusters that match it.
pub fn coloured(labels: &[i32], shape: ImageShape, colour: impl Fn(i32) -> i32) -> Result<Picture> {
    shape.check(labels.len())?;
    let mut palette = vec![NOWHERE];
    palette.extend((0..40).map(category));
    Ok(Picture::from_fn(shape, palette, |p| {
        usize::try_from(colour(labels[p])).map_or(0, |label| (label % 40) as u8 + 1)
    }))
}

/// Values as grey, white is the most.
pub fn gray(values: &[f64], shape: ImageShape) -> Result<Picture> {
    scaled(values, shape, |t| [(255.0 * t).round() as u8; 3])
}

/// Values as colours of a perceptually uniform scale, bright is the most.
pub fn heat(values: &[f64], shape: ImageShape) -> Result<Picture> {
    scaled(values, shape, sequential)
}

/// Values from 0 to `high`, what is more like it, in the same colours; what is not finite is grey.
pub fn heat_within(values: &[f64], shape: ImageShape, high: f64) -> Result<Picture> {
    shape.check(values.len())?;
    let mut palette: Vec<Rgb> = (0..255).map(|i| sequential(f64::from(i) / 254.0)).collect();
    palette.push(NOWHERE);
    Ok(Picture::from_fn(shape, palette, |p| match values[p] {
        x if !x.is_finite() => 255,
        x if high > 0.0 => (x / high * 254.0).round().clamp(0.0, 254.0) as u8,
        _ => 0,
    }))
}

fn scaled(values: &[f64], shape: ImageShape, colour: impl Fn(f64) -> Rgb) -> Result<Picture> {
    shape.check(values.len())?;
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    // From zero where nothing is negative: dark then means nothing.
    let low = finite().fold(0.0, f64::min);
    let span = finite().fold(0.0, f64::max) - low;
    let palette = (0..256).map(|i| colour(i as f64 / 255.0)).collect();
    Ok(Picture::from_fn(shape, palette, |p| {
        if span > 0.0 { ((values[p] - low) / span * 255.0).round() as u8 } else { 0 }
    }))
}

/// A row of [`rows_of_maps`]: a method, say, and the parts it found.
#[derive(Debug, Clone)]
pub struct Row {
    /// What the row shows.
    pub name: String,
    /// A word more: an accuracy, an error.
    pub note: String,
    /// The pictures and what each shows.
    pub maps: Vec<(String, Picture)>,
}

/// The pictures of things compared as HTML: a row for each, or beside each other where each has one.
pub fn rows_of_maps(rows: &[Row]) -> Result<String> {
    if rows.iter().all(|row| row.maps.len() == 1) {
        let mut out = String::from(r#"<div class="small-maps">"#);
        for row in rows {
            for (title, picture) in &row.maps {
                out += &format!(
                    r#"<figure>{}<figcaption><b>{}</b><small>{}</small></figcaption></figure>"#,
                    picture.img(&format!("{}: {title}", row.name))?,
                    escape(&row.name),
                    escape(&row.note)
                );
            }
        }
        return Ok(out + "</div>");
    }
    let mut out = String::from(r#"<div class="maprows">"#);
    for row in rows {
        out += &format!(
            r#"<div class="maprow"><div class="mapname"><b>{}</b><span>{}</span></div><div class="maps">"#,
            escape(&row.name),
            escape(&row.note)
        );
        for (title, picture) in &row.maps {
            out += &format!(
                r#"<span class="map" title="{0}">{1}</span>"#,
                escape(title),
                picture.img(&format!("{}: {title}", row.name))?
            );
        }
        out += "</div></div>";
    }
    Ok(out + "</div>")
}

/// The same as an SVG file of its own; `side` is the width of a picture there.
pub fn rows_file(rows: &[Row], side: f64) -> Result<String> {
    const NAMES: f64 = 170.0;
    const GAP: f64 = 5.0;
    let height = |row: &Row| {
        let tall = row.maps.iter().map(|(_, p)| p.height as f64 / p.width.max(1) as f64).fold(0.0, f64::max);
        (tall * side).max(34.0) + 2.0 * GAP
    };
    let most = rows.iter().map(|row| row.maps.len()).max().unwrap_or(0);
    let (width, whole) = (NAMES + most as f64 * (side + GAP), rows.iter().map(height).sum::<f64>() + GAP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {whole:.0}\" width=\"{width:.0}\" \
         height=\"{whole:.0}\"><style>text{{font:13px sans-serif;fill:#222}}.s{{font-size:11px;fill:#555}}\
         image{{image-rendering:pixelated}}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    let mut top = GAP;
    for row in rows {
        let middle = top + height(row) / 2.0 - GAP;
        out += &format!(
            "<text x=\"6\" y=\"{middle:.0}\">{}</text><text class=\"s\" x=\"6\" y=\"{:.0}\">{}</text>",
            escape(&row.name),
            middle + 15.0,
            escape(&row.note)
        );
        for (i, (title, picture)) in row.maps.iter().enumerate() {
            out += &format!(
                "<image x=\"{:.0}\" y=\"{top:.0}\" width=\"{side}\" height=\"{:.1}\" href=\"data:image/png;base64,{}\">\
                 <title>{}</title></image>",
                NAMES + i as f64 * (side + GAP),
                side * picture.height as f64 / picture.width.max(1) as f64,
                base64(&picture.png()?),
                escape(title)
            );
        }
        top += height(row);
    }
    Ok(out + "</svg>\n")
}

/// Base 64 with padding [RFC 4648, section 4].
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= three.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        (info.width as usize, info.height as usize, pixels)
    }

    #[test]
    fn a_picture_read_back_has_the_same_colours_where_they_belong() {
        let shape = ImageShape { height: 2, width: 3, scan: Scan::Columns };
        let picture = segmentation(&[0, 1, 2, -1, 0, 1], shape).unwrap();
        let (width, height, pixels) = decode(&picture.png().unwrap());
        assert_eq!((width, height), (3, 2));
        // Column after column: the upper row is pixels 0, 2, 4 of the list.
        let expected = [category(0), category(2), category(0), category(1), NOWHERE, category(1)].concat();
        assert_eq!(pixels, expected);
        let (width, height, large) = decode(&picture.enlarged(7).png().unwrap());
        assert_eq!((width, height), (9, 6));
        assert_eq!(large[..9], [category(0); 3].concat());
        assert_eq!(picture.enlarged(9).reduced(3), picture);
    }

    #[test]
    fn grey_runs_from_nothing_to_the_most() {
        let shape = ImageShape { height: 1, width: 3, scan: Scan::Rows };
        let (_, _, pixels) = decode(&gray(&[0.0, 2.0, 4.0], shape).unwrap().png().unwrap());
        assert_eq!(pixels, [0, 0, 0, 128, 128, 128, 255, 255, 255]);
        assert_eq!(gray(&[0.0; 3], shape).unwrap().pixels, [0; 3]);
        assert!(gray(&[0.0; 4], shape).is_err());
    }

    #[test]
    fn a_photo_stretches_each_colour_and_a_scale_has_an_end() {
        let shape = ImageShape { height: 1, width: 100, scan: Scan::Rows };
        let values: Vec<f64> = (0..100).flat_map(|p| [f64::from(p), 7.0, 1e9 * f64::from(100 - p)]).collect();
        let photo = Photo::new(&values, shape, 100).unwrap();
        let (width, height, pixels) = decode(&photo.png().unwrap());
        assert_eq!((width, height), (100, 1));
        assert_eq!(pixels[..3], [0, 0, 255]);
        assert_eq!(pixels[297..], [255, 0, 0]);
        assert!((120..136).contains(&pixels[150]) && pixels[151] == 0);
        assert_eq!(Photo::new(&values, shape, 30).unwrap().width, 25);
        let shape = ImageShape { height: 1, width: 4, scan: Scan::Rows };
        let map = heat_within(&[0.0, 1.0, 5.0, f64::NAN], shape, 2.0).unwrap();
        assert_eq!(map.pixels, [0, 127, 254, 255]);
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), text);
        }
    }

    #[test]
    fn names_in_rows_of_maps_are_escaped() {
        let shape = ImageShape { height: 1, width: 1, scan: Scan::Rows };
        let map = ("<b>".to_string(), gray(&[1.0], shape).unwrap());
        let rows = [Row { name: "\"x\"".into(), note: "a & b".into(), maps: vec![map.clone()] }];
        let beside = rows_of_maps(&rows).unwrap();
        assert!(beside.contains("<b>&quot;x&quot;</b><small>a &amp; b</small>"), "{beside}");
        let rows = [Row { maps: vec![map.clone(), map], ..rows[0].clone() }];
        let html = rows_of_maps(&rows).unwrap();
        assert!(html.contains(r#"<b>&quot;x&quot;</b><span>a &amp; b</span>"#), "{html}");
        assert!(html.contains(r#"title="&lt;b&gt;""#) && !html.contains("<b><"));
        let file = rows_file(&rows, 40.0).unwrap();
        assert!(file.contains("<title>&lt;b&gt;</title>") && file.contains("a &amp; b"), "{file}");
        assert_eq!(file.matches("<image").count(), 2);
    }
}

//! What was found in a scene, in the kind of file that the scene came in: a map of classes and a cube with a band for
//! each cluster, at the same place on earth. Programs for maps open them beside the scene.

use std::io::{Cursor, Seek, Write};

use tiff::encoder::colortype::{ColorType, Gray8, Gray16, Gray32Float};
use tiff::encoder::{TiffEncoder, TiffValue};
use tiff::tags::Tag;
use tiff::{TiffError, TiffResult};

use crate::error::{Error, Result};
use crate::image::{ImageShape, Scan};

/// In which kind of file a scene came, with what that said of its place.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// Fields of an ENVI header, as they stood there.
    Envi(Vec<(String, String)>),
    /// Tags of a (Geo)TIFF.
    Tiff(GeoTags),
}

/// What GeoTIFF says of a place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeoTags {
    /// Lists of numbers by the number of their tag: scale, tie points, transformation, parameters.
    pub doubles: Vec<(u16, Vec<f64>)>,
    /// The directory of keys.
    pub keys: Vec<u16>,
    /// The parameters that are text.
    pub text: Option<String>,
}

/// A scene that was divided into clusters.
#[derive(Debug, Clone, Copy)]
pub struct Segmented<'a> {
    /// The picture that the pixels make.
    pub image: ImageShape,
    /// The cluster of each pixel, −1 for none.
    pub labels: &'a [i32],
    /// How strongly it belongs to it.
    pub strengths: &'a [f64],
    /// A colour for each cluster: red, green, blue.
    pub colours: &'a [[u8; 3]],
}

impl Segmented<'_> {
    /// Files with their names. In the map of classes 0 is no cluster and cluster i is i + 1; the cube has a band for each
    /// cluster (a row of V), with the pixels' strengths where they belong to it and zeros elsewhere.
    ///
    /// # Errors
    /// When there are not as many labels and strengths as pixels.
    pub fn files(&self, origin: &Origin) -> Result<Vec<(&'static str, Vec<u8>)>> {
        self.image.check(self.labels.len())?;
        self.image.check(self.strengths.len())?;
        match origin {
            Origin::Envi(place) => Ok(self.envi(place)),
            Origin::Tiff(tags) => self
                .tiff(tags)
                .map_err(|error| Error::Computation(format!("the scene cannot be written as TIFF: {error}"))),
        }
    }

    fn k(&self) -> usize {
        self.colours.len()
    }

    /// Pixels row after row.
    fn pixels(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = ImageShape { scan: Scan::Rows, ..self.image };
        (0..rows.pixels()).map(move |p| self.image.pixel(rows.row(p), rows.column(p)))
    }

    fn classes(&self) -> impl Iterator<Item = u16> + '_ {
        self.pixels().map(|p| u16::try_from(self.labels[p] + 1).unwrap_or(u16::MAX))
    }

    fn band(&self, cluster: usize) -> impl Iterator<Item = f32> + '_ {
        self.pixels().map(move |p| match self.labels[p] == cluster as i32 {
            true => self.strengths[p] as f32,
            false => 0.0,
        })
    }

    fn envi(&self, place: &[(String, String)]) -> Vec<(&'static str, Vec<u8>)> {
        let (k, wide) = (self.k(), self.k() > 254);
        let clusters: Vec<String> = (0..k).map(|i| format!("cluster {i}")).collect();
        let lookup: Vec<String> = self.colours.iter().flatten().map(u8::to_string).collect();
        let classes = format!(
            "file type = ENVI Classification\nbands = 1\ndata type = {}\nclasses = {}\nclass names = {{no cluster, {}}}\n\
             class lookup = {{0, 0, 0, {}}}\n",
            if wide { 12 } else { 1 },
            k + 1,
            clusters.join(", "),
            lookup.join(", ")
        );
        let strengths = format!(
            "file type = ENVI Standard\nbands = {k}\ndata type = 4\nband names = {{{}}}\n",
            clusters.join(", ")
        );
        let map = match wide {
            true => self.classes().flat_map(u16::to_le_bytes).collect(),
            false => self.classes().map(|class| class as u8).collect(),
        };
        let cube = (0..k).flat_map(|i| self.band(i)).flat_map(f32::to_le_bytes).collect();
        vec![
            ("classes.hdr", self.header(&classes, place)),
            ("classes.img", map),
            ("strengths.hdr", self.header(&strengths, place)),
            ("strengths.img", cube),
        ]
    }

    fn header(&self, own: &str, place: &[(String, String)]) -> Vec<u8> {
        let ImageShape { height, width, .. } = self.image;
        let mut text = format!(
            "ENVI\ndescription = {{made by Orthant}}\nsamples = {width}\nlines = {height}\nheader offset = 0\n\
             interleave = bsq\nbyte order = 0\n{own}"
        );
        for (key, value) in place {
            let bare = key.ends_with("start");
            text += &if bare { format!("{key} = {value}\n") } else { format!("{key} = {{{value}}}\n") };
        }
        text.into_bytes()
    }

    fn tiff(&self, tags: &GeoTags) -> TiffResult<Vec<(&'static str, Vec<u8>)>> {
        let mut classes = Cursor::new(vec![]);
        let mut encoder = TiffEncoder::new(&mut classes)?;
        if self.k() > 254 {
            self.page::<Gray16, _>(&mut encoder, tags, &self.classes().collect::<Vec<_>>())?;
        } else {
            let narrow: Vec<u8> = self.classes().map(|class| class as u8).collect();
            self.page::<Gray8, _>(&mut encoder, tags, &narrow)?;
        }
        let mut strengths = Cursor::new(vec![]);
        let mut encoder = TiffEncoder::new(&mut strengths)?;
        for cluster in 0..self.k() {
            self.page::<Gray32Float, _>(&mut encoder, tags, &self.band(cluster).collect::<Vec<_>>())?;
        }
        Ok(vec![("classes.tif", classes.into_inner()), ("strengths.tif", strengths.into_inner())])
    }

    /// One band, with the tags of the place.
    fn page<C: ColorType, W: Write + Seek>(
        &self,
        encoder: &mut TiffEncoder<W>,
        tags: &GeoTags,
        values: &[C::Inner],
    ) -> TiffResult<()>
    where
        [C::Inner]: TiffValue,
    {
        let size = |pixels: usize| u32::try_from(pixels).map_err(|_| TiffError::LimitsExceeded);
        let (width, height) = (size(self.image.width)?, size(self.image.height)?);
        let mut image = encoder.new_image::<C>(width, height)?;
        let directory = image.encoder();
        for (tag, list) in &tags.doubles {
            directory.write_tag(Tag::from_u16_exhaustive(*tag), &list[..])?;
        }
        if !tags.keys.is_empty() {
            directory.write_tag(Tag::GeoKeyDirectoryTag, &tags.keys[..])?;
        }
        if let Some(text) = &tags.text {
            directory.write_tag(Tag::GeoAsciiParamsTag, &text[..])?;
        }
        image.write_data(values)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, from_bytes};
    use super::*;

    const COLOURS: [[u8; 3]; 2] = [[255, 0, 0], [0, 0, 255]];

    /// 2 x 3 pixels, listed column after column.
    fn segmented() -> Segmented<'static> {
        Segmented {
            image: ImageShape { height: 2, width: 3, scan: Scan::Columns },
            labels: &[0, 1, 0, -1, 1, 1],
            strengths: &[0.5, 1.0, 0.25, 0.0, 2.0, 3.0],
            colours: &COLOURS,
        }
    }

    /// Row after row.
    const CLASSES: [f64; 6] = [1.0, 1.0, 2.0, 2.0, 0.0, 2.0];
    const STRENGTHS: [[f64; 2]; 6] =
        [[0.5, 0.0], [0.25, 0.0], [0.0, 2.0], [0.0, 1.0], [0.0, 0.0], [0.0, 3.0]];

    #[test]
    fn envi_files_are_read_back_with_their_place() {
        let place =
            vec![("map info".to_string(), "UTM, 1, 1, 300000, 4100000, 30, 30, 11, North".to_string())];
        let files = segmented().files(&Origin::Envi(place.clone())).unwrap();
        let read = |at: usize| {
            let bytes = [&files[at].1[..], &[0], &files[at + 1].1].concat();
            from_bytes(&bytes, &Options::default()).unwrap()
        };
        let (classes, strengths) = (read(0), read(2));
        for p in 0..6 {
            assert_eq!(classes.matrix.point(p), [CLASSES[p]]);
            assert_eq!(strengths.matrix.point(p), STRENGTHS[p]);
        }
        assert_eq!(classes.origin, Some(Origin::Envi(place.clone())));
        assert_eq!(strengths.origin, Some(Origin::Envi(place)));
        let header = String::from_utf8_lossy(&files[0].1).into_owned();
        assert!(header.contains("class lookup = {0, 0, 0, 255, 0, 0, 0, 0, 255}"), "{header}");
    }

    #[test]
    fn tiff_files_are_read_back_with_their_place() {
        let tags = GeoTags {
            doubles: vec![(33550, vec![30.0, 30.0, 0.0]), (33922, vec![0.0, 0.0, 0.0, 3e5, 4.1e6, 0.0])],
            keys: vec![1, 1, 0, 1, 3072, 0, 1, 32611],
            text: Some("WGS 84 / UTM zone 11N|".into()),
        };
        let files = segmented().files(&Origin::Tiff(tags.clone())).unwrap();
        for (file, bands) in files.iter().zip([1, 2]) {
            let read = from_bytes(&file.1, &Options::default()).unwrap();
            assert_eq!(read.matrix.features(), bands, "{}", file.0);
            assert_eq!(read.origin, Some(Origin::Tiff(tags.clone())), "{}", file.0);
            for p in 0..6 {
                let expected = if bands == 1 { vec![CLASSES[p]] } else { STRENGTHS[p].to_vec() };
                assert_eq!(read.matrix.point(p), expected, "{}", file.0);
            }
        }
    }
}

//! The page as a whole: every section appears when its input is there and not otherwise.

use super::*;
use crate::evaluate;
use crate::findings::Findings;
use crate::generate::{Generator, Swimmer, Synthetic, Telescope};
use crate::image::Scan;
use crate::matrix::{Dense, Mat, Matrix, open};
use crate::pipeline::cluster;

fn outcome(matrix: &Matrix, job: &Job) -> Outcome {
    cluster(&*open(matrix, None).unwrap(), job, &mut ()).unwrap()
}

fn ids(html: &str) -> Vec<&str> {
    html.split("<section id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Every tag that is opened is closed, in order: what a browser would mend silently is a mistake here.
fn balanced(html: &str) {
    const VOID: [&str; 4] = ["meta", "img", "link", "br"];
    let mut open: Vec<&str> = vec![];
    let mut rest = html.split("<script>").next().unwrap();
    rest = &rest[rest.find("</style>").unwrap() + 8..];
    open.extend(["html", "head"]);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "…{}…", &rest[..rest.len().min(80)]);
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, ["html", "body"]);
}

#[test]
fn a_bare_report_has_only_what_can_be_said() {
    let made = Synthetic { noise: 0.05, ..Synthetic::default() }.generate().unwrap();
    let data = open(&made.matrix, None).unwrap();
    let job = Job::new("em-onmf", 6).unwrap();
    let outcome = outcome(&made.matrix, &job);
    let findings = Findings::new(&*data, &outcome.solution).unwrap().with_points(&*data).unwrap();
    let page = html(&Report::new("bare", &findings, &job, &outcome)).unwrap();
    assert_eq!(ids(&page), ["clusters", "features", "markers", "points", "sure", "convergence", "made"]);
    balanced(&page);
    assert!(!page.contains("<img") && !page.contains("NaN") && !page.contains("undefined"));
    assert!(page.contains("450 points") && page.contains("at most"));
    assert!(pictures(&Report::new("bare", &findings, &job, &outcome)).unwrap().is_empty());
}

#[test]
fn runs_and_a_truth_bring_their_sections() {
    let made = Synthetic { noise: 0.1, ..Synthetic::default() }.generate().unwrap();
    let data = open(&made.matrix, None).unwrap();
    let job = Job { runs: 5, ..Job::new("k-means", 6).unwrap() };
    let outcome = outcome(&made.matrix, &job);
    let scores = evaluate::scores(&outcome.solution.labels, &made.truth).unwrap();
    let truth = Truth { labels: &made.truth, classes: &made.classes, scores: &scores };
    let findings = Findings::new(&*data, &outcome.solution).unwrap().with_points(&*data).unwrap();
    let report = Report { truth: Some(truth), ..Report::new("runs", &findings, &job, &outcome) };
    let page = html(&report).unwrap();
    let expected =
        ["clusters", "features", "markers", "points", "sure", "truth", "runs", "convergence", "made"];
    assert_eq!(ids(&page), expected);
    balanced(&page);
    assert!(page.contains(r#"<select id="run">"#) && page.matches("<tr data-key=").count() == 5);
    assert!(page.contains("A lower error is not always a higher accuracy"));
    assert!(page.contains("does not minimise this error"));
}

#[test]
fn a_cube_has_maps_and_spectra_and_a_collection_parts() {
    let telescope = Telescope::default().generate().unwrap();
    let data = open(&telescope.matrix, None).unwrap();
    let job = Job::new("em-onmf", 8).unwrap();
    let result = outcome(&telescope.matrix, &job);
    let scores = evaluate::scores(&result.solution.labels, &telescope.truth).unwrap();
    let image = telescope.image.unwrap();
    let findings = Findings::new(&*data, &result.solution).unwrap().with_scene(&*data, image, None).unwrap();
    // The true spectra are those of the clusters in another order and unit.
    let turned = Mat::from_fn(result.solution.u.rows, 8, |f, i| 7.0 * result.solution.directions[(f, 7 - i)]);
    let report = Report {
        image: telescope.image,
        features: Features::Bands,
        endmembers: Some(&turned),
        truth: Some(Truth { labels: &telescope.truth, classes: &telescope.classes, scores: &scores }),
        ..Report::new("telescope", &findings, &job, &result)
    };
    let page = html(&report).unwrap();
    assert_eq!(ids(&page), ["map", "spectra", "clusters", "points", "sure", "truth", "convergence", "made"]);
    balanced(&page);
    // The scene, the map, the truth, a map for each cluster, margins and errors.
    assert_eq!(page.matches("<img").count(), 3 + 8 + 2);
    assert!(page.contains(r#"id="pixel""#) && page.contains("as red, green and blue"));
    for i in 0..8 {
        assert!(page.contains(&format!("true spectrum {}, 0.0° from {i}", 7 - i)), "{i}");
    }
    assert!(page.contains("no cluster (zero)"));
    let names: Vec<String> = pictures(&report).unwrap().into_iter().map(|p| p.0).collect();
    assert_eq!(names[..3], ["segmentation.png", "truth.png", "strengths-0.png"]);
    assert_eq!(names.len(), 10);

    let swimmer = Swimmer::default().generate().unwrap();
    let data = open(&swimmer.matrix, None).unwrap();
    let job = Job::new("em-onmf", 17).unwrap();
    let result = outcome(&swimmer.matrix, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap();
    let report = Report {
        image: swimmer.image,
        features: Features::Pictures,
        ..Report::new("swimmer", &findings, &job, &result)
    };
    let page = html(&report).unwrap();
    assert_eq!(ids(&page), ["map", "clusters", "points", "sure", "convergence", "made"]);
    assert_eq!(page.matches("<img").count(), 1 + 17);
    assert_eq!(pictures(&report).unwrap()[1].0, "strengths-00.png");
}

#[test]
fn pictures_as_points_have_their_directions_shown_as_pictures() {
    let swimmer = Swimmer::default().generate().unwrap();
    let images = swimmer.matrix.transposed();
    let data = open(&images, None).unwrap();
    let job = Job::new("em-onmf", 4).unwrap();
    let result = outcome(&images, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap().with_points(&*data).unwrap();
    let report = Report { feature_image: swimmer.image, ..Report::new("images", &findings, &job, &result) };
    let page = html(&report).unwrap();
    assert_eq!(ids(&page), ["parts", "clusters", "features", "points", "sure", "convergence", "made"]);
    balanced(&page);
    // A direction and five typical pictures each.
    assert_eq!(page.matches("<img").count(), 4 * 6);
    assert_eq!(pictures(&report).unwrap()[0].0, "basis-0.png");
}

/// Two groups of points along the axes of the plane.
fn crossed(n: usize) -> Matrix {
    let data: Vec<f64> = (0..n).flat_map(|j| if j % 2 == 0 { [1.0, 0.1] } else { [0.1, 1.0] }).collect();
    Matrix::DenseF64(Dense::new(n, 2, data).unwrap())
}

#[test]
fn whatever_users_name_things_stays_text() {
    let evil = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}";
    let matrix = crossed(6);
    let data = open(&matrix, None).unwrap();
    let job = Job::new("em-onmf", 2).unwrap();
    let result = outcome(&matrix, &job);
    let named = vec![evil.to_string(); 6];
    let truth = [0, 1, 0, 1, 0, 1];
    let scores = evaluate::scores(&result.solution.labels, &truth).unwrap();
    let findings = Findings::new(&*data, &result.solution).unwrap().with_points(&*data).unwrap();
    let report = Report {
        made: Made {
            command: Some(evil),
            version: Some(evil),
            date: Some(evil),
            notes: &named,
            ..Made::default()
        },
        vocabulary: Some(&named[..2]),
        names: Some(&named),
        image: Some(ImageShape { height: 2, width: 3, scan: Scan::Rows }),
        truth: Some(Truth { labels: &truth, classes: &named[..2], scores: &scores }),
        excerpts: Some(&named),
        ..Report::new(evil, &findings, &job, &result)
    };
    let page = html(&report).unwrap();
    balanced(&page);
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("<img src=x") && page.contains("&lt;img src=x"));
    assert!(!page.contains(">49<"));
}

#[test]
fn many_points_and_clusters_do_not_make_a_huge_page() {
    let (n, m, k) = (4000, 80, 70);
    let values: Vec<f64> = (0..n * m)
        .map(|i| if (i / m) % m == i % m { 5.0 } else { ((i * 7919) % 97) as f64 / 97.0 })
        .collect();
    let matrix = Matrix::DenseF64(Dense::new(n, m, values).unwrap());
    let data = open(&matrix, None).unwrap();
    let job = Job { runs: 3, ..Job::new("em-onmf", k).unwrap() };
    let result = outcome(&matrix, &job);
    let names: Vec<String> = (0..n).map(|j| format!("{j} {}", "long ".repeat(100))).collect();
    let findings = Findings::new(&*data, &result.solution).unwrap().with_points(&*data).unwrap();
    let report = Report { names: Some(&names), ..Report::new("large", &findings, &job, &result) };
    let page = html(&report).unwrap();
    balanced(&page);
    assert!(page.len() < 600_000, "{}", page.len());
    assert!(!page.contains(&"long ".repeat(30)));
}

#[test]
fn lists_of_a_wrong_length_are_refused() {
    let matrix = crossed(6);
    let data = open(&matrix, None).unwrap();
    let job = Job::new("em-onmf", 2).unwrap();
    let result = outcome(&matrix, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap().with_points(&*data).unwrap();
    let report = || Report::new("x", &findings, &job, &result);
    let five = vec![String::new(); 5];
    assert!(
        html(&Report { names: Some(&five), ..report() })
            .unwrap_err()
            .to_string()
            .contains("5 names of points")
    );
    assert!(html(&Report { vocabulary: Some(&five), ..report() }).is_err());
    assert!(html(&Report { wavelengths: Some(&[1.0]), ..report() }).is_err());
    assert!(html(&Report { excerpts: Some(&five), ..report() }).is_err());
    assert!(html(&Report { endmembers: Some(&Mat::zeros(3, 2)), ..report() }).is_err());
    let shape = ImageShape { height: 2, width: 2, scan: Scan::Rows };
    assert!(html(&Report { image: Some(shape), ..report() }).is_err());
    assert!(pictures(&Report { feature_image: Some(shape), ..report() }).is_err());
}

#[test]
fn one_cluster_and_exact_data_are_reported_plainly() {
    let matrix = Matrix::DenseF64(Dense::new(3, 2, vec![1.0, 2.0, 2.0, 4.0, 0.0, 0.0]).unwrap());
    let data = open(&matrix, None).unwrap();
    let job = Job::new("em-onmf", 1).unwrap();
    let result = outcome(&matrix, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap().with_points(&*data).unwrap();
    let page = html(&Report::new("exact", &findings, &job, &result)).unwrap();
    assert!(page.contains("explain the data exactly") && page.contains("1 point without any nonzero entry"));
    assert!(!page.contains("The least certain") && !page.contains("NaN"));
}

#[test]
fn texts_are_named_by_their_words_and_quoted() {
    let matrix = crossed(6);
    let data = open(&matrix, None).unwrap();
    let job = Job::new("em-onmf", 2).unwrap();
    let result = outcome(&matrix, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap();
    let vocabulary = ["ship".to_string(), "court".to_string()];
    let excerpts: Vec<String> = (0..6).map(|j| format!("The text number {j} is about <b>it</b>.")).collect();
    let report = Report {
        called: Some(Called::TEXTS),
        vocabulary: Some(&vocabulary),
        excerpts: Some(&excerpts),
        ..Report::new("letters", &findings, &job, &result)
    };
    let page = html(&report).unwrap();
    balanced(&page);
    assert!(page.contains("<h1>letters: 6 texts in 2 clusters</h1>"));
    // The first thing said: each cluster by the word that sets it apart, and its share.
    let lead = page.split(r#"<p class="answer">"#).nth(1).unwrap().split("</p>").next().unwrap();
    assert!(
        lead.contains("<b>ship</b> (50.0\u{a0}%)") && lead.contains("<b>court</b> (50.0\u{a0}%)"),
        "{lead}"
    );
    assert!(page.contains("share of the texts") && page.contains("share of the energy"));
    assert!(page.contains("The text number 0 is about &lt;b&gt;it"));
    assert!(!page.contains("<b>it</b>"));
}

#[test]
fn a_scene_of_a_hundred_thousand_pixels_stays_under_five_megabytes() {
    let shape = ImageShape { height: 300, width: 334, scan: Scan::Rows };
    let (n, m) = (shape.pixels(), 100);
    let values: Vec<f32> = (0..n * m)
        .map(|i| {
            let (pixel, band, noise) = (i / m, i % m, (i * 7919 % 997) as f32 / 997.0);
            let kind = (pixel / 20) % 4;
            1.0 + noise + if band / 25 == kind { 8.0 } else { 0.0 }
        })
        .collect();
    let matrix = Matrix::DenseF32(Dense::new(n, m, values).unwrap());
    let data = open(&matrix, None).unwrap();
    let job = Job::new("em-onmf", 4).unwrap();
    let result = outcome(&matrix, &job);
    let findings = Findings::new(&*data, &result.solution).unwrap().with_scene(&*data, shape, None).unwrap();
    let report = Report {
        image: Some(shape),
        features: Features::Bands,
        ..Report::new("large", &findings, &job, &result)
    };
    let page = html(&report).unwrap();
    assert!(page.len() < 5_000_000, "{}", page.len());
}

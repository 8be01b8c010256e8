//! Numbers as people read them.

/// With about `digits` significant digits, no trailing zeros, and powers of ten where they help.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return if x.is_nan() { "–".into() } else { if x > 0.0 { "∞" } else { "−∞" }.into() };
    }
    // The exponent after rounding: 9.9996 is 10.00.
    let written = format!("{:.*e}", digits.max(1) - 1, x);
    let (mantissa, exponent) = written.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("it is a whole number");
    let text = if (-5..=6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trimmed(&format!("{x:.decimals$}"))
    } else {
        format!("{}e{exponent}", trimmed(mantissa))
    };
    text.replace('-', "−")
}

fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text.into()
    }
}

/// With a fixed number of decimals.
pub fn decimals(x: f64, decimals: usize) -> String {
    if x.is_finite() { format!("{x:.decimals$}").replace('-', "−") } else { significant(x, 3) }
}

/// A share as a percentage, on one line; it says 100 % or 0 % only of what is.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".into();
    }
    let text = format!("{:.1}", 100.0 * share);
    let text = match text.as_str() {
        "100.0" if share < 1.0 => {
            // As many nines as it takes.
            (2..10)
                .map(|d| format!("{:.d$}", 100.0 * share))
                .find(|t| !t.starts_with("100"))
                .unwrap_or("100".into())
        }
        "100.0" => "100".into(),
        "0.0" if share == 0.0 => "0".into(),
        "0.0" | "-0.0" => significant(100.0 * share, 2),
        _ => text,
    };
    format!("{}\u{a0}%", text.replace('-', "−"))
}

/// A count with thin spaces between thousands.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// `1 point`, `2 points`.
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Seconds in the unit that suits them.
pub fn seconds(s: f64) -> String {
    match s {
        s if !s.is_finite() => "–".into(),
        s if s < 1e-3 => format!("{} µs", significant(s * 1e6, 3)),
        s if s < 1.0 => format!("{} ms", significant(s * 1e3, 3)),
        s if s < 120.0 => format!("{} s", significant(s, 3)),
        s if s < 7200.0 => format!("{} min", significant(s / 60.0, 3)),
        s => format!("{} h", significant(s / 3600.0, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_claim_too_much() {
        assert_eq!(significant(0.206980, 4), "0.207");
        assert_eq!(significant(9.99996, 4), "10");
        assert_eq!(significant(-1.5e-9, 3), "−1.5e−9");
        assert_eq!(significant(123456.0, 3), "123456");
        assert_eq!(significant(f64::NAN, 3), "–");
        assert_eq!(percent(0.957), "95.7\u{a0}%");
        assert_eq!(percent(0.99999), "99.999\u{a0}%");
        assert_eq!(percent(1.0), "100\u{a0}%");
        assert_eq!(percent(0.0), "0\u{a0}%");
        assert_eq!(percent(0.0001), "0.01\u{a0}%");
        assert_eq!(count(116613), "116\u{202f}613");
        assert_eq!(count(6429), "6429");
        assert_eq!(counted(1, "point", "points"), "1 point");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(90.0), "90 s");
    }
}

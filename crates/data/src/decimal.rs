//! Decimals as text. The digits of a decimal are counted in units of its scale.

use crate::types::Type;

/// Adds a decimal to a text: all digits of its scale stand behind the point.
pub fn push_decimal(ty: Type, digits: i128, out: &mut String) {
    let scale = ty.scale() as usize;
    let text = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    let (whole, part) = text.split_at(text.len() - scale);
    let sign = if digits < 0 { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    out.extend([sign, whole, point, part]);
}

/// A decimal as text.
pub fn format_decimal(ty: Type, digits: i128) -> String {
    let mut out = String::new();
    push_decimal(ty, digits, &mut out);
    out
}

/// Reads a decimal; digits behind its scale are rounded half away from zero. `None` for what is none, and for more
/// digits than the type has.
pub fn parse_decimal(ty: Type, text: &str) -> Option<i128> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && part.is_empty() || !whole.chars().chain(part.chars()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = ty.scale() as usize;
    let (kept, rest) = part.split_at(part.len().min(scale));
    let mut digits: i128 = format!("0{whole}{kept:0<scale$}").parse().ok()?;
    digits = digits.checked_add(rest.starts_with(|digit| digit >= '5') as i128)?;
    let digits = if negative { -digits } else { digits };
    ty.holds_digits(digits).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_digits_are_kept_and_the_last_one_is_rounded() {
        for (ty, text, printed) in [
            (Type::Decimal32(2), "1.245", "1.25"),
            (Type::Decimal32(2), "-1.245", "-1.25"),
            (Type::Decimal32(2), "-.004", "0.00"),
            (Type::Decimal32(0), "17", "17"),
            (Type::Decimal64(4), "+12", "12.0000"),
            (Type::Decimal128(3), "12345678901234567890123456.789", "12345678901234567890123456.789"),
        ] {
            assert_eq!(format_decimal(ty, parse_decimal(ty, text).unwrap()), printed, "{text}");
        }
    }

    #[test]
    fn what_has_too_many_digits_or_is_none_is_refused() {
        for text in ["10000000", "9999999.995", ".", "", "1e3", "1,5", "--1", "inf"] {
            assert_eq!(parse_decimal(Type::Decimal32(2), text), None, "{text}");
        }
        assert_eq!(parse_decimal(Type::Decimal32(2), "9999999.994"), Some(999_999_999));
        assert_eq!(parse_decimal(Type::Decimal128(0), &"9".repeat(39)), None);
    }
}

//! Lengths of time in the unit of a time column.

use data::Type;

/// The name of a time type's unit, in the plural.
pub(crate) fn unit_name(ty: Type) -> &'static str {
    match ty {
        Type::Month => "months",
        Type::Date => "days",
        Type::Datehour => "hours",
        Type::Minute => "minutes",
        Type::Second | Type::Datetime => "seconds",
        Type::Time | Type::Timestamp => "milliseconds",
        _ => "nanoseconds",
    }
}

/// A DURATION such as `5m` in the unit of a time type; `None` if it is no whole number of them, as `1s` is of minutes
/// and `1M` of anything but months.
pub(crate) fn in_unit(count: i64, unit: &str, ty: Type) -> Option<i64> {
    if ty == Type::Month {
        return match unit {
            "M" => Some(count),
            "y" => count.checked_mul(12),
            _ => None,
        };
    }
    const DAY: i128 = 86_400_000_000_000;
    let nanos: i128 = match unit {
        "w" => 7 * DAY,
        "d" => DAY,
        "H" => DAY / 24,
        "m" => DAY / 1_440,
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    let (total, per_unit) = (count as i128 * nanos, DAY / ty.units_per_day()? as i128);
    if total % per_unit == 0 { i64::try_from(total / per_unit).ok() } else { None }
}

/// A length in the unit of a time type as milliseconds, rounded up; what is too long is cut to the greatest number.
pub(crate) fn to_millis(length: i64, ty: Type) -> i64 {
    const DAY: i128 = 86_400_000;
    // A month counts as the shortest one, so that a clock never waits longer than asked.
    let (units, days) = ty.units_per_day().map_or((1, 28), |units| (units, 1));
    let millis = (length as i128 * DAY * days + units as i128 - 1) / units as i128;
    i64::try_from(millis).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_must_be_a_whole_number_of_units() {
        assert_eq!(in_unit(5, "m", Type::Timestamp), Some(300_000));
        assert_eq!(in_unit(90, "s", Type::Minute), None);
        assert_eq!(in_unit(120, "s", Type::Minute), Some(2));
        assert_eq!(in_unit(1, "w", Type::Date), Some(7));
        assert_eq!(in_unit(1, "y", Type::Month), Some(12));
        assert_eq!(in_unit(1, "M", Type::Date), None);
        assert_eq!(in_unit(2, "d", Type::Datehour), Some(48));
        assert_eq!(in_unit(30, "m", Type::Datehour), None);
        assert_eq!(in_unit(i64::MAX, "w", Type::Nanotime), None);
    }

    #[test]
    fn millis_are_rounded_up() {
        assert_eq!(to_millis(1, Type::Nanotimestamp), 1);
        assert_eq!(to_millis(2, Type::Datetime), 2_000);
        assert_eq!(to_millis(i64::MAX, Type::Date), i64::MAX);
    }
}

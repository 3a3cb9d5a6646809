//! Values of 16 bytes as text: UUID, INT128, IPADDR, COMPLEX and POINT.
//!
//! Invariants:
//! - The bytes of UUID, INT128 and IPADDR stand in the order of their digits, so that values are ordered by their bytes.
//! - An address of IPv4 is stored as IPv6 maps it, `::ffff:192.168.1.13`.
//! - COMPLEX and POINT are two doubles, little-endian, one after the other; there is no -0 among them, so that equal
//!   values have equal bytes.

use crate::error::{Error, Result};
use crate::types::Type;
use core::net::{IpAddr, Ipv6Addr};
use std::fmt::Write;

/// Adds a value of one of these types to a text.
pub fn push_bytes16(ty: Type, bytes: &[u8; 16], out: &mut impl Write) {
    const WRITES: &str = "a buffer takes any text";
    match ty {
        Type::Ipaddr => {
            let address = Ipv6Addr::from(*bytes);
            match address.to_ipv4_mapped() {
                Some(address) => write!(out, "{address}").expect(WRITES),
                None => write!(out, "{address}").expect(WRITES),
            }
        }
        Type::Complex => {
            let (re, im) = pair_of(bytes);
            write!(out, "{re}{im:+}i").expect(WRITES);
        }
        Type::Point => {
            let (x, y) = pair_of(bytes);
            write!(out, "({x}, {y})").expect(WRITES);
        }
        ty => {
            for (place, byte) in bytes.iter().enumerate() {
                let dash = if ty == Type::Uuid && matches!(place, 4 | 6 | 8 | 10) { "-" } else { "" };
                write!(out, "{dash}{byte:02x}").expect(WRITES);
            }
        }
    }
}

/// A value of one of these types as text.
pub fn format_bytes16(ty: Type, bytes: &[u8; 16]) -> String {
    let mut out = String::new();
    push_bytes16(ty, bytes, &mut out);
    out
}

/// Reads a value of one of these types; a UUID also without its dashes.
pub fn parse_bytes16(ty: Type, text: &str) -> Result<[u8; 16]> {
    let plain = text.trim();
    let found = match ty {
        Type::Uuid => uuid(plain),
        Type::Int128 => hex(plain),
        Type::Ipaddr => plain.parse().ok().map(|address| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        }),
        Type::Complex => complex(plain),
        Type::Point => point(plain),
        _ => None,
    };
    found.ok_or_else(|| Error::Parse { text: text.to_string(), ty: ty.to_string() })
}

/// The bytes of a COMPLEX or POINT.
pub fn bytes_of_pair(first: f64, second: f64) -> [u8; 16] {
    let mut bytes = [0; 16];
    // A -0 becomes 0.
    bytes[..8].copy_from_slice(&(first + 0.0).to_le_bytes());
    bytes[8..].copy_from_slice(&(second + 0.0).to_le_bytes());
    bytes
}

/// The real and the imaginary part of a COMPLEX, or x and y of a POINT.
pub fn pair_of(bytes: &[u8; 16]) -> (f64, f64) {
    let half = |from: usize| f64::from_le_bytes(bytes[from..from + 8].try_into().expect("8 bytes"));
    (half(0), half(8))
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return hex(text);
    }
    let mut digits = String::with_capacity(32);
    for (place, letter) in text.chars().enumerate() {
        match (place, letter) {
            (8 | 13 | 18 | 23, '-') => {}
            (8 | 13 | 18 | 23, _) => return None,
            (_, letter) => digits.push(letter),
        }
    }
    hex(&digits)
}

fn hex(text: &str) -> Option<[u8; 16]> {
    let digits = text.as_bytes();
    if digits.len() != 32 {
        return None;
    }
    let digit = |place: usize| (digits[place] as char).to_digit(16);
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = (digit(2 * place)? * 16 + digit(2 * place + 1)?) as u8;
    }
    Some(bytes)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// `1+2i`, `2i` or `1`.
fn complex(text: &str) -> Option<[u8; 16]> {
    let Some(parts) = text.strip_suffix('i') else { return Some(bytes_of_pair(number(text)?, 0.0)) };
    // The sign of the imaginary part, which is neither the first letter nor that of a power of ten.
    let is_sign = |&(place, letter): &(usize, char)| {
        place > 0 && matches!(letter, '+' | '-') && !parts[..place].ends_with(['e', 'E'])
    };
    let split = parts.char_indices().rfind(is_sign);
    match split {
        Some((place, _)) => Some(bytes_of_pair(number(&parts[..place])?, number(&parts[place..])?)),
        None => Some(bytes_of_pair(0.0, number(parts)?)),
    }
}

/// `(1, 2)`.
fn point(text: &str) -> Option<[u8; 16]> {
    let (x, y) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some(bytes_of_pair(number(x)?, number(y)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_reads_back_as_it_was_printed() {
        for (ty, text) in [
            (Type::Uuid, "5d212a78-cc48-e3b1-4235-b4d91473ee87"),
            (Type::Int128, "e1671797c52e15f763380b45e841ec32"),
            (Type::Ipaddr, "192.168.1.13"),
            (Type::Ipaddr, "2001:db8::1"),
            (Type::Ipaddr, "::"),
            (Type::Complex, "1+2i"),
            (Type::Complex, "-1.5-0.25i"),
            (Type::Complex, "0+0i"),
            (Type::Point, "(1, -2.5)"),
        ] {
            let bytes = parse_bytes16(ty, text).unwrap();
            assert_eq!(format_bytes16(ty, &bytes), text);
        }
    }

    #[test]
    fn other_spellings_mean_the_same() {
        let same =
            |ty: Type, a: &str, b: &str| assert_eq!(parse_bytes16(ty, a).unwrap(), parse_bytes16(ty, b).unwrap());
        same(Type::Uuid, "5d212a78cc48e3b14235b4d91473ee87", "5D212A78-CC48-E3B1-4235-B4D91473EE87");
        same(Type::Ipaddr, "::ffff:1.2.3.4", "1.2.3.4");
        same(Type::Complex, "1e-3+2E+2i", "0.001+200i");
        same(Type::Complex, "-2i", "-0-2i");
        same(Type::Complex, "3", "3+0i");
        same(Type::Point, "( 1 ,2 )", "(1, 2)");
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (ty, text) in [
            (Type::Uuid, "5d212a78-cc48-e3b1-4235"),
            (Type::Uuid, "5d212a78cc48-e3b1-4235-b4d91473ee8-7"),
            (Type::Uuid, "5d212a78-cc48-e3b1-4235-b4d91473ee8ä"),
            (Type::Int128, "5d212a78-cc48-e3b1-4235-b4d91473ee87"),
            (Type::Int128, "+1671797c52e15f763380b45e841ec32"),
            (Type::Ipaddr, "1.2.3"),
            (Type::Ipaddr, "1.2.3.256"),
            (Type::Complex, "i"),
            (Type::Complex, "1+2"),
            (Type::Complex, "1e400+1i"),
            (Type::Point, "1, 2"),
            (Type::Point, "(1)"),
            (Type::Int, "1"),
        ] {
            assert!(parse_bytes16(ty, text).is_err(), "{ty} {text}");
        }
    }
}

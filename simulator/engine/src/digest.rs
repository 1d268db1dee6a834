//! Digests of states. They prove that a replay reached the same records. The grader does not use them.
//!
//! Each resource has the sum of its records' hashes. The sum is independent of their order, so a write costs
//! two record hashes for any size of the resource.

use diorama_seeds::value::{Str, Value};

/// The hash of a state: all records of all resources, and all valid tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Parses 64 hexadecimal digits.
    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

/// Writes lower-case hexadecimal.
impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

/// A sum of 256-bit hashes, modulo 2^256. The least significant word is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum([u64; 4]);

impl Sum {
    pub(super) fn add(&mut self, other: Self) {
        let mut carry = false;
        for (word, add) in self.0.iter_mut().zip(other.0) {
            let (sum, over_first) = word.overflowing_add(add);
            let (sum, over_second) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = over_first || over_second;
        }
    }

    pub(super) fn subtract(&mut self, other: Self) {
        let mut borrow = false;
        for (word, subtract) in self.0.iter_mut().zip(other.0) {
            let (difference, under_first) = word.overflowing_sub(subtract);
            let (difference, under_second) = difference.overflowing_sub(u64::from(borrow));
            *word = difference;
            borrow = under_first || under_second;
        }
    }

    fn of(hash: blake3::Hash) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(hash.as_bytes().as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self(words)
    }

    fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *chunk = word.to_le_bytes();
        }
        bytes
    }
}

/// Returns the hash of one record. `scratch` is a reusable buffer.
pub(super) fn record_hash(scratch: &mut Vec<u8>, resource: &str, key: &Value, record: &[Value]) -> Sum {
    scratch.clear();
    write_name(scratch, resource);
    key.write_canonical(scratch);
    scratch.extend((record.len() as u64).to_le_bytes());
    record.iter().for_each(|value| value.write_canonical(scratch));
    Sum::of(blake3::hash(scratch))
}

/// Returns one hash over the names and sums of the resources, in order.
pub(super) fn state_digest<'a>(sums: impl Iterator<Item = (&'a Str, Sum)>, tokens: Sum) -> Digest {
    let mut bytes = b"diorama state/1".to_vec();
    for (name, sum) in sums {
        write_name(&mut bytes, name);
        bytes.extend(sum.bytes());
    }
    // No resource has an empty name, so this separates the tokens.
    write_name(&mut bytes, "");
    bytes.extend(tokens.bytes());
    Digest(*blake3::hash(&bytes).as_bytes())
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    out.extend((name.len() as u64).to_le_bytes());
    out.extend(name.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_wrap_and_commute() {
        let hash = |text: &str| Sum::of(blake3::hash(text.as_bytes()));
        let parts =
            [hash("a"), hash("b"), Sum([u64::MAX; 4]), Sum([1, 0, 0, 0]), Sum([u64::MAX, u64::MAX, 0, 7])];
        let mut forwards = Sum::default();
        parts.iter().for_each(|part| forwards.add(*part));
        let mut backwards = Sum::default();
        parts.iter().rev().for_each(|part| backwards.add(*part));
        assert_eq!(forwards, backwards);
        parts.iter().for_each(|part| forwards.subtract(*part));
        assert_eq!(forwards, Sum::default());
        let mut wrapped = Sum([u64::MAX; 4]);
        wrapped.add(Sum([1, 0, 0, 0]));
        assert_eq!(wrapped, Sum::default());
    }

    #[test]
    fn a_digest_is_read_as_it_is_shown() {
        let digest = state_digest(std::iter::empty(), Sum::default());
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("xyz"), None);
    }
}

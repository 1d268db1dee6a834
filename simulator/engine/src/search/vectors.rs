//! Vectors in 16-bit integers, with an exhaustive search for the nearest.

use std::cmp::Reverse;

/// The integer that represents 1.0. Dot products of unit rows then fit into 32 bits.
const ONE: f32 = 16_384.0;

/// Rows of equal length.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    width: usize,
    values: Vec<i16>,
}

impl Vectors {
    /// Rounds concatenated unit vectors.
    pub(super) fn new(width: usize, values: &[f32]) -> Self {
        Self { width: width.max(1), values: values.iter().map(|value| rounded(*value)).collect() }
    }

    /// Returns the rows whose dot product with a vector exceeds `least`, as product in 2^-28ths and position.
    /// The nearest is first; ties are sorted by position. Integers only.
    pub(super) fn nearest(
        &self,
        vector: &[f32],
        least: i32,
        limit: usize,
        passes: impl Fn(usize) -> bool,
    ) -> Vec<(i32, usize)> {
        let vector: Vec<i16> = vector.iter().map(|value| rounded(*value)).collect();
        let products = self.values.chunks_exact(self.width).map(|row| dot(row, &vector)).zip(0..);
        let mut near: Vec<(i32, usize)> =
            products.filter(|(product, position)| *product > least && passes(*position)).collect();
        let order = |(product, position): &(i32, usize)| (Reverse(*product), *position);
        if near.len() > limit {
            near.select_nth_unstable_by_key(limit, order);
            near.truncate(limit);
        }
        near.sort_unstable_by_key(order);
        near
    }

    /// Returns the dot product of two rows, in 2^-28ths.
    pub(super) fn between(&self, left: usize, right: usize) -> i32 {
        let row = |at: usize| self.values.get(at * self.width..(at + 1) * self.width).unwrap_or_default();
        dot(row(left), row(right))
    }
}

/// Converts a product to a cosine.
pub fn cosine(product: i32) -> f32 {
    product as f32 / (ONE * ONE)
}

fn rounded(value: f32) -> i16 {
    (value * ONE).round() as i16
}

fn dot(left: &[i16], right: &[i16]) -> i32 {
    left.iter()
        .zip(right)
        .fold(0, |sum: i32, (left, right)| sum.wrapping_add(i32::from(*left) * i32::from(*right)))
}

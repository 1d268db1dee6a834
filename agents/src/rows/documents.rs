//! Makes rows of many documents: each is prepared alone, gets its share of the rows, and is played in small
//! worlds.
//!
//! Owns the steps between a folder of documents and the batches of a dataset. [`prepared`] writes a
//! document's scenarios. [`split`] puts providers into splits. [`layout`] distributes the rows. [`batch`]
//! makes the rows of one batch in a world that other documents share. `echoes` refuses rows that contradict
//! themselves. It must not read files, start processes or keep the worlds of several batches.

pub mod batch;
mod echoes;
pub mod layout;
pub mod prepared;
pub mod split;

#[cfg(test)]
mod tests;

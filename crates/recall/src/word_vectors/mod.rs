//! Word vectors: which words are related, such as "violin" and "guitar". No model runs; a table gives each word 64 numbers.
//!
//! README.md in this folder says where the table comes from.

#[cfg(test)]
mod packing;
mod piece_hash;
mod pieces;
mod table;
mod text_vector;

pub(crate) use text_vector::TextVector;

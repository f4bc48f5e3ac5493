//! Writes synthetic agent homes for the benchmarks. No line of it is anybody's real text.
//!
//! Modules in the order data meets them: [`generator`] runs it; [`plan`] decides which files there are and how big each
//! is; [`words`], [`author`] and [`work`] invent what people and agents say and do; [`claude`] and [`pi`]
//! write it down in the shapes those agents use. [`talk`] writes another kind of home: many short exchanges, and
//! queries about them. The same seed gives the same bytes.

pub mod generator;
pub mod plan;

pub mod author;
pub mod ids;
pub mod random;
pub mod words;
pub mod work;
pub mod workspace;

pub mod json;
pub mod time;

pub mod claude;
pub mod pi;

pub mod talk;

pub mod parallel;

//! Every route of the API with the real binary: who is refused, what is answered, and that nothing is done by accident.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "routes/answers.rs"]
mod answers;
#[path = "routes/docs.rs"]
mod docs;
#[path = "routes/door.rs"]
mod door;
#[path = "serve/house.rs"]
#[expect(dead_code, reason = "other tests of the server use what these do not")]
mod house;
#[path = "routes/schema.rs"]
mod schema;
#[path = "routes/sessions.rs"]
mod sessions;
#[path = "routes/street.rs"]
mod street;

//! Owns the tests of imported OpenAPI documents. Reads by key find listed records, cast members exist, reads
//! see writes, and replies fit their schemas.

mod behaviour;
mod dense;
mod ground;
mod human;
mod imports;
mod names;
mod reading;
mod requests;
mod roles;
mod served;
mod tmdb;
mod unsaid;

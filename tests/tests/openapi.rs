//! Imported OpenAPI documents behave: what a list shows is found by its key, people of a cast exist, writes are
//! read back, and every reply has the shape that the document promises.

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

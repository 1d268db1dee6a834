//! What keeps hostile text away from the parser.

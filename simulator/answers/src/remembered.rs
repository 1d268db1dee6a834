//! What was read of names, kept for the next time: the same few hundred come again in every episode of a world.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// So many are kept at most; then it begins anew.
const MOST: usize = 8_192;

/// What was read of names.
pub struct Remembered<T>(RefCell<FxHashMap<String, Rc<T>>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> Remembered<T> {
    /// What is known of a name, which is read where nothing is.
    pub fn get(&self, name: &str, read: impl FnOnce(&str) -> T) -> Rc<T> {
        if let Some(known) = self.0.borrow().get(name) {
            return Rc::clone(known);
        }
        let made = Rc::new(read(name));
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(name.to_owned(), Rc::clone(&made));
        made
    }
}

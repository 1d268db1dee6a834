//! The template language of words: what parses, and what is wrong with what does not.

use std::sync::LazyLock;

use minijinja::Environment;

use super::filters;

/// The environment of all wordings.
pub(crate) static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(filters::environment);

/// Finds what is wrong with a wording as a template; nothing where it is one.
pub(crate) fn find_template_fault(wording: &str) -> Option<String> {
    if wording.contains("[*]") {
        let example = "{found.books|map(attribute='title')|list}";
        return Some(format!(
            "`[*]` stands in `facts` alone; words list one field of all items by `{example}`"
        ));
    }
    let error = TEMPLATES.template_from_str(wording).err()?;
    Some(error.detail().unwrap_or("syntax error").to_owned())
}

/// Finds what is wrong with an argument as an expression; nothing where it is one.
pub(crate) fn find_expression_fault(expression: &str) -> Option<String> {
    let error = TEMPLATES.compile_expression(expression).err()?;
    Some(error.detail().unwrap_or("syntax error").to_owned())
}

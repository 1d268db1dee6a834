//! Parses the template language of wordings, and reports the faults of invalid ones.

use std::sync::LazyLock;

use minijinja::Environment;

use super::filters;

/// The environment of all wordings.
pub(crate) static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(filters::environment);

/// Returns the fault of a wording as a template; none if it is valid.
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

/// Returns the fault of an argument as an expression; none if it is valid.
pub(crate) fn find_expression_fault(expression: &str) -> Option<String> {
    let error = TEMPLATES.compile_expression(expression).err()?;
    Some(error.detail().unwrap_or("syntax error").to_owned())
}

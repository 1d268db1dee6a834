//! Owns the relations between numbers of one object: sums and orders.

use super::lists::counted;
use super::table::{has, lines};
use crate::english::split_identifier;

/// A relation between numbers. The fields are positions in the list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bond {
    /// A number is the sum of others, less some.
    Sum {
        /// Position of the sum.
        whole: usize,
        /// Positions of the added numbers.
        plus: Vec<usize>,
        /// Positions of the subtracted numbers.
        minus: Vec<usize>,
    },
    /// A number is not greater than another.
    Order {
        /// Position of the lesser number.
        less: usize,
        /// Position of the greater number.
        more: usize,
    },
}

/// The role of a number within a section of the table, with the remaining words of its name.
struct Role {
    at: usize,
    key: &'static str,
    of: Vec<String>,
    /// True if the word for the role ends the name.
    is_last: bool,
}

/// Returns the relations between numbers with these names in one object. A sum comes after the sums of its
/// parts.
///
/// ```
/// use diorama_seeds::agreement::{Bond, bonds};
///
/// let sum = Bond::Sum { whole: 2, plus: vec![0, 1], minus: vec![] };
/// assert_eq!(bonds(&["subtotal", "tax", "total_amount"]), [sum]);
/// assert_eq!(bonds(&["maxPrice", "minPrice"]), [Bond::Order { less: 1, more: 0 }]);
/// ```
pub fn bonds(names: &[&str]) -> Vec<Bond> {
    let mut found = prices(&roles("amounts", names));
    found.extend(shares(&roles("shares", names)));
    found.extend(bounds(&roles("bounds", names)));
    found.extend(kinds(names));
    found.sort_by_key(|bond| matches!(bond, Bond::Order { .. }));
    found
}

/// Returns true if a number of this name adds up over the items of a list, as an amount of money does.
pub fn is_amount(name: &str) -> bool {
    let words = split_identifier(name);
    words
        .last()
        .is_some_and(|last| ["amount", "price", "total", "subtotal", "cost", "sum"].contains(&last.as_str()))
}

/// Returns true if a member of this name shows that the object has a price. Examples: a tax, a currency, an
/// amount.
pub fn is_of_money(name: &str) -> bool {
    let is_part = |word: &String| lines("amounts").iter().any(|line| line.key != "whole" && line.has(word));
    split_identifier(name)
        .iter()
        .any(|word| is_part(word) || ["currency", "amount", "price"].contains(&word.as_str()))
}

fn roles(section: &str, names: &[&str]) -> Vec<Role> {
    let read = |(at, name): (usize, &&str)| {
        let mut words =
            split_identifier(&name.replace("sub_total", "subtotal").replace("subTotal", "subtotal"));
        let (key, place) = lines(section).iter().find_map(|line| {
            let place = words.iter().rposition(|word| line.has(word))?;
            Some((line.key, place))
        })?;
        let is_last = place + 1 == words.len();
        words.remove(place);
        let of = words.into_iter().filter(|word| !has("numbers", word)).collect();
        Some(Role { at, key, of, is_last })
    };
    names.iter().enumerate().filter_map(read).collect()
}

/// Returns the relations between the total price, its parts, and the amounts paid and due.
fn prices(roles: &[Role]) -> Vec<Bond> {
    let of = |key: &str| roles.iter().filter(|role| role.key == key).map(|role| role.at).collect::<Vec<_>>();
    let whole = roles.iter().find(|role| role.key == "whole" && (role.of.is_empty() || role.is_last));
    let Some(whole) = whole.map(|role| role.at) else { return Vec::new() };
    let (base, plus, minus) = (of("base"), of("plus"), of("minus"));
    let (paid, due) = (of("paid"), of("due"));
    let mut found = Vec::new();
    match base.first() {
        Some(base) => {
            let plus = std::iter::once(*base).chain(plus).collect();
            found.push(Bond::Sum { whole, plus, minus });
        }
        None => found.extend(plus.into_iter().chain(minus).map(|less| Bond::Order { less, more: whole })),
    }
    if let (Some(paid), Some(due)) = (paid.first(), due.first()) {
        found.push(Bond::Sum { whole: *due, plus: vec![whole], minus: vec![*paid] });
    }
    found.extend(paid.into_iter().chain(due).map(|less| Bond::Order { less, more: whole }));
    found
}

/// Returns the relations between a limit, its used part and its remaining part.
fn shares(roles: &[Role]) -> Vec<Bond> {
    let mut found = Vec::new();
    for limit in roles.iter().filter(|role| role.key == "limit") {
        let of = |key: &str| roles.iter().find(|role| role.key == key && role.of == limit.of);
        let (used, left) = (of("used"), of("left"));
        if let (Some(used), Some(left)) = (used, left) {
            found.push(Bond::Sum { whole: limit.at, plus: vec![used.at, left.at], minus: Vec::new() });
        }
        let parts = used.into_iter().chain(left);
        found.extend(parts.map(|part| Bond::Order { less: part.at, more: limit.at }));
    }
    found
}

/// Returns the order between the count of a kind and the count of all. Example: unread messages and messages.
fn kinds(names: &[&str]) -> Vec<Bond> {
    let counts: Vec<(usize, String)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((at, counted(name)?))).collect();
    let of_kind = |less: &(usize, String)| {
        let all = counts.iter().filter(|(_, all)| less.1.len() > all.len() && less.1.ends_with(all.as_str()));
        all.min_by_key(|(_, all)| all.len()).map(|(more, _)| Bond::Order { less: less.0, more: *more })
    };
    counts.iter().filter_map(of_kind).collect()
}

/// Returns the orders between a minimum, a middle value and a maximum.
fn bounds(roles: &[Role]) -> Vec<Bond> {
    let mut found = Vec::new();
    for (less, more) in [("least", "middle"), ("middle", "most"), ("least", "most")] {
        for role in roles.iter().filter(|role| role.key == less) {
            let other = roles.iter().find(|other| other.key == more && other.of == role.of);
            found.extend(other.map(|other| Bond::Order { less: role.at, more: other.at }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_thing_are_bound_by_their_names() {
        let check = |names: &[&str], expect: &[Bond]| assert_eq!(bonds(names), expect, "{names:?}");
        let sum = |whole: usize, plus: &[usize], minus: &[usize]| Bond::Sum {
            whole,
            plus: plus.to_vec(),
            minus: minus.to_vec(),
        };
        let order = |less: usize, more: usize| Bond::Order { less, more };
        check(&["total", "sub_total", "taxAmount", "discount"], &[sum(0, &[1, 2], &[3])]);
        check(&["order_total", "amount_paid", "amount_due"], &[sum(2, &[0], &[1]), order(1, 0), order(2, 0)]);
        check(&["limit", "used", "remaining"], &[sum(0, &[1, 2], &[]), order(1, 0), order(2, 0)]);
        check(&["low_price", "avgPrice", "high_price"], &[order(0, 1), order(1, 2), order(0, 2)]);
        check(&["unread_message_count", "messageCount", "usage_count"], &[order(0, 1)]);
        check(&["tax", "total"], &[order(0, 1)]);
        check(&["total_items", "tax"], &[]);
        check(&["min_age", "max_price"], &[]);
    }
}

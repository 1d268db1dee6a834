//! Units and currencies of an answer's values, held against what bears them.

use diorama_seeds::schema::{Schema, Type};

use super::Known;
use super::leaves::Leaf;
use crate::measures::Measures;
use diorama_answers::units::{Currency, Unit};
use diorama_answers::{Mention, What};

impl Known<'_> {
    /// Whether what bears a value is measured as the answer says.
    pub(super) fn measures_as(&self, mention: &Mention) -> bool {
        let (said, unit, currency) = match &mention.what {
            What::Number(number) => (number.value, number.unit, None),
            What::Money(money) => (money.amount.as_f64(), None, Some(money.currency)),
            _ => return true,
        };
        if (unit.is_none() && currency.is_none()) || self.is_said(mention) {
            return true;
        }
        let mut bearing = self.bearing(mention).peekable();
        bearing.peek().is_none() || bearing.any(|leaf| self.may_be(leaf, said, unit, currency))
    }

    fn may_be(&self, leaf: &Leaf<'_>, said: f64, unit: Option<Unit>, currency: Option<Currency>) -> bool {
        let label = &self.labels[leaf.label];
        let named = Measures::of_name(label.name);
        if let Some(unit) = unit {
            let declared = leaf.schema.and_then(|schema| schema.unit.as_deref()).and_then(Unit::named);
            let here: Vec<Unit> = declared.into_iter().chain(named.units()).collect();
            // The same unit, or the same amount in another.
            let fits = |known: Unit| {
                known == unit
                    || unit.convert(said, known).is_some_and(|said| {
                        leaf.number().is_some_and(|value| (value - said).abs() <= 0.01 * value.abs())
                    })
            };
            if !here.is_empty() {
                return here.into_iter().any(fits);
            }
            // The fields of the domains called whose names share a word with the label.
            let fields = self.fields().filter(|field| label.shares(&field.name, &field.label));
            let mut like = fields.map(|field| &field.schema).peekable();
            if like.peek().is_some() {
                return like.any(|schema| schema.unit.as_deref().and_then(Unit::named).is_some_and(fits));
            }
            return self.shown.measures.has_exactly(unit);
        }
        let Some(currency) = currency else { return true };
        match leaf.schema.and_then(currency_of) {
            Some(code) => currency.means(code),
            None if named.has_any_currency() => named.has_currency(currency),
            None => {
                let mut codes = self.fields().filter_map(|field| currency_of(&field.schema));
                codes.any(|code| currency.means(code)) || self.shown.measures.has_currency(currency)
            }
        }
    }
}

/// Whether a mention has a unit or a currency.
pub(super) fn is_measured(mention: &Mention) -> bool {
    match &mention.what {
        What::Number(number) => number.unit.is_some(),
        What::Money(_) => true,
        _ => false,
    }
}

/// The currency of a schema, or of its items.
pub(super) fn currency_of(schema: &Schema) -> Option<&str> {
    match &schema.kind {
        Type::Decimal { currency: Some(code), .. } => Some(code),
        Type::List(item) => currency_of(item),
        _ => None,
    }
}

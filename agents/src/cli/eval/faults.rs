//! Owns the parser of `diorama eval --faults`.

use diorama_engine::fault::{Faults, Kind, Rule};

/// Parses a fault with its share of calls, or with its delay: `429=0.1`, `latency=50-500`.
pub(super) fn rule(text: &str) -> Result<Rule, String> {
    let expected = "latency=MS, latency=MS-MS, or one of 429, 500 to 599, expired, stale and partial with a share, \
                    such as 429=0.1";
    let wrong = || format!("found `{text}`, expected {expected}");
    let (name, amount) = text.split_once('=').ok_or_else(wrong)?;
    let mut rule = of_kind(match name {
        "latency" => Kind::Latency,
        "429" => Kind::RateLimit,
        "expired" => Kind::ExpiredToken,
        "stale" => Kind::Stale,
        "partial" => Kind::Partial,
        _ => Kind::Error,
    });
    if rule.kind == Kind::Latency {
        let ms = |text: &str| text.parse().map_err(|_| wrong());
        match amount.split_once('-') {
            Some((least, most)) => (rule.ms, rule.max_ms) = (Some(ms(least)?), Some(ms(most)?)),
            None => rule.ms = Some(ms(amount)?),
        }
    } else {
        rule.probability = Some(amount.parse().map_err(|_| wrong())?);
    }
    if rule.kind == Kind::Error {
        rule.status = Some(name.parse().map_err(|_| wrong())?);
    }
    Faults::new(vec![rule.clone()]).map_err(|error| format!("{error}; expected {expected}"))?;
    Ok(rule)
}

const fn of_kind(kind: Kind) -> Rule {
    Rule {
        kind,
        apis: None,
        probability: None,
        from: None,
        until: None,
        status: None,
        retry_after: None,
        ms: None,
        max_ms: None,
        distribution: None,
        executed: None,
        keep: None,
        rename: std::collections::BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::rule;

    #[test]
    fn faults_are_read_by_name_and_amount() {
        let json = |text: &str| serde_json::to_string(&rule(text)?).map_err(|error| error.to_string());
        assert_eq!(json("429=0.1").as_deref(), Ok(r#"{"kind":"rate_limit","probability":0.1}"#));
        assert_eq!(json("latency=50-500").as_deref(), Ok(r#"{"kind":"latency","ms":50,"max_ms":500}"#));
        assert_eq!(json("503=0.25").as_deref(), Ok(r#"{"kind":"error","probability":0.25,"status":503}"#));
        for wrong in ["404=0.1", "429", "429=2", "latency=fast", "latency=9-1", "boom=0.1"] {
            assert!(json(wrong).is_err(), "{wrong}");
        }
    }
}

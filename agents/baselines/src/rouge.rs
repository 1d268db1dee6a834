//! ROUGE-L of a text against a reference.

/// ROUGE-L, F1 with equal weights (Lin 2004), over lower-case words.
#[must_use]
pub fn rouge_l(answer: &str, reference: &str) -> f64 {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .take(400)
            .collect()
    };
    let (a, b) = (words(answer), words(reference));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let mut row = vec![0_usize; b.len() + 1];
    for x in &a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    let common = row[b.len()] as f64;
    let (precision, recall) = (common / a.len() as f64, common / b.len() as f64);
    if common == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
}

#[cfg(test)]
mod tests {
    use super::rouge_l;

    #[test]
    fn rouge_l_is_the_f1_of_the_longest_common_subsequence() {
        assert_eq!(rouge_l("the cat sat", "The cat sat."), 1.0);
        assert_eq!(rouge_l("", "x"), 0.0);
        // The longest common subsequence "police the gunman" has 3 of 4 words each.
        assert!((rouge_l("police kill the gunman", "police killed the gunman") - 0.75).abs() < 1e-12);
    }
}

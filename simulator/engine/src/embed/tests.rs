use super::cache::CachedEmbedder;
use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn alike(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[test]
fn texts_of_one_meaning_are_near() {
    let model = embedded().unwrap();
    let check = |text: &str, near: &str, far: &str| {
        let [text, near, far] = [text, near, far].map(|text| model.vector(text));
        assert!(
            alike(&text, &near) > alike(&text, &far) + 0.1,
            "{} {}",
            alike(&text, &near),
            alike(&text, &far)
        );
    };
    check("find a physician", "look up a doctor", "look up a train");
    check("buy two tickets", "purchase seats for a show", "delete the alarm");
    check("what's the weather like", "forecast for a city", "list bank accounts");
}

#[test]
fn any_text_has_a_vector_of_length_one_or_zeros() {
    let model = embedded().unwrap();
    let long = "book ".repeat(100_000);
    for text in ["", " ", "日本語", "\u{0}\u{202e}", "[MASK][PAD]", "zzzzzzzzzz", "été", &long] {
        let vector = model.vector(text);
        let length = alike(&vector, &vector);
        assert!(
            vector.len() == 256 && (length == 0.0 || (length - 1.0).abs() < 1e-4),
            "{text:.20}: {length}"
        );
    }
}

struct CountingEmbedder(AtomicUsize);

impl Embedder for CountingEmbedder {
    fn name(&self) -> &str {
        "counted"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().flat_map(|text| [text.len() as f32, 0.5]).collect())
    }
}

#[test]
fn kept_vectors_are_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |texts: &[&str]| {
        let cached = CachedEmbedder::new(CountingEmbedder(AtomicUsize::new(0)), folder.path());
        let vectors = cached.embed(texts).unwrap();
        assert_eq!(vectors, CountingEmbedder(AtomicUsize::new(0)).embed(texts).unwrap());
        cached.embed(texts).unwrap();
        cached.into_inner().0.into_inner()
    };
    assert_eq!(asked(&["a", "bb"]), 2);
    assert_eq!(asked(&["bb", "a"]), 0);
    assert_eq!(asked(&["bb", "a", "ccc"]), 1);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(asked(&["a", "bb"]), 2, "a damaged file counts as empty");
}

/// `toolsearch/3` depends on these bytes. Another model needs another version.
#[test]
fn the_model_in_the_program_is_the_one_that_has_its_name() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/minilm-static-1");
    let hash = |file: &str| blake3::hash(&std::fs::read(folder.join(file)).unwrap()).to_hex().to_string();
    let found = ["model.safetensors", "tokenizer.json", "config.json"].map(hash);
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("minilm_static_1", found.join("\n"));
    });
    let size: u64 =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size <= 8_000_000, "{size} bytes");
}

/// The vector of a text must be the same on every machine, to the last bit.
#[test]
fn vectors_are_the_same_everywhere() {
    let vector = embedded().unwrap().vector("Books an appointment with a dentist, Monday to Friday");
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    insta::assert_snapshot!(blake3::hash(&bytes).to_hex().to_string(), @"91f0a5ee3a73e33497e44afe1afdf25da28f268cc5915348764ed8a8ebc0b1d0");
}

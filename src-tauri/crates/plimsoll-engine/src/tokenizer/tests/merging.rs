//! The heap against the definition: look for the best pair, merge it, start again.

use proptest::prelude::*;

use super::super::merge::{Merged, Merger};

/// Rules over ids: the pair makes `id`, the position is the rank.
type Rules = Vec<(u32, u32, u32)>;

fn by_definition(ids: &[u32], rules: &Rules) -> Vec<u32> {
    let mut ids = ids.to_vec();
    loop {
        let pairs = ids.windows(2).enumerate();
        let known = pairs.filter_map(|(at, pair)| {
            let rank = rules.iter().position(|rule| (rule.0, rule.1) == (pair[0], pair[1]))?;
            Some((rank, at))
        });
        let Some((rank, at)) = known.min() else { return ids };
        ids.splice(at..at + 2, [rules[rank].2]);
    }
}

fn by_heap(ids: &[u32], rules: &Rules) -> Vec<u32> {
    let mut merger = Merger::default();
    for id in ids {
        merger.push(*id, 1);
    }
    merger.run(|left, right| {
        let rank = rules.iter().position(|rule| (rule.0, rule.1) == (left.id, right.id))?;
        Some(Merged { rank: rank as u32, id: rules[rank].2 })
    });
    let symbols: Vec<_> = merger.symbols().collect();
    let covered: u32 = symbols.iter().map(|symbol| symbol.len).sum();
    assert_eq!(covered as usize, ids.len());
    assert!(symbols.windows(2).all(|pair| pair[0].start + pair[0].len == pair[1].start));
    symbols.iter().map(|symbol| symbol.id).collect()
}

/// Rules as training makes them: each new token is made of two that exist, so that a token stands for one text.
fn rules() -> impl Strategy<Value = Rules> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12).prop_map(|picks| {
        let mut texts: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let mut rules = Rules::new();
        for (left, right) in picks {
            let (left, right) = (left.index(texts.len()), right.index(texts.len()));
            let whole = format!("{}{}", texts[left], texts[right]);
            let id = texts.iter().position(|text| *text == whole).unwrap_or(texts.len());
            if id == texts.len() {
                texts.push(whole);
            }
            if !rules.iter().any(|rule| (rule.0, rule.1) == (left as u32, right as u32)) {
                rules.push((left as u32, right as u32, id as u32));
            }
        }
        rules
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_heap_merges_as_defined(ids in prop::collection::vec(0_u32..3, 0..40), rules in rules()) {
        prop_assert_eq!(by_heap(&ids, &rules), by_definition(&ids, &rules));
    }
}

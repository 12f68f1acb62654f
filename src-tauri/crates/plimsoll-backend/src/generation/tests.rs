use super::*;

fn delta(text: &str) -> GenerationKind {
    GenerationKind::Delta { text: text.to_owned(), engine_ms: 0.0 }
}

#[test]
fn events_are_numbered_without_gaps_and_the_snapshot_holds_what_was_told() {
    let generation = Generation::new(1, 2, 3, "It is ".to_owned());
    let started = generation.number(GenerationKind::Started { prompt_tokens: 5, cached_tokens: 0 });
    assert_eq!(started.seq, 0);
    let seqs: Vec<u64> = ["Par", "is"].into_iter().map(|text| generation.number(delta(text)).seq).collect();
    assert_eq!(seqs, [1, 2]);
    let snapshot = generation.snapshot();
    assert_eq!((snapshot.seq, snapshot.text.as_str()), (2, "It is Paris"), "what the message held comes first");
    assert_eq!(snapshot.state, MessageState::Streaming);
    let stats = MessageStats { output_tokens: 2, ..MessageStats::default() };
    let done = generation.number(GenerationKind::Done { reason: MessageState::Length, stats });
    assert_eq!(done.seq, 3);
    assert_eq!((generation.snapshot().state, generation.snapshot().stats), (MessageState::Length, stats));
}

#[test]
fn ended_answers_are_remembered_for_a_while() {
    let generations = Generations::default();
    for _ in 0..=KEPT {
        let id = generations.gate().next_id();
        generations.gate().begin(Arc::new(Generation::new(id, 1, 1, String::new())));
        assert!(generations.gate().is_running());
        generations.end(id);
        assert!(!generations.gate().is_running());
    }
    assert!(generations.find(1).is_err(), "the oldest is forgotten");
    assert_eq!(generations.find(2).unwrap().id, 2);
}

#[test]
fn an_old_end_does_not_end_a_newer_answer() {
    let generations = Generations::default();
    let mut gate = generations.gate();
    gate.begin(Arc::new(Generation::new(7, 1, 1, String::new())));
    drop(gate);
    generations.end(6);
    assert!(generations.gate().is_running());
    assert!(!generations.stop_and_wait(Duration::from_millis(5)), "nobody ends it");
    generations.end(7);
    assert!(generations.stop_and_wait(Duration::ZERO));
}

use proptest::prelude::*;

use super::*;

/// A step of an answer: so long after the last, this text.
fn steps() -> impl Strategy<Value = Vec<(u64, String)>> {
    prop::collection::vec((0u64..40_000, "[a-zé漢🙂]{0,12}"), 1..200)
}

/// Plays steps against the coalescer as the stream's thread does: it looks when something comes and when it is due.
fn play(steps: &[(u64, String)]) -> Vec<(Duration, Due)> {
    let mut coalescer = Coalescer::default();
    let mut sent = Vec::new();
    let mut now = Duration::ZERO;
    for (pause, text) in steps {
        let arrival = now + Duration::from_micros(*pause);
        while let Some(due) = coalescer.next_due().filter(|due| *due <= arrival) {
            let at = due.max(now);
            sent.push((at, coalescer.take(at)));
        }
        now = arrival;
        coalescer.token(text, now.as_secs_f64() * 1000.0);
        sent.push((now, coalescer.take(now)));
    }
    sent.push((now, coalescer.take_all()));
    sent
}

proptest! {
    #[test]
    fn nothing_is_lost_or_reordered(steps in steps()) {
        let whole: String = steps.iter().map(|(_, text)| text.as_str()).collect();
        let sent: String = play(&steps).iter().flat_map(|(_, due)| &due.pieces).map(|piece| piece.text.as_str()).collect();
        prop_assert_eq!(sent, whole);
    }

    #[test]
    fn text_goes_at_most_once_a_frame_and_waits_no_longer(steps in steps()) {
        let sent = play(&steps);
        let end = sent.len() - 1;
        let times: Vec<Duration> = sent[..end].iter().filter(|(_, due)| !due.pieces.is_empty()).map(|(at, _)| *at).collect();
        for pair in times.windows(2) {
            prop_assert!(pair[1] >= pair[0] + FRAME, "{:?} after {:?}", pair[1], pair[0]);
        }
        for (at, due) in &sent[..end] {
            for piece in &due.pieces {
                let age = at.as_secs_f64() * 1000.0 - piece.engine_ms;
                prop_assert!(age <= FRAME.as_secs_f64() * 1000.0 + 0.001, "a token waited {} ms", age);
            }
        }
    }
}

#[test]
fn the_first_token_goes_at_once() {
    let mut coalescer = Coalescer::default();
    let now = Duration::from_secs(7);
    coalescer.token("Paris", 1.0);
    assert_eq!(coalescer.next_due(), Some(Duration::ZERO));
    let due = coalescer.take(now);
    assert_eq!(due.pieces, [Piece { text: "Paris".to_owned(), engine_ms: 1.0 }]);
    assert!(due.usage, "numbers go with the first token");
    coalescer.token(" is", 2.0);
    assert_eq!(coalescer.take(now + Duration::from_millis(15)), Due::default());
    assert_eq!(coalescer.take(now + FRAME).pieces[0].text, " is");
}

#[test]
fn long_text_is_cut_between_characters() {
    let mut coalescer = Coalescer::default();
    let text = "漢".repeat(5_000);
    coalescer.token(&text, 1.0);
    let pieces = coalescer.take(Duration::ZERO).pieces;
    assert!(pieces.len() > 1);
    assert!(pieces.iter().all(|piece| piece.text.len() <= MOST_BYTES && !piece.text.is_empty()));
    assert_eq!(pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), text);
}

#[test]
fn a_frame_does_not_hold_back_a_full_piece() {
    let mut coalescer = Coalescer::default();
    coalescer.token("a", 1.0);
    coalescer.take(Duration::ZERO);
    coalescer.token(&"b".repeat(MOST_BYTES), 2.0);
    assert_eq!(coalescer.take(Duration::from_millis(1)).pieces.len(), 1);
}

#[test]
fn progress_keeps_the_newest_count_and_precedes_text() {
    let mut coalescer = Coalescer::default();
    coalescer.progress(256, 1000);
    assert_eq!(coalescer.take(Duration::ZERO).progress, Some((256, 1000)));
    coalescer.progress(512, 1000);
    coalescer.progress(1000, 1000);
    assert_eq!(coalescer.take(Duration::from_millis(50)), Due::default(), "at most ten a second");
    coalescer.token("x", 1.0);
    let due = coalescer.take(Duration::from_millis(51));
    assert_eq!(due.progress, Some((1000, 1000)), "the page learns that reading is over before it reads text");
    assert_eq!(due.pieces.len(), 1);
}

use proptest::prelude::*;

use super::*;

fn sum(parts: &Parts) -> u64 {
    let Planned { weights, kv_used, kv_reserved, kv_idle, workspace } = parts.planned;
    [weights, kv_used, kv_reserved, kv_idle, workspace, parts.runtime, parts.other, parts.free]
        .into_iter()
        .map(|bytes| bytes.0)
        .sum()
}

proptest! {
    #[test]
    fn parts_sum_to_the_total(
        total in 0u64..1 << 45, free in prop::option::of(0u64..1 << 45), each in prop::array::uniform6(0u64..1 << 43),
    ) {
        let planned = Planned {
            weights: Bytes(each[0]), kv_used: Bytes(each[1]), kv_reserved: Bytes(each[2]),
            kv_idle: Bytes(each[3]), workspace: Bytes(each[4]),
        };
        let parts = split(Bytes(total), free.map(Bytes), planned, Bytes(each[5]));
        prop_assert_eq!(sum(&parts), total);
    }
}

#[test]
fn a_plausible_reading_is_shown_as_it_is() {
    let planned = Planned {
        weights: Bytes(98),
        kv_used: Bytes(10),
        kv_reserved: Bytes(20),
        kv_idle: Bytes(70),
        workspace: Bytes(30),
    };
    let parts = split(Bytes(10_000), Some(Bytes(6_000)), planned, Bytes(50));
    assert_eq!(parts.planned, planned);
    assert_eq!(parts.runtime, Bytes(50));
    assert_eq!(parts.free, Bytes(6_000));
    assert_eq!(parts.other, Bytes(10_000 - 6_000 - 50 - 228), "what is neither free nor ours is other programs'");
}

#[test]
fn tight_begins_above_its_share_of_the_context() {
    let tokens = |reserved| TokensNow { used: Tokens(0), reserved: Tokens(reserved), capacity: Tokens(1000) };
    assert!(!is_tight(&tokens(850)));
    assert!(is_tight(&tokens(851)));
    assert!(!is_tight(&TokensNow::default()), "nothing loaded is not tight");
}

#[test]
fn a_signal_wakes_once_for_many_changes_and_ends_when_closed() {
    let signal = GaugeSignal::default();
    signal.touch();
    signal.touch();
    assert!(signal.wait(None), "a change was waiting");
    let begin = Instant::now();
    assert!(signal.wait(Some(Duration::from_millis(20))), "patience ends the wait");
    assert!(begin.elapsed() >= Duration::from_millis(20), "the second change was folded into the first");
    signal.close();
    assert!(!signal.wait(None), "closed");
}

//! The text formats of `/proc` and `/sys`.

use plimsoll_plan::Bytes;

/// A number that is the whole of `text`.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The value of `Key:   123 kB`, as in `/proc/meminfo` and `/proc/self/status`.
pub(super) fn kilobytes(text: &str, key: &str) -> Option<Bytes> {
    let value = after_colon(text, key)?;
    let number = unsigned(value.strip_suffix("kB")?)?;
    Some(Bytes(number).times(1024))
}

/// The first value of `key : value`.
pub(super) fn after_colon<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// The value of `key 123`, as in `memory.stat`.
pub(super) fn counter(text: &str, key: &str) -> Option<u64> {
    text.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == key).and_then(|(_, v)| unsigned(v))
}

/// The members of a list like `0-3,8,10-11`, at most `most` of them.
pub(super) fn range_list(text: &str, most: usize) -> Option<Vec<u32>> {
    let mut members = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        members.extend((first..=last).take(most.saturating_sub(members.len())));
    }
    (!members.is_empty()).then_some(members)
}

//! From a reading to the planner.

use plimsoll_plan::Bytes;

use super::machine::{GIB, MIB};
use crate::{DeviceError, FakeProbe, MemoryReading, Probe, device_memory, headroom};

#[test]
fn headroom_is_a_sixteenth_within_bounds() {
    assert_eq!(headroom(Bytes(GIB)), Bytes(256 * MIB));
    assert_eq!(headroom(Bytes(16 * GIB)), Bytes(GIB));
    assert_eq!(headroom(Bytes(128 * GIB)), Bytes(2 * GIB));
}

#[test]
fn a_reading_becomes_a_device() {
    let probe = FakeProbe::new(Bytes(16 * GIB), Bytes(9 * GIB));
    let device = device_memory("RAM", &probe.memory()).unwrap();
    assert_eq!((device.total, device.free), (Bytes(16 * GIB), Some(Bytes(9 * GIB))));
    assert_eq!((device.headroom, device.resident), (Bytes(GIB), Bytes(32 * MIB)));
    probe.set_available(None);
    assert_eq!(device_memory("RAM", &probe.memory()).unwrap().free, None);
    probe.set_available(Some(Bytes(20 * GIB)));
    assert_eq!(device_memory("RAM", &probe.memory()).unwrap().free, Some(Bytes(16 * GIB)), "no more than there is");
}

#[test]
fn an_unknown_total_is_an_error() {
    assert_eq!(device_memory("RAM", &MemoryReading::default()), Err(DeviceError::UnknownTotal));
}

//! The memory contract: what is planned is what is taken, for both real models at every context.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use plimsoll_engine::ModelFile;
use plimsoll_plan::{REGION_ALIGNMENT, RegionName, Segment};
use plimsoll_tests::models;
use plimsoll_tests::plans::{answer, greedy, load_plan, plan_for};
use serde_json::Value;

/// The contexts at which the contract is checked; the model's own maximum comes on top.
const CONTEXTS: [u32; 3] = [512, 2048, 8192];

fn contexts(file: &ModelFile) -> Vec<u32> {
    let mut contexts = CONTEXTS.to_vec();
    contexts.push(file.info().trained_context.0);
    contexts.dedup();
    contexts
}

fn real_models() -> [PathBuf; 2] {
    [models::smollm2(), models::gemma3()]
}

#[test]
fn planned_is_allocated_byte_for_byte() {
    for path in real_models() {
        let file = ModelFile::open(&path).unwrap();
        for context in contexts(&file) {
            let plan = plan_for(&file, context, None);
            let engine = load_plan(&file, &plan);
            let taken = engine.allocated();
            let what = format!("{} at {context}", plan.model);
            assert_eq!(taken.slab, plan.slab, "{what}: slab");
            assert_eq!(taken.host, plan.segment(Segment::Host), "{what}: host");
            assert_eq!(engine.kv_usage().capacity.0, context, "{what}: capacity");
            // Still so after an answer.
            let text = answer(&engine, greedy(&[5, 6, 7, 8, 9], 4)).unwrap();
            assert_eq!(text.ids.len(), 4);
            assert_eq!(engine.allocated(), taken, "{what}: after an answer");
        }
    }
}

/// The plan's own arithmetic: segments sum up, regions tile the slab.
#[test]
fn regions_tile_the_slab() {
    for path in real_models() {
        let file = ModelFile::open(&path).unwrap();
        for context in contexts(&file) {
            let plan = plan_for(&file, context, None);
            let sum: u64 = plan.segments.iter().map(|part| part.bytes.0).sum();
            assert_eq!(sum, plan.total.0, "segments sum to the total");
            let in_slab: u64 = plan.segments.iter().filter(|part| part.offset.is_some()).map(|part| part.bytes.0).sum();
            assert_eq!(in_slab, plan.slab.0, "weights, KV and workspace are the slab");
            let mut end = 0;
            for region in plan.regions.iter().filter(|region| region.name != RegionName::LoadStaging) {
                assert!(region.offset.0 >= end, "{:?} overlaps what is before it", region.name);
                assert_eq!(region.offset.0 % REGION_ALIGNMENT, 0, "{:?} is aligned", region.name);
                end = region.offset.0 + region.bytes.0;
            }
            assert!(end <= plan.slab.0, "the last region ends inside the slab");
        }
    }
}

/// KV cost in tokens by hand: SmolLM2 has 30 layers of 3 heads of 64, Gemma 3 global layers of one head of 256.
#[test]
fn kv_bytes_per_token_are_the_shapes() {
    let per_token = |path: &Path| {
        let file = ModelFile::open(path).unwrap();
        plan_for(&file, 512, None).kv_bytes_per_token.0
    };
    assert_eq!(per_token(&models::smollm2()), 30 * 2 * 3 * 64 * 2);
    assert_eq!(per_token(&models::gemma3()), 3 * 2 * 256 * 2);
}

/// The `plimsoll` binary next to this test's, built if need be.
fn command_line() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>").to_owned();
    let target = profile.parent().expect("target/<profile>");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "plimsoll-cli"])
        .current_dir(plimsoll_tests::repository::root())
        .env("CARGO_TARGET_DIR", target)
        .status()
        .unwrap();
    assert!(built.success(), "the command line builds");
    profile.join(format!("plimsoll{}", std::env::consts::EXE_SUFFIX))
}

/// Runs a command to its end; returns what it printed and its peak resident memory as the kernel counted it.
#[cfg(target_os = "linux")]
fn run_and_watch(binary: &Path, arguments: &[&str]) -> (Value, u64) {
    let mut child = Command::new(binary).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let reader = std::thread::spawn({
        let out = child.stdout.take().unwrap();
        move || std::io::read_to_string(out).unwrap()
    });
    let mut peak = 0;
    // The high-water mark only rises: the last value that is seen is within a few milliseconds of the end.
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        if let Some(kilobytes) = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()) {
            peak = peak.max(kilobytes * 1024);
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    let output = reader.join().unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    (serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}")), peak)
}

/// The whole process against the plan's total: within 1 % or 32 MiB, whichever is more, and not below by more.
#[cfg(target_os = "linux")]
#[test]
fn the_process_peaks_where_the_plan_says() {
    let binary = command_line();
    for path in real_models() {
        let file = ModelFile::open(&path).unwrap();
        let model = path.to_str().unwrap();
        for context in contexts(&file) {
            let context = context.to_string();
            let arguments = [
                "generate",
                model,
                "--raw",
                "--prompt",
                "The capital of France is",
                "--max-tokens",
                "16",
                "--temperature",
                "0",
                "--context",
                &context,
                "--threads",
                "2",
                "--json",
            ];
            let (output, peak) = run_and_watch(&binary, &arguments);
            let memory = &output["memory"];
            let planned = memory["planned"].as_u64().expect("memory.planned");
            let reported = memory["peak_rss"].as_u64().expect("memory.peak_rss");
            let allowed = (planned / 100).max(32 << 20);
            println!(
                "{model} at {context}: planned {planned}, peak {peak} ({:+})",
                i128::from(peak) - i128::from(planned)
            );
            assert!(peak.abs_diff(planned) <= allowed, "{model} at {context}: peak {peak}, planned {planned}");
            assert!(reported.abs_diff(peak) <= 8 << 20, "the program reports {reported}, the kernel {peak}");
            assert_eq!(memory["slab"]["planned"], memory["slab"]["allocated"], "{model} at {context}");
            assert_eq!(memory["host"]["planned"], memory["host"]["allocated"], "{model} at {context}");
        }
    }
}

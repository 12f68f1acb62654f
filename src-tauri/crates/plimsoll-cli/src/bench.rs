//! `plimsoll bench`: tokens per second of prefill and decode at several depths of the cache.

use plimsoll_engine::GenerateRequest;
use plimsoll_engine::sample::Sampling;
use plimsoll_plan::{Bytes, ModelShape, PAGE_TOKENS, RegionName, Tokens};
use serde::Serialize;

use crate::answer::{answer, per_second};
use crate::args::BenchArguments;
use crate::bandwidth::read_bandwidth;
use crate::failure::Failure;
use crate::model::{Needs, Running, load};
use crate::print;

/// Tokens to spare beyond the longest test.
const SPARE: u32 = 64;

#[derive(Debug, Serialize)]
struct Report {
    engine: &'static str,
    model: String,
    threads: u32,
    kv: &'static str,
    /// Bytes per second that the same threads read from memory.
    read_bandwidth: f64,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    test: &'static str,
    tokens: u32,
    depth: u32,
    tokens_per_second: Speed,
    /// What one decode step must read: all weights and the KV cache at this depth.
    bytes_per_token: u64,
    /// Share of the read bandwidth that decode reaches; `null` for prefill, which arithmetic limits.
    bandwidth_fraction: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Speed {
    median: f64,
    min: f64,
    max: f64,
}

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    let deepest = arguments.depths.iter().copied().max().unwrap_or(0);
    let longest = arguments.prefill.max(arguments.decode);
    let context = Tokens(deepest.saturating_add(longest).saturating_add(SPARE));
    // The probe's buffers are freed before the model is loaded.
    let threads = arguments.model.threads.unwrap_or_else(default_threads);
    let read_bandwidth = read_bandwidth(threads);
    let running = load(&arguments.model, Needs { context: Some(context), ..Needs::default() })?;
    let bench = Bench { running: &running, repeats: arguments.repeats };
    let mut rows = Vec::new();
    for &depth in &arguments.depths {
        let bytes = bytes_per_token(&running, Tokens(depth));
        if arguments.prefill > 0 {
            let speeds = bench.repeat(|round| bench.prefill(arguments.prefill, depth, round))?;
            rows.push(row("prefill", arguments.prefill, depth, speeds, bytes, None));
        }
        if arguments.decode > 0 {
            let speeds = bench.repeat(|round| bench.decode(arguments.decode, depth, round))?;
            rows.push(row("decode", arguments.decode, depth, speeds, bytes, Some(read_bandwidth)));
        }
    }
    let report = Report {
        engine: concat!("plimsoll ", env!("CARGO_PKG_VERSION")),
        model: running.plan.model.clone(),
        threads: running.plan.threads,
        kv: plimsoll_backend::report::kv_name(running.plan.kv),
        read_bandwidth,
        rows,
    };
    if arguments.model.json {
        return print::json(&report);
    }
    describe(&report);
    Ok(())
}

struct Bench<'a> {
    running: &'a Running,
    repeats: u32,
}

impl Bench<'_> {
    /// Speeds of `measure`, ascending, after one run that does not count.
    fn repeat(&self, measure: impl Fn(u32) -> Result<f64, Failure>) -> Result<Vec<f64>, Failure> {
        measure(0)?;
        let mut speeds = (1..=self.repeats).map(measure).collect::<Result<Vec<f64>, Failure>>()?;
        speeds.sort_by(f64::total_cmp);
        Ok(speeds)
    }

    /// Fills the cache with `depth` tokens, then prefills `tokens` more.
    fn prefill(&self, tokens: u32, depth: u32, round: u32) -> Result<f64, Failure> {
        let ids = self.ids(depth.saturating_add(tokens), round);
        self.fill(&ids, depth)?;
        let timings = self.answer(ids, 0)?;
        let computed = Tokens(timings.prompt.0.saturating_sub(timings.cached.0));
        Ok(per_second(computed, timings.prefill.as_secs_f64()))
    }

    /// Fills the cache with `depth` tokens, then decodes `tokens`. The first token comes from prefill and is not timed.
    fn decode(&self, tokens: u32, depth: u32, round: u32) -> Result<f64, Failure> {
        let depth = depth.max(1);
        let ids = self.ids(depth, round);
        self.running.engine.clear()?;
        let timings = self.answer(ids, tokens.saturating_add(1))?;
        Ok(per_second(Tokens(timings.output.0.saturating_sub(1)), timings.decode.as_secs_f64()))
    }

    fn fill(&self, ids: &[u32], depth: u32) -> Result<(), Failure> {
        self.running.engine.clear()?;
        let prefix = ids.get(..usize::try_from(depth).unwrap_or(0)).unwrap_or_default();
        if !prefix.is_empty() {
            self.answer(prefix.to_vec(), 0)?;
        }
        Ok(())
    }

    fn answer(&self, prompt: Vec<u32>, max_tokens: u32) -> Result<plimsoll_engine::Timings, Failure> {
        let request = GenerateRequest {
            prompt,
            max_tokens: Tokens(max_tokens),
            sampling: Sampling::greedy(),
            stop: Vec::new(),
            ignore_end: true,
        };
        Ok(answer(&self.running.engine, request, &mut |_| (), &mut |_| ())?.timings)
    }

    /// Token ids that are the same in every run of the program: a multiplicative sequence over the vocabulary.
    fn ids(&self, count: u32, round: u32) -> Vec<u32> {
        let vocabulary = u64::from(self.running.file.shape().vocabulary.max(1));
        let mut state = u64::from(round).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                u32::try_from((state >> 33) % vocabulary).unwrap_or(0)
            })
            .collect()
    }
}

fn default_threads() -> u32 {
    use plimsoll_device::Probe as _;
    plimsoll_device::SystemProbe::new().cpu().compute_threads()
}

fn row(
    test: &'static str,
    tokens: u32,
    depth: u32,
    speeds: Vec<f64>,
    bytes_per_token: Bytes,
    bandwidth: Option<f64>,
) -> Row {
    let speed = Speed {
        median: median(&speeds),
        min: speeds.first().copied().unwrap_or(0.0),
        max: speeds.last().copied().unwrap_or(0.0),
    };
    #[expect(clippy::cast_precision_loss, reason = "a share of two measured rates; the last bits do not matter")]
    let read = speed.median * bytes_per_token.0 as f64;
    Row {
        test,
        tokens,
        depth,
        tokens_per_second: speed,
        bytes_per_token: bytes_per_token.0,
        bandwidth_fraction: bandwidth.map(|bandwidth| read / bandwidth),
    }
}

/// The middle of ascending values; the mean of the two middle ones.
fn median(ascending: &[f64]) -> f64 {
    let upper = ascending.get(ascending.len() / 2).copied().unwrap_or(0.0);
    let lower = ascending.get(ascending.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    f64::midpoint(lower, upper)
}

/// Bytes that one decode step reads: every weight but the embedding rows of an untied model, and the keys and values
/// that the layers see at `depth`.
fn bytes_per_token(running: &Running, depth: Tokens) -> Bytes {
    let plan = &running.plan;
    let kv: Bytes = plan
        .kv_classes
        .iter()
        .map(|class| {
            let seen = class.window.map_or(depth, |window| depth.min(window));
            let rows = u64::from(class.pages.max(1)) * u64::from(PAGE_TOKENS);
            class
                .layers
                .iter()
                .filter_map(|&layer| plan.region(RegionName::Kv(layer)))
                .map(|region| Bytes(region.bytes.0 / rows).times(seen.wide()))
                .sum()
        })
        .sum();
    weights_read(running.file.shape()).plus(kv)
}

fn weights_read(shape: &ModelShape) -> Bytes {
    let untied = shape.weights.iter().any(|weight| weight.name == "output.weight");
    let read = shape.weights.iter().filter(|weight| !(untied && weight.name == "token_embd.weight"));
    read.map(|weight| weight.bytes).sum()
}

fn describe(report: &Report) {
    print::line(&format!("{}, {} threads, {} KV cache", report.model, report.threads, report.kv));
    for row in &report.rows {
        let share = row
            .bandwidth_fraction
            .map_or(String::new(), |share| format!("  {:.0} % of the read bandwidth", share * 100.0));
        let Speed { median, min, max } = row.tokens_per_second;
        print::line(&format!(
            "{:<7} {:>5} at depth {:>6}: {median:>8.1} tokens/s ({min:.1} to {max:.1}){share}",
            row.test, row.tokens, row.depth,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        assert_eq!(median(&[]), 0.0);
    }
}

//! `cargo xtask bench`: Plimsoll and llama.cpp on the same work, in turns, so that both see the same machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use crate::{process, setup, workspace};

/// The peer's version.
const PEER: &str = "0.3.36";

#[derive(Args)]
pub(crate) struct Options {
    /// Model files; without any, the two test models.
    models: Vec<PathBuf>,
    /// Tokens of the prompt that prefill computes.
    #[arg(short, long, default_value_t = 512)]
    prefill: u32,
    /// Tokens that decode makes.
    #[arg(short = 'n', long, default_value_t = 64)]
    decode: u32,
    /// Tokens that are in the cache before, separated by commas.
    #[arg(short, long, default_value = "0,2048")]
    depths: String,
    /// Turns of each program; the table shows medians over them.
    #[arg(short, long, default_value_t = 5)]
    rounds: u32,
    /// Compute threads of each program; without, each takes its own default.
    #[arg(short, long)]
    threads: Option<u32>,
    /// A Python that has llama-cpp-python already; without, one is made in the cache.
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Also write all measurements here, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// (test, tokens, depth)
type Work = (String, u64, u64);

/// Tokens per second, one value a turn.
#[derive(Default)]
struct Rates {
    ours: Vec<f64>,
    peer: Vec<f64>,
}

/// Measures and prints one table a model.
pub(crate) fn bench(options: &Options) -> Result<()> {
    setup::setup()?;
    process::run(&mut process::cargo(&["build", "--package", "plimsoll-cli"])?)?;
    let ours = workspace::program("plimsoll")?;
    let python = options.python.clone().map_or_else(peer, Ok)?;
    let script = workspace::root()?.join("tests/bench/llama_cpp.py");
    let mut measured = serde_json::Map::new();
    for model in models(options)? {
        println!("\n{}", model.display());
        let mut rates: BTreeMap<Work, Rates> = BTreeMap::new();
        for round in 1..=options.rounds {
            println!("  turn {round} of {}", options.rounds);
            let mut command = Command::new(&ours);
            let rows = rows(common(command.arg("bench").arg(&model).arg("--json"), options))?;
            record(&rows, &mut rates, |rates| &mut rates.ours)?;
            let mut command = Command::new(&python);
            let rows = rows_of_peer(common(command.arg(&script).arg(&model), options))?;
            record(&rows, &mut rates, |rates| &mut rates.peer)?;
        }
        print_table(&rates);
        measured.insert(model.display().to_string(), as_json(&rates));
    }
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_vec_pretty(&measured)?).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn models(options: &Options) -> Result<Vec<PathBuf>> {
    if !options.models.is_empty() {
        return options.models.iter().map(|model| std::path::absolute(model).context("a model's path")).collect();
    }
    let folder = workspace::models()?;
    let mut models = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "gguf") {
            models.push(path);
        }
    }
    // SmolLM2 before Gemma: the smaller one first.
    models.sort_by_key(|path| fs::metadata(path).map_or(0, |metadata| metadata.len()));
    Ok(models)
}

/// The options that both programs take. One repetition: the turns are the repetitions.
fn common<'a>(command: &'a mut Command, options: &Options) -> &'a mut Command {
    command.args(["-p", &options.prefill.to_string(), "-n", &options.decode.to_string()]);
    command.args(["-d", &options.depths, "-r", "1"]);
    if let Some(threads) = options.threads {
        // Both spell it out; neither guesses.
        command.args(["--threads", &threads.to_string()]);
    }
    command
}

fn rows(command: &mut Command) -> Result<Value> {
    let printed = process::output(command)?;
    serde_json::from_str(&printed).context("plimsoll bench --json did not print JSON")
}

fn rows_of_peer(command: &mut Command) -> Result<Value> {
    let printed = process::output(command)?;
    // The library may print above the result.
    let line = printed.lines().rev().find(|line| line.starts_with('{')).context("llama_cpp.py printed no result")?;
    serde_json::from_str(line).context("llama_cpp.py did not print JSON")
}

fn record(rows: &Value, rates: &mut BTreeMap<Work, Rates>, side: fn(&mut Rates) -> &mut Vec<f64>) -> Result<()> {
    for row in rows.get("rows").and_then(Value::as_array).context("the result has no rows")? {
        let parsed = || {
            let test = row.get("test")?.as_str()?.to_owned();
            let (tokens, depth) = (row.get("tokens")?.as_u64()?, row.get("depth")?.as_u64()?);
            let rate = row.get("tokens_per_second")?.get("median")?.as_f64()?;
            Some(((test, tokens, depth), rate))
        };
        let (work, rate) = parsed().with_context(|| format!("a row has an unknown form: {row}"))?;
        side(rates.entry(work).or_default()).push(rate);
    }
    Ok(())
}

fn print_table(rates: &BTreeMap<Work, Rates>) {
    println!(
        "  {:<8} {:>6} {:>6} {:>12} {:>12} {:>7}",
        "test", "tokens", "depth", "plimsoll/s", "llama.cpp/s", "ratio"
    );
    for ((test, tokens, depth), rates) in rates {
        let (ours, peer) = (median(&rates.ours), median(&rates.peer));
        let cells = (cell(ours, 1), cell(peer, 1), cell(ours.zip(peer).map(|(ours, peer)| ours / peer), 2));
        println!("  {test:<8} {tokens:>6} {depth:>6} {:>12} {:>12} {:>7}", cells.0, cells.1, cells.2);
    }
}

fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The middle value; of an even number of values, the mean of the middle two.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

fn as_json(rates: &BTreeMap<Work, Rates>) -> Value {
    let row = |((test, tokens, depth), rates): (&Work, &Rates)| {
        serde_json::json!({
            "test": test, "tokens": tokens, "depth": depth,
            "plimsoll": rates.ours, "llama_cpp": rates.peer,
            "plimsoll_median": median(&rates.ours), "llama_cpp_median": median(&rates.peer),
        })
    };
    rates.iter().map(row).collect()
}

/// A Python with the peer, built for this processor; made once, in the cache.
fn peer() -> Result<PathBuf> {
    let folder = workspace::cache()?.join("bench-venv");
    let python = folder.join("bin/python");
    if !has_peer(&python) {
        println!("bench: building llama-cpp-python {PEER} for this machine (several minutes, once)");
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", &format!("llama-cpp-python=={PEER}")]);
        process::run(pip.env("CMAKE_ARGS", "-DGGML_NATIVE=ON"))?;
    }
    Ok(python)
}

fn has_peer(python: &Path) -> bool {
    let check = format!("import llama_cpp, sys; sys.exit(llama_cpp.__version__ != '{PEER}')");
    process::succeeds(Command::new(python).args(["-c", &check]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn rows_of_both_programs_meet_by_work() {
        let rows = serde_json::json!({"rows": [
            {"test": "decode", "tokens": 64, "depth": 0, "tokens_per_second": {"median": 10.0, "min": 9.0, "max": 11.0}},
        ]});
        let mut rates = BTreeMap::new();
        record(&rows, &mut rates, |rates| &mut rates.ours).unwrap();
        record(&rows, &mut rates, |rates| &mut rates.peer).unwrap();
        let both = &rates[&("decode".to_owned(), 64, 0)];
        assert_eq!((both.ours.as_slice(), both.peer.as_slice()), ([10.0].as_slice(), [10.0].as_slice()));
        assert!(record(&serde_json::json!({"rows": [{}]}), &mut rates, |rates| &mut rates.ours).is_err());
    }
}

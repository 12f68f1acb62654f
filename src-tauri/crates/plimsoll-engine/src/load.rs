//! Streams the file's tensors into the kernels' layout: read some rows, pack them, forget them. No second copy.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use plimsoll_kernels::{dequantize_source_row, pack_panel, panel_bytes};
use plimsoll_plan::{Bytes, MemoryPlan, RegionName};

use crate::api::LoadProgress;
use crate::error::ModelError;
use crate::spec::{Binding, TensorRole, WeightSource};
use crate::workspace::Parts;

/// Rows in one panel of the kernels' layouts.
const PANEL_ROWS: usize = 8;

/// Source bytes that one job packs: large enough that taking a job costs nothing, small enough to share out evenly.
const JOB_BYTES: usize = 1 << 20;

/// Told how far loading is; `false` cancels.
pub(crate) type Progress<'a> = dyn FnMut(LoadProgress) -> bool + Send + 'a;

/// Packs every tensor of `binding` from the file at `path` into `parts`, on `threads` threads.
pub(crate) fn load_weights(
    path: &Path,
    binding: &Binding,
    plan: &MemoryPlan,
    parts: &mut Parts<'_>,
    threads: usize,
    progress: &mut Progress<'_>,
) -> Result<(), ModelError> {
    let io = |source| ModelError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let staging = plan.region(RegionName::LoadStaging).map_or(Bytes::ZERO, |region| region.bytes);
    let weights = std::mem::take(&mut parts.weights);
    let mut jobs = Vec::new();
    let mut kept: Vec<&mut [u8]> = Vec::with_capacity(weights.len());
    for (source, destination) in binding.weights.iter().zip(weights) {
        if destination.len() != source.resident_bytes {
            return Err(ModelError::PlanMismatch {
                region: source.name.clone(),
                planned: Bytes(destination.len() as u64),
                needed: Bytes(source.resident_bytes as u64),
            });
        }
        kept.push(destination);
    }
    for (source, destination) in binding.weights.iter().zip(&mut kept) {
        split_jobs(source, destination, &mut jobs);
    }
    jobs.reverse();
    let total = Bytes(binding.weights.iter().map(|source| (source.rows * source.source_row_bytes) as u64).sum());
    let run = Run {
        file: &file,
        path,
        jobs: Mutex::new(jobs),
        done: AtomicU64::new(0),
        total,
        stopped: AtomicBool::new(false),
        progress: Mutex::new(progress),
        failure: Mutex::new(None),
    };
    let staging = parts.staging(staging);
    let share = (staging.len() / threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for area in staging.chunks_mut(share).take(threads.max(1)) {
            scope.spawn(|| run.work(area));
        }
    });
    let failure = run.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    let cancelled = run.stopped.into_inner();
    parts.weights = kept;
    match failure {
        Some(error) => Err(error),
        None if cancelled => Err(ModelError::Cancelled),
        None => Ok(()),
    }
}

/// Some rows of one tensor and where they go.
struct Job<'a> {
    source: &'a WeightSource,
    first_row: usize,
    rows: usize,
    destination: &'a mut [u8],
}

fn split_jobs<'a>(source: &'a WeightSource, destination: &'a mut [u8], jobs: &mut Vec<Job<'a>>) {
    if source.role == TensorRole::Vector {
        jobs.push(Job { source, first_row: 0, rows: 1, destination });
        return;
    }
    let panel = panel_bytes(source.weight_type, source.cols).unwrap_or(destination.len()).max(1);
    let panels_per_job = (JOB_BYTES / (source.source_row_bytes.max(1) * PANEL_ROWS)).max(1);
    for (index, chunk) in destination.chunks_mut(panel.saturating_mul(panels_per_job)).enumerate() {
        let first_row = index * panels_per_job * PANEL_ROWS;
        let rows = source.rows.saturating_sub(first_row).min(panels_per_job * PANEL_ROWS);
        jobs.push(Job { source, first_row, rows, destination: chunk });
    }
}

struct Run<'r, 'j, 'p> {
    file: &'r File,
    path: &'r Path,
    jobs: Mutex<Vec<Job<'j>>>,
    done: AtomicU64,
    total: Bytes,
    stopped: AtomicBool,
    progress: Mutex<&'r mut Progress<'p>>,
    failure: Mutex<Option<ModelError>>,
}

impl Run<'_, '_, '_> {
    fn work(&self, staging: &mut [u8]) {
        while !self.stopped.load(Ordering::Acquire) {
            let job = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(job) = job else { return };
            let bytes = (job.rows * job.source.source_row_bytes) as u64;
            if let Err(error) = self.pack(job, staging) {
                self.stopped.store(true, Ordering::Release);
                self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                return;
            }
            let done = self.done.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes);
            let step = LoadProgress { done: Bytes(done), total: self.total };
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            if !progress(step) {
                self.stopped.store(true, Ordering::Release);
            }
        }
    }

    fn pack(&self, job: Job<'_>, staging: &mut [u8]) -> Result<(), ModelError> {
        let source = job.source;
        let row_bytes = source.source_row_bytes;
        let room = staging.len();
        let short = |needed: usize| ModelError::PlanMismatch {
            region: format!("staging for {}", source.name),
            planned: Bytes(room as u64),
            needed: Bytes(needed as u64),
        };
        let base = source.offset.saturating_add((job.first_row * row_bytes) as u64);
        if source.role == TensorRole::Vector {
            let bytes = staging.get_mut(..row_bytes).ok_or_else(|| short(row_bytes))?;
            self.read(bytes, base)?;
            let out: &mut [f32] =
                bytemuck::try_cast_slice_mut(job.destination).map_err(|_| ModelError::PlanMismatch {
                    region: source.name.clone(),
                    planned: Bytes(0),
                    needed: Bytes(source.resident_bytes as u64),
                })?;
            dequantize_source_row(source.weight_type, bytes, out);
            return Ok(());
        }
        let panel = panel_bytes(source.weight_type, source.cols).unwrap_or(0).max(1);
        let panels_at_once = staging.len() / (row_bytes * PANEL_ROWS).max(1);
        if panels_at_once == 0 {
            return Err(short(row_bytes * PANEL_ROWS));
        }
        let rows_at_once = panels_at_once * PANEL_ROWS;
        for (index, target) in job.destination.chunks_mut(panel * panels_at_once).enumerate() {
            let first = index * rows_at_once;
            let rows = job.rows.saturating_sub(first).min(rows_at_once);
            let Some(bytes) = staging.get_mut(..rows * row_bytes) else { return Ok(()) };
            self.read(bytes, base.saturating_add((first * row_bytes) as u64))?;
            for (rows, panel) in bytes.chunks(row_bytes * PANEL_ROWS).zip(target.chunks_mut(panel)) {
                pack_panel(source.weight_type, source.cols, rows, panel);
            }
        }
        Ok(())
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), ModelError> {
        read_exact_at(self.file, bytes, offset).map_err(|source| ModelError::Io { path: self.path.to_owned(), source })
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = bytes.get_mut(read..).unwrap_or_default();
                offset = offset.saturating_add(read as u64);
            }
        }
    }
    Ok(())
}

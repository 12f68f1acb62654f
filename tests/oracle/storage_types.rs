//! Every storage type, written by candle's quantizer and read by the engine, against candle's own dequantization.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use plimsoll_tests::plans::{load, logits};
use plimsoll_tests::tiny::{Tiny, TinyFile};

use crate::agreement::Agreement;
use crate::logits::prose_ids;
use crate::reference::Reference;

/// The types that the two real models hold and their families use, with GGML's numbers.
const TYPES: [(GgmlDType, u32); 11] = [
    (GgmlDType::F32, 0),
    (GgmlDType::F16, 1),
    (GgmlDType::BF16, 30),
    (GgmlDType::Q4_0, 2),
    (GgmlDType::Q4_1, 3),
    (GgmlDType::Q5_0, 6),
    (GgmlDType::Q5_1, 7),
    (GgmlDType::Q8_0, 8),
    (GgmlDType::Q4K, 12),
    (GgmlDType::Q5K, 13),
    (GgmlDType::Q6K, 14),
];

/// Stores every matrix as `dtype`; norms stay 32-bit, as in real files.
fn stored_as(mut file: TinyFile, dtype: GgmlDType, ggml_type: u32) -> TinyFile {
    for tensor in file.tensors.iter_mut().filter(|tensor| tensor.is_matrix()) {
        let shape = (tensor.dims[1] as usize, tensor.dims[0] as usize);
        let values = Tensor::from_slice(&tensor.values, shape, &Device::Cpu).unwrap();
        tensor.data = QTensor::quantize(&values, dtype).unwrap().data().unwrap().into_owned();
        tensor.ggml_type = ggml_type;
    }
    file
}

#[test]
fn every_storage_type_agrees_with_the_float_reference() {
    let folder = tempfile::tempdir().unwrap();
    for (dtype, ggml_type) in TYPES {
        for tiny in [Tiny::llama().widened(), Tiny::gemma3().widened()] {
            let path = folder.path().join("tiny.gguf");
            stored_as(tiny.file(), dtype, ggml_type).write(&path);
            let ids = prose_ids(&path, 80);
            let reference = Reference::open(&path).logits(&ids);
            let ours = logits(&load(&path, 128, None), &ids);
            let agreement = Agreement::of(&reference, &ours);
            agreement.print(&format!("{:?} as {dtype:?}", tiny.architecture));
            // Random weights leave several words almost equal, so the most likely one says little here.
            assert!(agreement.mean_kl() <= 5e-3, "{:?} {dtype:?}: {agreement:?}", tiny.architecture);
            assert!(agreement.largest_kl() <= 0.03, "{:?} {dtype:?}: {agreement:?}", tiny.architecture);
        }
    }
}

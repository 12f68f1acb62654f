import type { DoctorReport } from '../generated';

export const DOCTOR: DoctorReport = {
  version: '0.1.0',
  items: [
    {
      id: 'memory',
      state: 'ok',
      question: 'Will the model and its cache fit in memory?',
      answer: 'Yes: 312 MB planned, 16.6 GB budget, 17.6 GB free now.',
    },
    {
      id: 'prompt',
      state: 'ok',
      question: 'Is the prompt limited?',
      answer: 'Prompt and answer together may take 4096 tokens.',
    },
    {
      id: 'output',
      state: 'ok',
      question: 'Is the answer limited?',
      answer: 'At most 512 tokens, reserved before Send and enforced while decoding.',
    },
    {
      id: 'concurrency',
      state: 'ok',
      question: 'How many requests run at once?',
      answer: 'One. A second one is refused as busy.',
    },
    {
      id: 'quantization',
      state: 'ok',
      question: 'Are the weights quantized?',
      answer: 'INT4 class, Q4_1: 97 MB instead of 269 MB at FP16.',
    },
    {
      id: 'kv',
      state: 'warn',
      question: 'Is the KV cache quantized?',
      answer: 'FP16, 23040 bytes per token. INT8 would free 44 MB at this context.',
    },
    { id: 'cpu', state: 'ok', question: 'Processor', answer: 'AMD EPYC 9V84, 2 cores' },
    { id: 'kernels', state: 'ok', question: 'Kernels', answer: 'AVX2+FMA' },
    {
      id: 'gpu',
      state: 'warn',
      question: 'Graphics card',
      answer: 'None found; everything runs on the processor.',
    },
  ],
};

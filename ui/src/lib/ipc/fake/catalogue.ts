// The models that the scripted backend pretends to have, with the shapes that price them.
import type { IpcError, ModelEntry } from '../generated';

export interface FakeModel {
  entry: ModelEntry;
  weightsBytes: number;
  /** KV bytes of one token at FP16. */
  kvBytesPerToken: number;
  workspaceBytes: number;
}

export const GIB = 1024 ** 3;
export const MIB = 1024 ** 2;

export const DEVICE = {
  name: 'AMD EPYC 9V84',
  kernels: 'AVX2+FMA',
  totalBytes: 24 * GIB,
  otherBytes: 6.4 * GIB,
  runtimeBytes: 71 * MIB,
  headroomBytes: 1 * GIB,
};

const broken: IpcError = {
  code: 'unknown_tensor_type',
  message: 'tensor blk.0.ffn_up.weight has storage type 39',
  detail: 'blk.0.ffn_up.weight: type 39',
  numbers: {},
};

export const MODELS: FakeModel[] = [
  {
    entry: {
      id: 'SmolLM2-135M-Instruct.Q4_1',
      name: 'SmolLM2 135M Instruct',
      path: '/home/mira/.local/share/plimsoll/models/SmolLM2-135M-Instruct.Q4_1.gguf',
      fileBytes: 98_331_424,
      architecture: 'llama',
      precisionClass: 'int4',
      storageType: 'Q4_1',
      trainedContext: 8192,
      chat: true,
      problem: null,
    },
    weightsBytes: 96_870_400,
    kvBytesPerToken: 23_040,
    workspaceBytes: 62 * MIB,
  },
  {
    entry: {
      id: 'gemma-3-270m-Q4_K_M',
      name: 'Gemma 3 270M',
      path: '/home/mira/.local/share/plimsoll/models/gemma-3-270m-Q4_K_M.gguf',
      fileBytes: 253_109_344,
      architecture: 'gemma3',
      precisionClass: 'int4',
      storageType: 'Q4_K',
      trainedContext: 32_768,
      chat: false,
      problem: null,
    },
    weightsBytes: 236_978_176,
    kvBytesPerToken: 18_432,
    workspaceBytes: 96 * MIB,
  },
  {
    entry: {
      id: 'Qwen3-8B-Q4_K_M',
      name: 'Qwen3 8B',
      path: '/home/mira/.local/share/plimsoll/models/Qwen3-8B-Q4_K_M.gguf',
      fileBytes: 5_027_783_488,
      architecture: 'qwen3',
      precisionClass: 'int4',
      storageType: 'Q4_K',
      trainedContext: 40_960,
      chat: true,
      problem: null,
    },
    weightsBytes: 5_021_000_000,
    kvBytesPerToken: 147_456,
    workspaceBytes: 214 * MIB,
  },
  {
    entry: {
      id: 'gpt-oss-20b-mxfp4',
      name: 'gpt-oss 20B',
      path: '/home/mira/.local/share/plimsoll/models/gpt-oss-20b-mxfp4.gguf',
      fileBytes: 12_109_566_560,
      architecture: 'gpt-oss',
      precisionClass: 'int4',
      storageType: 'MXFP4',
      trainedContext: 131_072,
      chat: true,
      problem: broken,
    },
    weightsBytes: 12_000_000_000,
    kvBytesPerToken: 49_152,
    workspaceBytes: 300 * MIB,
  },
];

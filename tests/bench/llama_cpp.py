"""Times llama.cpp through its low-level API, as `plimsoll bench` times Plimsoll: same tests, same JSON rows.

Run with:
    python3 -m venv /tmp/venv && CMAKE_ARGS=-DGGML_NATIVE=ON /tmp/venv/bin/pip install llama-cpp-python==0.3.36
    /tmp/venv/bin/python llama_cpp.py MODEL.gguf -p 512 -n 64 -d 0,2048 -r 5 -t 2

Prefill: `-p` tokens in one batch at each depth, in micro-batches of `--ubatch`. Decode: `-n` single tokens at each
depth. The KV cache (f16) is filled to the depth before each repetition, outside of the timed part; only the last
token's logits are computed. Token ids are drawn from a fixed seed. One untimed run of each test goes first.
bytes_per_token is what one decode step must read: all weights and the KV cache at the depth.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time

# This file bears the library's name: look for the library elsewhere.
sys.path.pop(0)
import llama_cpp  # noqa: E402

F16_BYTES = 2


def arguments():
    parser = argparse.ArgumentParser(description="llama.cpp's speed as JSON rows")
    parser.add_argument("model")
    parser.add_argument("-p", "--prefill", type=int, default=512)
    parser.add_argument("-n", "--decode", type=int, default=64)
    parser.add_argument("-d", "--depths", default="0", help="comma-separated")
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    parser.add_argument("-t", "--threads", type=int, default=os.cpu_count())
    parser.add_argument("--ubatch", type=int, default=512)
    parser.add_argument("--flash-attention", choices=["auto", "on", "off"], default="auto")
    return parser.parse_args()


class Session:
    """One model with one context that is large enough for every test."""

    def __init__(self, options, context):
        llama_cpp.llama_backend_init()
        silence = llama_cpp.llama_log_callback(lambda level, text, data: None)
        self.silence = silence  # kept: C holds the pointer
        llama_cpp.llama_log_set(silence, None)
        model_parameters = llama_cpp.llama_model_default_params()
        model_parameters.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(options.model.encode(), model_parameters)
        if not self.model:
            sys.exit(f"llama.cpp cannot load {options.model}")
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = context
        parameters.n_batch = max(options.ubatch, options.prefill)
        parameters.n_ubatch = options.ubatch
        parameters.n_threads = options.threads
        parameters.n_threads_batch = options.threads
        parameters.type_k = llama_cpp.GGML_TYPE_F16
        parameters.type_v = llama_cpp.GGML_TYPE_F16
        parameters.flash_attn_type = {"auto": -1, "off": 0, "on": 1}[options.flash_attention]
        # The sliding-window layers keep only their window, as in Plimsoll.
        parameters.swa_full = False
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)
        if not self.context:
            sys.exit("llama.cpp cannot make a context")
        self.limit = parameters.n_batch
        self.batch = llama_cpp.llama_batch_init(self.limit, 0, 1)
        self.words = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.random = random.Random(2)

    def reset(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def run(self, count, position):
        """Feeds `count` random tokens from `position` on, in batches; logits of the very last only."""
        done = 0
        while done < count:
            n = min(self.limit, count - done)
            batch = self.batch
            batch.n_tokens = n
            for i in range(n):
                batch.token[i] = self.random.randrange(256, self.words)
                batch.pos[i] = position + done + i
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = 0
                batch.logits[i] = done + i == count - 1
            status = llama_cpp.llama_decode(self.context, batch)
            if status:
                sys.exit(f"llama_decode returned {status}")
            done += n
        llama_cpp.llama_synchronize(self.context)

    def metadata(self, key):
        buffer = llama_cpp.ctypes.create_string_buffer(64)
        length = llama_cpp.llama_model_meta_val_str(self.model, key.encode(), buffer, 64)
        return buffer.value.decode() if length >= 0 else None

    def kv_bytes(self, depth):
        """Bytes of K and V that one decode step reads at this depth (whole window layers counted at their window)."""
        layers = llama_cpp.llama_model_n_layer(self.model)
        heads = llama_cpp.llama_model_n_head_kv(self.model)
        architecture = self.metadata("general.architecture")
        width = llama_cpp.llama_model_n_embd(self.model) // llama_cpp.llama_model_n_head(self.model)
        width = int(self.metadata(f"{architecture}.attention.key_length") or width)
        window = int(self.metadata(f"{architecture}.attention.sliding_window") or 0)
        per_position = 2 * heads * width * F16_BYTES
        # Gemma 3: five layers of six look back over the window only.
        local = sum(1 for i in range(layers) if (i + 1) % 6 != 0) if window else 0
        return per_position * ((layers - local) * depth + local * min(depth, window or depth))


def time_decode(session, count, depth):
    session.reset()
    if depth:
        session.run(depth, 0)
    start = time.perf_counter()
    for i in range(count):
        session.run(1, depth + i)
    return count / (time.perf_counter() - start)


def time_prefill(session, count, depth):
    session.reset()
    if depth:
        session.run(depth, 0)
    start = time.perf_counter()
    session.run(count, depth)
    return count / (time.perf_counter() - start)


def row(test, tokens, depth, rates, bytes_per_token):
    return {
        "test": test,
        "tokens": tokens,
        "depth": depth,
        "tokens_per_second": {"median": statistics.median(rates), "min": min(rates), "max": max(rates)},
        "bytes_per_token": bytes_per_token,
        # Needs the machine's measured bandwidth, which only `plimsoll bench` measures.
        "bandwidth_fraction": None,
    }


def main():
    options = arguments()
    depths = [int(d) for d in options.depths.split(",")]
    context = max(depths) + max(options.prefill, options.decode) + 64
    session = Session(options, context)
    weights = llama_cpp.llama_model_size(session.model)
    rows = []
    for depth in depths:
        tests = (("prefill", options.prefill, time_prefill), ("decode", options.decode, time_decode))
        for test, count, timer in tests:
            if count == 0:
                continue
            timer(session, count, depth)
            rates = [timer(session, count, depth) for _ in range(options.repetitions)]
            rows.append(row(test, count, depth, rates, weights + session.kv_bytes(depth)))
    engine = {"engine": f"llama-cpp-python {llama_cpp.__version__}", "threads": options.threads}
    print(json.dumps({**engine, "flash_attention": options.flash_attention, "kv": "f16", "rows": rows}))


if __name__ == "__main__":
    main()

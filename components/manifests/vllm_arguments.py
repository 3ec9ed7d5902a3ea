"""The arguments of ``vllm serve``, in the form that the pinned version's parser takes (the catalog knows which)."""

from __future__ import annotations

from components.model_server_plan import ModelServerPlan

PORT = 8000


def vllm_arguments(plan: ModelServerPlan) -> list[str]:
    """The container's ``args``, in the article's order; each flag is checked by a test against the real flag table."""
    args, version = plan.args, plan.args.version
    arguments = [args.model if version.model_is_positional else f"--model={args.model}"]
    arguments += [
        f"--tensor-parallel-size={args.tensor_parallel_size}",
        f"--gpu-memory-utilization={args.gpu_memory_utilization:g}",
        f"--max-model-len={args.max_model_len}",
        f"--max-num-batched-tokens={args.max_num_batched_tokens}",
    ]
    if version.max_num_seqs_depends_on_gpu:
        arguments.append(f"--max-num-seqs={plan.max_num_seqs}")
    arguments += [
        version.chunked_prefill_argument,
        "--enable-prefix-caching",
        f"--kv-cache-dtype={args.kv_cache_dtype}",
    ]
    if plan.trust_remote_code:
        arguments.append("--trust-remote-code")
    if version.has_shutdown_timeout:
        arguments.append(f"--shutdown-timeout={args.drain_seconds}")
    arguments.append(f"--port={PORT}")
    return arguments

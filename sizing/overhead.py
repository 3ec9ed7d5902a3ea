"""What is neither weights nor KV cache: activations of the profile run, communication, CUDA graphs.

Modelled from the tensors that exist at the peak of vLLM's profile run: a forward pass over max_num_batched_tokens, then
a dummy sampler run over max_num_seqs rows of logits. docs/decisions/sizing-accuracy.md: what is derived, what measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from sizing.deployment import Deployment
from sizing.number_formats import GIB

# cuBLAS keeps one workspace a stream (32 MiB on Hopper and later, 8 MiB before); the larger is taken.
_CUBLAS_WORKSPACE_BYTES = 32 * 2**20
# Below eight rows the sampler sorts as it always did (topk_topp_sampler.py, 0.17 to 0.29).
_TOP_K_KERNEL_MIN_ROWS = 8
_SORT_BYTES_PER_LOGIT = 38
# The largest latent-attention workspace: 64 Ki tokens of up-projected keys and values (mla/common.py).
_MLA_WORKSPACE_TOKENS = 64 * 1024
# Pixels of the profile run's images for each token of the batch: Gemma 3's 896 x 896 x 3 in 16 bit over 256 tokens.
_PIXEL_BYTES_PER_TOKEN = 896 * 896 * 3 * 2 / 256


@dataclass(frozen=True)
class Overhead:
    """GiB on one GPU by cause."""

    activation_gib: float
    """Peak of the profile run, and buffers that it leaves."""
    communication_gib: float
    """Outside of PyTorch: CUDA context growth, NCCL, all-reduce buffers."""
    cuda_graphs_gib: float
    start_up_gib: float

    @property
    def total_gib(self) -> float:
        """All of it."""
        return self.activation_gib + self.communication_gib + self.cuda_graphs_gib + self.start_up_gib


def _moe_workspace_bytes(config: Deployment) -> float:
    """The two buffers of the fused expert kernel: [tokens x experts a token, widest of each product]."""
    model = config.model
    if model.moe is None or model.weights_dtype == "mxfp4":
        return 0.0
    width = model.moe.expert_intermediate_size / config.tensor_parallel
    rows = config.max_num_batched_tokens * model.moe.experts_per_token
    first, second = max(width, model.hidden_size), max(2 * width, model.hidden_size)
    return rows * (first + second) * config.compute_bytes


def _forward_bytes(config: Deployment, *, sends_to_next_stage: bool) -> float:
    """Peak of the forward pass over max_num_batched_tokens tokens."""
    model, tokens, tp = config.model, config.max_num_batched_tokens, config.tensor_parallel
    matrices = 3 if model.gated_mlp else 2
    dense = matrices * model.intermediate_size / tp  # gate and up, and their product
    if model.moe is not None:
        shared = matrices * model.moe.shared_intermediate_size / tp
        routed = matrices * model.moe.expert_intermediate_size * model.moe.experts_per_token / tp
        mxfp4 = model.weights_dtype == "mxfp4"
        has_dense = model.moe.dense_beside_experts or model.moe.layers < model.layers
        dense = max(dense if has_dense else 0.0, shared + (routed if mxfp4 else 0.0))
    attention = (2 * model.attention_heads + 2 * model.kv_heads) * model.head_dim / tp
    hidden = config.generation.forward_hidden_copies + (2 if sends_to_next_stage else 0)
    peak = tokens * (max(dense, attention) + hidden * model.hidden_size) * config.compute_bytes
    if model.mla is not None:
        workspace = min(_MLA_WORKSPACE_TOKENS, max(8 * config.max_model_len, 64 * config.max_num_seqs))
        peak += workspace * model.attention_heads / tp * (model.mla.qk_nope_head_dim + model.mla.v_head_dim) * 2
    return peak


def _sampler_bytes(config: Deployment) -> float:
    """Peak of the dummy sampler run, hidden states included."""
    model, generation = config.model, config.generation
    rows = min(config.max_num_seqs, config.max_num_batched_tokens)
    per_logit, buffer_rows = generation.sampler_bytes_per_logit, 0
    if generation.top_k_buffer:
        if rows < _TOP_K_KERNEL_MIN_ROWS:
            per_logit = _SORT_BYTES_PER_LOGIT
        else:
            programs = min(config.gpu.multiprocessors, rows)
            buffer_rows = min(1 << (programs - 1).bit_length(), config.gpu.multiprocessors)
    per_logit += config.compute_bytes - 2  # logits leave the model in its own dtype
    hidden = (config.max_num_batched_tokens + 2 * rows) * model.hidden_size * config.compute_bytes
    return rows * model.vocab_size * per_logit + buffer_rows * model.vocab_size * 4 + hidden


def _image_bytes(config: Deployment) -> float:
    """Encoder outputs and pixels of the images that a multimodal profile run encodes."""
    if config.model.text_only:
        return 0.0
    per_token = config.model.hidden_size * config.compute_bytes + _PIXEL_BYTES_PER_TOKEN
    return config.max_num_batched_tokens * per_token


def overhead(config: Deployment, *, first_stage: bool, last_stage: bool) -> Overhead:
    """The overhead on a GPU of one pipeline stage: only the last one samples, only the first one encodes images."""
    generation, model, tp = config.generation, config.model, config.tensor_parallel
    persistent = _moe_workspace_bytes(config) if generation.moe_workspace_persists else 0.0
    peak = _forward_bytes(config, sends_to_next_stage=not last_stage)
    if not generation.moe_workspace_persists:
        peak += _moe_workspace_bytes(config)
    if last_stage and model.generates:
        peak = max(peak, _sampler_bytes(config))
        table = min(config.max_num_seqs, config.max_num_batched_tokens) * model.vocab_size
        persistent += table * generation.penalty_bytes_per_logit
    if first_stage:
        persistent += _image_bytes(config)
    else:
        # Hidden states and residual that the previous stage sends.
        persistent += 2 * config.max_num_batched_tokens * model.hidden_size * config.compute_bytes
    if tp == 1:
        communication = generation.non_torch_gib
    elif config.gpu.has_nvlink:
        communication = generation.non_torch_nvlink_gib
    else:
        communication = generation.non_torch_tp_gib
    graphs = generation.cuda_graphs_gib if tp == 1 else generation.cuda_graphs_tp_gib
    return Overhead(
        activation_gib=(peak + persistent + _CUBLAS_WORKSPACE_BYTES) / GIB,
        communication_gib=communication,
        cuda_graphs_gib=0.0 if config.enforce_eager else graphs,
        start_up_gib=0.0 if config.enforce_eager else generation.start_up_gib,
    )

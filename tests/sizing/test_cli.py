"""The commands as a person or a script meets them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sizing.__main__ import app

LOGS = Path(__file__).parent / "data" / "kv-cache-logs.csv"
FIT_KEYS = {
    "fits",
    "reason",
    "weights_gib_per_gpu",
    "non_kv_overhead_gib_per_gpu",
    "available_kv_cache_gib_per_gpu",
    "kv_bytes_per_token_per_gpu",
    "kv_cache_tokens",
    "max_concurrency",
    "required_shm_gib",
    "host_memory_request_gib",
    "host_memory_limit_gib",
    "load_seconds",
    "nearest_fix",
}
BLUEPRINT = (
    "fit meta-llama/Meta-Llama-3.1-70B-Instruct --instance p5.48xlarge --tp 4 --max-model-len 16384 "
    "--kv-cache-dtype fp8 --gpu-memory-utilization 0.92"
)


def run(command: str, *more: str) -> Result:
    return CliRunner().invoke(app, [*command.split(), *more])


def answer(command: str, *more: str) -> dict[str, Any]:
    result = run(command, *more, "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_the_blueprint_fits() -> None:
    found = answer(BLUEPRINT)
    assert found.keys() >= FIT_KEYS
    assert found["fits"] is True
    assert found["kv_bytes_per_token_per_gpu"] == 320 * 1024 / 2 / 4
    # facts/serving.md section 7: about 0.9 million tokens, 56 requests of 16,384.
    assert found["kv_cache_tokens"] == pytest.approx(0.9e6, rel=0.1)
    assert found["max_concurrency"] == pytest.approx(56, rel=0.1)
    assert found["required_shm_gib"] == 16
    assert run(BLUEPRINT).exit_code == 0


def test_a_full_context_on_two_gpus_does_not_fit() -> None:
    command = "fit meta-llama/Llama-3.1-70B-Instruct --instance p5.48xlarge --tp 2"
    assert run(command).exit_code == 1
    found = answer(command)
    assert found["fits"] is False
    assert found["nearest_fix"]["flags"] == "--tensor-parallel-size 4"
    assert "131,072" in found["reason"]


def test_a_model_on_several_nodes() -> None:
    found = answer("fit Llama-3.1-405B-Instruct --instance p5.48xlarge --tp 8 --pp 2 --max-model-len 16384")
    assert (found["fits"], found["nodes"], found["gpus"]) == (True, 2, 16)


def test_hardware_by_name_by_memory_and_by_instance_agree() -> None:
    rest = "--tp 2 --max-model-len 8192"
    by_instance = answer(f"fit Qwen/Qwen3-32B --instance p5.48xlarge {rest}")
    by_name = answer(f"fit Qwen/Qwen3-32B --gpu H100 --gpus-per-node 8 {rest}")
    by_memory = answer(f"fit Qwen/Qwen3-32B --gpu-memory-gib 79.19 --gpus-per-node 8 {rest}")
    for key in ("available_kv_cache_gib_per_gpu", "kv_cache_tokens"):
        assert by_instance[key] == by_name[key] == by_memory[key]


def test_a_real_length_gives_its_own_concurrency() -> None:
    found = answer(f"{BLUEPRINT} --request-tokens 2048")
    assert found["max_concurrency_at_request_tokens"] == pytest.approx(found["max_concurrency"] * 8, rel=0.01)


def test_a_config_json_is_a_model(tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
        "max_position_embeddings": 131072,
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": False,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    rest = "--gpu H100 --max-model-len 8192"
    assert answer(f"fit {path} {rest}")["kv_cache_tokens"] == answer(f"fit Llama-3.1-8B {rest}")["kv_cache_tokens"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fit meta-lama/Llama-3.1-70B-Instrukt --instance p5.48xlarge", "did you mean"),
        ("fit Qwen/Qwen3-8B --instance p5.48xl", "p5.48xlarge"),
        ("fit Qwen/Qwen3-8B --instance m7i.large", "has no GPU"),
        ("fit Qwen/Qwen3-8B --gpu H1000", "did you mean"),
        ("fit Qwen/Qwen3-8B", "name the hardware"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --gpu H100", "not both"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --tp 3", "does not divide the 32 attention heads"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --tp 0", "at least 1"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --tp -2", "at least 1"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --tp 16", "does not divide|above the 8 GPU"),
        ("fit Qwen/Qwen3-8B --instance p5.48xlarge --pp 37", "above the 36 layers"),
        ("fit Qwen/Qwen3-8B --gpu H100 --max-model-len 0", "at least 1"),
        ("fit Qwen/Qwen3-8B --gpu H100 --max-model-len many", "valid int|as an integer"),
        ("fit Qwen/Qwen3-8B --gpu H100 --gpu-memory-utilization 1.5", "at most 1"),
        ("fit Qwen/Qwen3-8B --gpu H100 --gpu-memory-utilization nan", "at most 1"),
        ("fit Qwen/Qwen3-8B --gpu-memory-gib -80", "above 0"),
        ("fit Qwen/Qwen3-8B --gpu-memory-gib nan", "above 0"),
        ("fit Qwen/Qwen3-8B --gpu-memory-gib 1e9", "at most 4096"),
        ("fit Qwen/Qwen3-8B --gpu H100 --gpus-per-node 0", "at least 1"),
        ("fit Qwen/Qwen3-8B --gpu H100 --kv-cache-dtype fp9", "one of auto"),
        ("fit Qwen/Qwen3-8B --gpu H100 --weights-dtype fp9", "one of fp32"),
        ("fit Qwen/Qwen3-8B --gpu H100 --vllm-version latest", "no vLLM version"),
        ("fit Qwen/Qwen3-8B --gpu H100 --max-num-seqs -1", "at least 1"),
        ("fit Qwen/Qwen3-8B --gpu H100 --draft-layers -1", "0 or more"),
        ("fit Qwen/Qwen3-8B --gpu H100 --request-tokens 0", "at least 1"),
        ("fit /none/config.json --gpu H100", "cannot read"),
        ("plan Qwen/Qwen3-8B --requests-per-second 0 --input-tokens 10 --output-tokens 10", "above 0"),
        ("plan Qwen/Qwen3-8B --requests-per-second inf --input-tokens 10 --output-tokens 10", "above 0"),
        ("plan Qwen/Qwen3-8B --requests-per-second 1 --input-tokens -5 --output-tokens 10", "above 0"),
        ("plan Qwen/Qwen3-8B --requests-per-second 1 --input-tokens 10 --output-tokens 10 --itl 0", "above 0"),
        ("check-logs /none.csv", "cannot read"),
        ("fit Qwen/Qwen3-8B --no-such-option", "No such option"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(command: str, said: str) -> None:
    result = run(command, "--json")
    assert result.exit_code == 2
    assert re.search(said, " ".join(result.stderr.replace("│", " ").split()))
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "a JSON object is needed"),
        ("{}", "has no num_hidden_layers"),
        ('{"num_hidden_layers": "many"}', "a whole number is needed"),
        ('{"num_hidden_layers": -3}', "can't be negative"),
        ('{"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}', "max_position_embeddings"),
        (
            '{"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 64, '
            '"vocab_size": 9, "quantization_config": {"quant_method": "magic"}}',
            "quant_method 'magic' is not known",
        ),
    ],
)
def test_a_bad_config_json(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(content, encoding="utf-8")
    result = run(f"fit {path} --gpu H100")
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_plan_names_bounds_estimates_and_dated_prices() -> None:
    found = answer(
        "plan Llama-3.1-70B --requests-per-second 5 --input-tokens 1000 --output-tokens 300 --ttft 1 --itl 0.05"
    )
    assert found["options"]
    hourly = [
        min(cost["usd_per_hour"] for cost in option["costs"] if cost["kind"] != "savings-plan-3y")
        for option in found["options"]
    ]
    assert hourly == sorted(hourly)
    for option in found["options"]:
        assert option["estimated_itl_seconds"] <= 0.05
        assert option["estimated_ttft_seconds"] <= 1
        assert option["bound_requests_per_second_per_replica"] >= option["estimated_requests_per_second_per_replica"]
        assert all(cost["price_date"] for cost in option["costs"])
    assert any("H200" in line for line in found["assumptions"])


def test_an_impossible_plan_says_so() -> None:
    result = run(
        "plan Llama-3.1-405B --requests-per-second 1 --input-tokens 1000 --output-tokens 10 --itl 0.001",
        "--json",
    )
    assert result.exit_code == 1
    assert json.loads(result.stdout)["options"] == []


@pytest.mark.parametrize(
    "command",
    [
        BLUEPRINT,
        "explain",
        f"check-logs {LOGS}",
        "plan Qwen/Qwen3-8B --requests-per-second 1 --input-tokens 100 --output-tokens 100",
    ],
)
def test_tables_are_printed_without_json(command: str) -> None:
    result = run(command)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) > 5


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sizing", "fit", "Qwen/Qwen3-8B", "--gpu", "H100", "--max-model-len", "8192", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["fits"] is True
    assert done.stderr == ""


def test_help_states_the_exit_codes() -> None:
    assert "Exit code 0: fits, 1: does not fit, 2: bad input" in " ".join(
        run("fit --help").stdout.replace("│", " ").split()
    )

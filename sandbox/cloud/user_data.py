"""What a launch template's user data tells nodeadm, the program that sets a node up on EKS's AL2023 images.

Format: MIME parts of type ``application/node.eks.aws`` with a NodeConfig in YAML, or one bare NodeConfig; later parts
win (nodeadm's documentation; facts/aws.md 3.4).
"""

from __future__ import annotations

import ast
import base64
import binascii
import email
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.cloud.errors import AwsError

NODE_CONFIG_TYPE = "application/node.eks.aws"


@dataclass(frozen=True)
class NodeConfig:
    """The settings that count for what a node offers: local disks as one RAID0, and the kubelet's limit of pods."""

    raid0: bool = False
    maximum_pods: int | None = None
    maximum_pods_expression: str | None = None


def node_config(user_data: str | None) -> NodeConfig:
    """The NodeConfig in a template's user data (base64), or the defaults where there is none.

    Raises:
        AwsError: it is no base64, or the YAML in it is broken; nodes would not start.
    """
    spec: dict[str, Any] = {}
    for document in _documents(user_data or ""):
        spec = _merged(spec, document.get("spec") or {})
    storage = (spec.get("instance") or {}).get("localStorage") or {}
    kubelet = spec.get("kubelet") or {}
    return NodeConfig(
        raid0=storage.get("strategy") == "RAID0",
        maximum_pods=(kubelet.get("config") or {}).get("maxPods"),
        maximum_pods_expression=kubelet.get("maxPodsExpression"),
    )


def evaluate_maximum_pods(expression: str, variables: Mapping[str, int]) -> int:
    """The value of a ``maxPodsExpression``: whole numbers, ``+ - * /``, parentheses and nodeadm's variables.

    Raises:
        AwsError: the expression has anything else in it.
    """
    try:
        return _evaluate(ast.parse(expression, mode="eval").body, variables)
    except (SyntaxError, KeyError, ZeroDivisionError) as error:
        allowed = ", ".join(sorted(variables))
        raise AwsError(
            "NodeCreationFailure",
            f"nodeadm can't evaluate maxPodsExpression {expression!r} ({error}); it knows {allowed}.",
        ) from None


_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


def _evaluate(node: ast.expr, variables: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return variables[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, variables), _evaluate(node.right, variables))
    raise SyntaxError(f"{ast.unparse(node)} is not allowed")


def _documents(user_data: str) -> list[dict[str, Any]]:
    if not user_data:
        return []
    try:
        text = base64.b64decode(user_data, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from None
    if text.lstrip().lower().startswith(("mime-version", "content-type")):
        message = email.message_from_string(text.lstrip())
        parts = [part for part in message.walk() if part.get_content_type() == NODE_CONFIG_TYPE]
        texts = [part.get_payload(decode=True) for part in parts]
        bodies = [body.decode("utf-8") if isinstance(body, bytes) else str(body) for body in texts]
    else:
        bodies = [text] if "kind: NodeConfig" in text else []
    try:
        found = [yaml.safe_load(body) for body in bodies]
    except yaml.YAMLError as error:
        raise AwsError("NodeCreationFailure", f"nodeadm can't read the NodeConfig in the user data: {error}") from None
    return [document for document in found if isinstance(document, dict)]


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(first)
    for key, value in second.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result

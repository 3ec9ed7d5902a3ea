"""A whole command line in the first entry of a command."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.model import AdmissionRule
from policies.rules.exec_command_single_string import ARGUMENT_LINE, COMMAND_LINE
from policies.rules.exec_command_single_string import RULE as PACK_RULE


def _is_line(key: str, expression: str) -> str:
    return f"string(c.body.{key}[0]).trim().matches({pattern(f'(?s)^(?:{expression})')})"


_HAS_COMMAND = "c.body.?command.orValue([]).size() > 0"
_HAS_ARGUMENTS = "c.body.?args.orValue([]).size() > 0"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.all_containers.filter(c, {_HAS_COMMAND} ? {_is_line("command", COMMAND_LINE.pattern)} :
  c.is_vllm && {_HAS_ARGUMENTS} && {_is_line("args", ARGUMENT_LINE.pattern)}).map(c,
  'container ' + c.name + ' has a whole command line in one entry, and no shell splits it: it can not start. Write one '
  + 'entry a word, or ["sh", "-c", "exec ..."].')
""",
)

"""$NAME in a variable or an argument that no shell reads."""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, pattern
from policies.admission.containers import SHELL
from policies.admission.model import AdmissionRule
from policies.rules.env_literal_shell_var import RULE as PACK_RULE

_NAME = r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?$"
_IS_LITERAL = f"string(e.?value.orValue(dyn(''))).trim().matches({pattern('^' + _NAME)})"
_ARGUMENT = f"c.text.split('{SEPARATOR}').exists(w, w.matches({pattern('^(?:[^=]*=)?' + _NAME)}))"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.containers.filter(c, c.is_vllm && c.env.exists(e, {_IS_LITERAL})).map(c,
  c.env.filter(e, {_IS_LITERAL}).map(e, e.name).join(', ') + ' of container ' + c.name
  + ' is literal text: Kubernetes expands $(NAME) only. Write that, a secretKeyRef, or the value.')
+ variables.containers.filter(c, c.is_vllm && !c.text.matches({pattern(SHELL)}) && {_ARGUMENT}).map(c,
  'an argument of container ' + c.name + ' is literal text, and no shell reads it. Write $(NAME).')
""",
)

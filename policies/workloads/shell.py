"""Reads the simple commands out of a ``sh -c`` text, as far as the manifest alone decides them.

Quotes, comments, line continuations, ``;``, ``&&``, pipes, ``if``/``for`` blocks, assignments, ``export``, arrays,
``$NAME`` and ``${NAME:-default}`` are followed; ``$@`` gives the arguments after the text. What only the running
shell knows (``$(command)``, ``${NAME##pattern}``, a variable nobody sets) becomes ``UNRESOLVED``, so a reader can
tell "no such flag" from "can't be seen". A variable set again under a condition keeps its first value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

UNRESOLVED = "\ue000"
"""Stands in a word for a part that the manifest does not decide (a private-use character: no manifest holds it)."""

_SEPARATORS = {";", "&", "|", "\n", "(", ")"}
_PREFIXES = {"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "exec", "nohup", "command", "eval"}
_BLOCK_OPENERS = {"if", "case", "for", "while", "until"}
_BLOCK_CLOSERS = {"fi", "esac", "done"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=(.*)", re.DOTALL)
_DEFAULT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[@*0-9])(:?[-=+?])(.*)", re.DOTALL)
_ARRAY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[[@*]\]")
_HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")


@dataclass
class Command:
    """One simple command: its words and the assignments that hold when it runs."""

    words: list[str]
    environment: dict[str, str]


@dataclass
class _Word:
    """A word while it is read: text, and where unquoted expansions split it."""

    fields: list[str] = field(default_factory=lambda: [""])
    present: bool = False
    """Whether the word exists even when empty (a quote was seen)."""

    def add(self, text: str) -> None:
        self.fields[-1] += text
        self.present = self.present or bool(text)

    def add_split(self, text: str) -> None:
        pieces = text.split()
        if not pieces:
            return
        if text[0].isspace() and self.fields[-1]:
            self.fields.append("")
        self.add(pieces[0])
        self.fields += pieces[1:]
        if text[-1].isspace():
            self.fields.append("")

    def add_list(self, items: list[str]) -> None:
        if items:
            self.add(items[0])
            self.fields += items[1:]
            self.present = True

    def result(self) -> list[str]:
        words = [text for text in self.fields if text]
        return words or ([""] if self.present else [])


class _Reader:
    def __init__(self, script: str, environment: Mapping[str, str], arguments: list[str]) -> None:
        self.text = _without_here_documents(script.replace("\\\r\n", "\\\n"))
        self.at = 0
        self.variables: dict[str, str] = dict(environment)
        self.arrays: dict[str, list[str]] = {}
        self.arguments = arguments
        self.commands: list[Command] = []
        self.depth = 0
        self.conditional = False
        self.assigned: set[str] = set()

    # Reading words -------------------------------------------------------------------------------------------------

    def read(self) -> list[Command]:
        words: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r":
                self.at += 1
            elif character == "#":
                self._skip_to("\n")
            elif character in _SEPARATORS:
                operator = self._operator()
                self._finish(words)
                words = []
                self.conditional = operator in ("&&", "||")
            elif character in "<>":
                self._redirection()
            else:
                words += self._word(words)
        self._finish(words)
        return self.commands

    def _skip_to(self, end: str) -> None:
        found = self.text.find(end, self.at)
        self.at = len(self.text) if found < 0 else found

    def _operator(self) -> str:
        two = self.text[self.at : self.at + 2]
        operator = two if two in ("&&", "||", ";;", "|&") else self.text[self.at]
        self.at += len(operator)
        return operator

    def _redirection(self) -> None:
        """Skip ``>``, ``>>``, ``>&``, ``<`` and the target."""
        while self.at < len(self.text) and self.text[self.at] in "<>&|":
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] not in _SEPARATORS:
            self._word([])

    def _word(self, before: list[str]) -> list[str]:
        start = self.at
        word = _Word()
        # The right side of an assignment is not split, but only before the command's own words.
        is_assignment = all(_ASSIGNMENT.fullmatch(item) or item == "export" for item in before)
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r" or character in _SEPARATORS or character in "<>":
                if character in "<>" and self.text[start : self.at].isdigit():
                    return []  # the descriptor of a redirection: 2>&1
                if character == "(" and is_assignment and self.text[start : self.at].endswith("="):
                    return self._array(self.text[start : self.at].rstrip("+="))
                break
            unsplit = is_assignment and "=" in self.text[start : self.at]
            self._piece(word, quoted=unsplit)
        return word.result()

    def _piece(self, word: _Word, *, quoted: bool) -> None:
        character = self.text[self.at]
        if character == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following != "\n":
                word.add(following)
            self.at += 2
        elif character == "'":
            end = self.text.find("'", self.at + 1)
            end = len(self.text) if end < 0 else end
            word.add(self.text[self.at + 1 : end])
            word.present = True
            self.at = end + 1
        elif character == '"':
            self._double_quoted(word)
        elif character in "$`":
            self._expansion(word, quoted=quoted)
        else:
            word.add(character)
            self.at += 1

    def _double_quoted(self, word: _Word) -> None:
        self.at += 1
        word.present = True
        while self.at < len(self.text) and self.text[self.at] != '"':
            character = self.text[self.at]
            if character == "\\" and self.text[self.at + 1 : self.at + 2] in ("\\", '"', "$", "`", "\n"):
                following = self.text[self.at + 1]
                word.add("" if following == "\n" else following)
                self.at += 2
            elif character in "$`":
                self._expansion(word, quoted=True)
            else:
                word.add(character)
                self.at += 1
        self.at += 1

    def _array(self, name: str) -> list[str]:
        """``NAME=( words )``."""
        self.at += 1
        words: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            character = self.text[self.at]
            if character in " \t\r\n;&|(":
                self.at += 1
            elif character == "#":
                self._skip_to("\n")
            elif character in "<>":
                self._redirection()
            else:
                words += self._word(["array"])
        self.at += 1
        self.arrays[name] = [*self.arrays.get(name, []), *words]
        return []

    # Expansions ----------------------------------------------------------------------------------------------------

    def _expansion(self, word: _Word, *, quoted: bool) -> None:
        rest = self.text[self.at : self.at + 2]
        if self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            self.at = len(self.text) if end < 0 else end + 1
            word.add(UNRESOLVED)
        elif rest == "$(":
            self._skip_parentheses()
            word.add(UNRESOLVED)
        elif rest == "${":
            self._braces(word, quoted=quoted)
        elif rest[1:] in ("@", "*"):
            self.at += 2
            word.add_list(self.arguments[1:])
        elif rest[1:].isdigit():
            self.at += 2
            position = int(rest[1:])
            word.add(self.arguments[position] if position < len(self.arguments) else "")
        elif match := _NAME.match(self.text, self.at + 1):
            self.at = match.end()
            self._value(word, match.group(), quoted=quoted)
        else:
            word.add(UNRESOLVED if rest[1:] in ("?", "$", "!", "#") else "$")
            self.at += 2 if rest[1:] in ("?", "$", "!", "#") else 1

    def _skip_parentheses(self) -> None:
        depth = 0
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == "(":
                depth += 1
            elif character == ")":
                depth -= 1
                if depth == 0:
                    return

    def _braces(self, word: _Word, *, quoted: bool) -> None:
        end, depth = self.at + 2, 1
        while end < len(self.text) and depth:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        inner = self.text[self.at + 2 : end - 1]
        self.at = end
        if match := _ARRAY.fullmatch(inner):
            name = match.group(1)
            word.add_list(self.arrays.get(name, [])) if name in self.arrays else word.add(UNRESOLVED)
        elif _NAME.fullmatch(inner):
            self._value(word, inner, quoted=quoted)
        elif inner in ("@", "*"):
            word.add_list(self.arguments[1:])
        elif (match := _DEFAULT.fullmatch(inner)) and match.group(2) in ("-", ":-", "=", ":="):
            name, default = match.group(1), match.group(3).strip("\"'")
            resolved = self.variables.get(name, "")
            text = resolved or (UNRESOLVED if "$" in default or "`" in default else default)
            word.add(text) if quoted else word.add_split(text)
        else:
            word.add(UNRESOLVED)

    def _value(self, word: _Word, name: str, *, quoted: bool) -> None:
        if name in self.arrays:
            word.add((self.arrays[name] or [""])[0])
            return
        value = self.variables.get(name, UNRESOLVED)
        word.add(value) if quoted else word.add_split(value)

    # Commands ------------------------------------------------------------------------------------------------------

    def _finish(self, words: list[str]) -> None:
        while words and words[0] in _PREFIXES | _BLOCK_OPENERS | _BLOCK_CLOSERS:
            self.depth += (words[0] in _BLOCK_OPENERS) - (words[0] in _BLOCK_CLOSERS)
            words = words[1:]
        is_export = bool(words) and words[0] in ("export", "env", "declare", "local", "readonly")
        rest = words[1:] if is_export else words
        own: dict[str, str] = {}
        while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
            name, plus, value = match.groups()
            own[name] = self.variables.get(name, "") + value if plus else value
            rest = rest[1:]
        if rest and not (is_export and words[0] != "env"):
            self.commands.append(Command(rest, self.variables | own))
        else:
            self._assign(own)

    def _assign(self, values: Mapping[str, str]) -> None:
        uncertain = self.conditional or self.depth > 0
        for name, value in values.items():
            if uncertain and name in self.assigned:
                continue
            self.assigned.add(name)
            self.variables[name] = value


def _without_here_documents(script: str) -> str:
    """The text without the bodies of here-documents: they are some program's input, not commands."""
    lines, kept = script.split("\n"), []
    delimiter: str | None = None
    for line in lines:
        if delimiter is not None:
            if line.strip() == delimiter:
                delimiter = None
            continue
        match = _HERE_DOCUMENT.search(line)
        if match and "<<<" not in line:
            delimiter = match.group(2)
            kept.append(line[: match.start()] + line[match.end() :])
        else:
            kept.append(line)
    return "\n".join(kept)


def simple_commands(
    script: str, environment: Mapping[str, str] | None = None, arguments: list[str] | None = None
) -> list[Command]:
    """The simple commands of a shell text in their order; of every branch, since nobody knows which one runs.

    ``environment`` is the container's; ``arguments`` are ``$0``, ``$1``, …: what follows the text in ``sh -c TEXT …``.
    """
    return _Reader(script, environment or {}, arguments or []).read()

"""Items of the papers are cited for those who read the code; what users see does not name them by code."""

import ast
import re
from pathlib import Path

import pytest
import typer.main

import punctuated
from punctuated.cli import app

CODE = re.compile(r"\b(PW|PJ|KN|WJ|XD)-\d")
SOURCE = Path(punctuated.__file__).parent


def texts(tree: ast.Module) -> list[str]:
    """All strings of a module but its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return [node.value for node in found if isinstance(node.value, str)]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_text_of_the_program_names_an_item(path: Path) -> None:
    assert [text for text in texts(ast.parse(path.read_text())) if CODE.search(text)] == []


def test_docstrings_are_told_from_texts() -> None:
    assert texts(ast.parse('"""PW-01"""\ndef f():\n    """PW-02"""\n    return "PW-03"')) == ["PW-03"]


def test_no_help_of_a_command_names_an_item() -> None:
    commands = [typer.main.get_command(app)]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
        shown = [command.help or "", *(getattr(each, "help", None) or "" for each in command.params)]
        assert [text for text in shown if CODE.search(text)] == []
    assert len(commands) > 10

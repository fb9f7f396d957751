"""Lessons, which are notebooks: runs their cells without Jupyter, and writes the outputs into them.

A notebook is JSON that a reader finds on the web with its figures. Its cells here are plain Python, without magic: the
tests need neither a kernel nor Jupyter. ``python tests/lessons.py docs/lessons/*.ipynb`` writes outputs anew.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]


def read(path: Path) -> Notebook:
    """A notebook as it is in its file."""
    notebook: Notebook = json.loads(path.read_text("utf-8"))
    return notebook


def run(notebook: Notebook) -> Notebook:
    """The notebook with what its cells show when they run in the current folder, one after the other.

    Raises:
        Exception: What a cell raises; a number of the text that has drifted is an `AssertionError`.
    """
    namespace: dict[str, Any] = {"__name__": "lesson"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = {**cell, "execution_count": count, "outputs": _run("".join(cell["source"]), namespace, count)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _run(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Printed text of a cell, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        shown = {"execution_count": count, "metadata": {}, "output_type": "execute_result"}
        outputs.append({"data": _data(value), **shown})
    return outputs


def _data(value: Any) -> dict[str, Any]:
    """A value in the forms that a page shows: a picture, a table, or text."""
    if hasattr(value, "_repr_png_"):
        return {"image/png": base64.b64encode(value._repr_png_()).decode(), "text/plain": ["a figure"]}
    if hasattr(value, "_repr_html_"):
        return {"text/html": value._repr_html_().splitlines(True), "text/plain": ["a table"]}
    return {"text/plain": repr(value).splitlines(True)}


def words(notebook: Notebook) -> list[Any]:
    """Outputs of the cells without pictures: their bytes depend on the version of matplotlib."""
    shown = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output.get("text") or {**output["data"], "image/png": None} for output in shown]


def _main(paths: list[str]) -> None:
    for path in map(Path, paths):
        here, file = Path.cwd(), path.resolve()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            shown = run(read(file))
            os.chdir(here)
        file.write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    _main(sys.argv[1:])

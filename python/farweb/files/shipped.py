"""Files that come with farweb: the examples and the studies, of the source tree or of the package that is installed."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def shipped(name: str) -> Path:
    """The folder `examples` or `papers` that comes with farweb.

    In the source tree if the package lies in one. A wheel has both in the package, except the pictures.
    """
    tree = _PACKAGE.parents[1]
    return tree / name if (tree / "pyproject.toml").is_file() else _PACKAGE / name

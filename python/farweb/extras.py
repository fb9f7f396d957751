"""Optional packages: which extra installs each, and a check that they are there."""

from importlib.util import find_spec

from farweb.errors import FarwebError

_EXTRAS = {
    "distributed": ("Dask", "cluster"),
    "fsspec": ("fsspec", "sweep"),
    "loky": ("loky", "sweep"),
    "psutil": ("psutil", "sweep"),
    "scipy": ("SciPy", "sweep"),
}

SWEEP = ("fcntl", "loky", "fsspec", "psutil", "scipy")
"""Modules that a sweep needs."""

CLUSTER = ("distributed",)
"""Modules that a sweep on the workers of a scheduler needs besides."""


def require(what: str, *modules: str) -> None:
    """Ask for modules before any work begins.

    Raises:
        FarwebError: One is not installed. The message says how to install it.
    """
    for module in modules:
        if find_spec(module) is None:
            raise FarwebError(f"{what} needs {how_to_install(module)}")


def how_to_install(module: str) -> str | None:
    """The package of a module and how to install it, in words, or None when no extra brings it."""
    if module == "fcntl":  # locks of files
        return "Linux, macOS or, on Windows, WSL"
    if (found := _EXTRAS.get(module.partition(".")[0])) is None:
        return None
    package, extra = found
    return f'{package}: pip install "farweb[{extra}]"'

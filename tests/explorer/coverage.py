"""Keys and words of the scenario format: all that its schema offers, and the ones a case uses."""

from collections.abc import Iterator
from itertools import product
from typing import Any

# Tables with the same keys as another: which end, direction or stretch has a value is no other thing to say.
ALIKE = {"client", "server", "from", "to", "up", "down", "split"}


def offered(schema: dict[str, Any]) -> set[str]:
    """Every key of the format, and every word and truth value that one may have."""
    return set(_offered(schema, schema["$defs"], ""))


def occurring(scenario: Any, path: str = "") -> Iterator[str]:
    """The keys of a scenario, and its words and truth values."""
    match scenario:
        case dict():
            # A kind tells tables apart, or is a word among their keys.
            paths = [path, f"{path}[{scenario['kind']}]"] if "kind" in scenario else [path]
            for of, (key, value) in product(paths, scenario.items()):
                yield _key(of, key)
                yield from occurring(value, _key(of, key))
        case list():
            for entry in scenario:
                yield from occurring(entry, path)
        case str():
            yield f"{path} = {scenario}"
        case bool():
            yield f"{path} = {str(scenario).lower()}"


def _offered(part: dict[str, Any], kinds: dict[str, Any], path: str) -> Iterator[str]:
    if "$ref" in part:
        yield from _offered(kinds[part["$ref"].rsplit("/", 1)[1]], kinds, path)
    for choice in (*part.get("oneOf", []), *part.get("anyOf", []), *part.get("allOf", [])):
        yield from _offered(choice, kinds, path)
    if "const" in part:
        yield f"{path} = {part['const']}"
    for word in (*part.get("enum", []), *part.get("x-words", [])):
        yield f"{path} = {word}"
    if part.get("type") == "boolean":
        yield from (f"{path} = true", f"{path} = false")
    if "items" in part:
        yield from _offered(part["items"], kinds, path)
    properties = part.get("properties", {})
    kind = f"[{properties['kind']['const']}]" if "const" in properties.get("kind", {}) else ""
    for key, value in properties.items():
        yield _key(path + kind, key)
        if key != "kind" or not kind:
            yield from _offered(value, kinds, _key(path + kind, key))


def _key(path: str, key: str) -> str:
    if key in ALIKE:
        return path
    return f"{path}.{key}" if path else key

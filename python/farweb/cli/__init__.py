"""The command `farweb`: finds the verb, runs it, and turns its errors into messages and exit codes.

The file of a verb is imported when it is called. A verb imports its own needs in its body.

Exit codes: 0 done, 2 usage or scenario error, 3 a run failed or answered nothing, 4 a target or a claim not met, 130
interrupted.
"""

import importlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence

from farweb.cli.failure import check_names, ended_by
from farweb.cli.streams import open_standard_streams
from farweb.cli.verbs import HELP, UsageError, Verb
from farweb.text.words import nearest, visible

VERBS = {
    "demo": "demo",
    "new": "new",
    "check": "runs",
    "run": "runs",
    "sweep": "sweeps",
    "size": "size",
    "page": "page",
    "what-if": "what_if",
    "studio": "studio",
    "show": "runs",
    "compare": "compare",
    "plot": "figures",
    "report": "report",
    "sql": "sql",
    "verify": "verify",
    "reproduce": "reproduce",
    "export pcapng": "export",
    "export xpl": "export",
    "export har": "export",
    "workload import": "workload",
    "workload stats": "workload",
    "workload cache": "cache",
    "workload fit": "workload",
    "workload generate": "workload",
    "workload path": "workload",
    "workload merge": "merge",
    "workload probe": "probe",
    "schema scenario": "schema",
    "schema results": "schema",
    "schema requests": "schema",
}  # of `farweb.cli`, by verb, in the order of the help
_GROUPS = {
    "workload": "Make and examine request and host tables, and files of links.",
    "export": "Write recorded packets, and loads of pages, for other programs.",
    "schema": "Describe scenarios and tables.",
}
_NEAR = 0.75  # of the letters of a verb in a group that are right. Chosen: one of four may be wrong


def load(name: str) -> Verb:
    """The verb of a name, such as ``workload cache``: what its last word is in its file."""
    file = importlib.import_module(f"{__name__}.{VERBS[name]}")
    called = name.rpartition(" ")[2].replace("-", "_")
    found: Verb = getattr(file, called if hasattr(file, called) else f"{called}_")
    return found


def main(arguments: Sequence[str]) -> int:
    """Run the command with `arguments` (without the program's name) and return its exit code."""
    logging.getLogger("farweb").setLevel(logging.DEBUG if "--debug" in arguments else logging.NOTSET)
    try:
        check_names(arguments)
        code = _run(list(arguments))
        sys.stdout.flush()
    except BaseException as error:
        if "--debug" in arguments and not isinstance(error, UsageError | SystemExit):
            traceback.print_exc()
        return _fail(*ended_by(error, arguments))
    return code if isinstance(code, int) else 0


def _run(arguments: list[str]) -> int | None:
    if os.environ.get("_FARWEB_COMPLETE"):
        from farweb.cli.completion import complete

        return complete(VERBS, load)
    for length in (1, 2):
        name = " ".join(arguments[:length])
        if name in VERBS:
            return load(name).run(f"farweb {name}", arguments[length:])
    return _alone(arguments)


def _alone(arguments: list[str]) -> int:
    """The answer to a command without a verb: a help, the version, completion, or what may have been meant."""
    from farweb.cli.screen import PURPOSES, show_group

    word, *more = arguments or [HELP[0]]
    if word in _GROUPS and (not more or set(more) & set(HELP)):
        words = {name.split()[1]: load(name).command.__doc__ or "" for name in VERBS if name.startswith(f"{word} ")}
        show_group(f"farweb {word}", _GROUPS[word], words)
        return 0
    if word in HELP:
        said = PURPOSES
    elif word == "--version":
        from farweb import __version__

        said = f"farweb {__version__}\n"
    elif word.partition("=")[0] in ("--show-completion", "--install-completion"):
        from farweb.cli.completion import install, script

        shell = word.partition("=")[2] or "".join(more[:1])
        said = script(shell) if word.startswith("--show") else f"wrote {install(shell)}; new shells complete farweb\n"
    else:
        raise UsageError(_unknown(word, more))
    sys.stdout.write(said)
    return 0


def _unknown(word: str, more: list[str]) -> str:
    """A hint beside a word that is no verb."""
    from farweb import _core

    if word.startswith("-"):
        return f"No such option: {word} (see farweb --help)"
    within = {name.split()[1]: f"farweb {name}" for name in VERBS if " " in name}
    if word in _GROUPS:
        near, said = nearest(more[0], [each for each in within if f"{word} {each}" in VERBS]), None
    else:
        said = _core.absent(word)
        near = within.get(word) or nearest(word, {name.split()[0] for name in VERBS})
        near = near or within.get(nearest(word, within, _NEAR), "")
    asked, place = (more[0], f"farweb {word}") if word in _GROUPS else (word, "farweb")
    meant = f": {said}" if said else f". Did you mean '{near}'?" if near else "."
    return f"No such command '{asked}'{meant} (see {place} --help)"


def script() -> None:
    """Run the command of this process and end it, for `farweb.__main__`."""
    open_standard_streams()
    sys.exit(main(sys.argv[1:]))


def _fail(message: str, code: int) -> int:
    # Several problems are lines of their own, which begin with the place in the file.
    shown = visible(message)
    sys.stderr.write(f"{shown}\n" if "\n" in shown else f"farweb: {shown}\n")
    return code

"""Completion of words by a shell, which runs the command with the line so far in its environment."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.errors import FarwebError

if TYPE_CHECKING:
    from farweb.cli.verbs import Verb

_BASH = """\
_farweb() {
    local IFS=$'\\n'
    COMPREPLY=($(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD _FARWEB_COMPLETE=complete_bash "$1"))
}
complete -o default -F _farweb farweb
"""
_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName farweb -ScriptBlock {
    param($word, $line)
    $Env:COMP_WORDS = if ($word) { "$line" } else { "$line " }
    $Env:_FARWEB_COMPLETE = "complete_powershell"
    farweb
    $Env:_FARWEB_COMPLETE = ""
}
"""
_SCRIPTS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": "complete -c farweb -a '(env _FARWEB_COMPLETE=complete_fish COMP_WORDS=(commandline -cp) farweb)'\n",
    "powershell": _POWERSHELL,
    "pwsh": _POWERSHELL,
}
_STARTS = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}  # in the home folder


def script(shell: str) -> str:
    """The script that makes a shell complete. An empty name: the user's shell.

    Raises:
        FarwebError: The shell is unknown.
    """
    return _SCRIPTS[_known(shell)]


def install(shell: str) -> Path:
    """Write the script of a shell, and make the shell read it when it starts. The file.

    Raises:
        FarwebError: The shell is unknown.
    """
    shell = _known(shell)
    if shell not in _STARTS:
        raise FarwebError(f"--install-completion {shell}: write what --show-completion {shell} prints into $PROFILE")
    file, start = Path.home() / f".config/farweb/completion.{shell}", Path.home() / _STARTS[shell]
    for each in (file, start):
        each.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_SCRIPTS[shell])
    line = f"source '{file}'\n"
    if line not in (begun := start.read_text() if start.is_file() else ""):
        start.write_text(f"{begun}\n{line}")
    return file


def _known(shell: str) -> str:
    name = shell or Path(os.environ.get("SHELL", "bash")).name
    if name not in _SCRIPTS:
        raise FarwebError(f"no completion for {name}; name one of {', '.join(_SCRIPTS)}")
    return name


def complete(verbs: Iterable[str], load: Callable[[str], "Verb"]) -> int:
    """Print what the last word of the line in the environment may become, one a line.

    Args:
        verbs: Names of all verbs, some of two words.
        load: Verb of a name.
    """
    line = os.environ.get("COMP_WORDS", "")
    words = line.split("\n" if "\n" in line else " ")[1:]
    *ahead, begun = words[: int(os.environ.get("COMP_CWORD") or len(words))] or [""]
    offered = (each for each in _offered(ahead, begun, list(verbs), load) if each.startswith(begun))
    sys.stdout.write("".join(f"{each}\n" for each in offered))
    return 0


def _offered(ahead: list[str], begun: str, verbs: list[str], load: Callable[[str], "Verb"]) -> Iterable[str]:
    """Words behind those ahead: of a verb, options behind a dash, and values where it knows them."""
    called = next((name for length in (1, 2) if (name := " ".join(ahead[:length])) in verbs), None)
    if called is None:
        names = [each.split() for each in verbs]
        return dict.fromkeys(each[len(ahead)] for each in names if each[: len(ahead)] == ahead)
    verb, ahead = load(called), ahead[called.count(" ") + 1 :]
    if ahead and (asked := [each for each in verb.options if ahead[-1] in each.names and each.kind is not bool]):
        return verb.completes.get(asked[0].name, tuple)()
    if begun.startswith("-"):
        return [name for each in verb.options for name in each.names]
    return (
        []
        if ahead
        else [word for each in verb.options if not each.names for word in verb.completes.get(each.name, tuple)()]
    )

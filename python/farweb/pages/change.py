"""Pages before and after a change, over the same ways: which loads sooner, how sure that is, and the screen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from farweb.errors import FarwebError
from farweb.judge.judgement import cell_of
from farweb.judge.verdicts import MARGIN, Word
from farweb.pages.answer import ALIKE, Cell, PageAnswer, how, in_words, low_high, proxy_name
from farweb.pages.breakdown import NAME, PageLoads
from farweb.pages.results import view_of
from farweb.text.sheet import Sheet, Shown
from farweb.text.words import called_apart, listed


@dataclass(frozen=True)
class Change:
    """A page against the first one over a way.

    Attributes:
        before: Load of the first one.
        after: Load of the other.
        name: What the other is called.
    """

    before: Cell
    after: Cell
    name: str

    @property
    def ratios(self) -> list[float]:
        """OnLoad of the other over that of the first, by reading of the files and seed."""
        return [there / here for here, there in zip(self.before.readings_s, self.after.readings_s, strict=True)]

    @property
    def share(self) -> float:
        """The change of onLoad by the likely reading, over the first one's."""
        return self.after.load_s / self.before.load_s - 1

    @property
    def word(self) -> Word:
        """The judgement: a side where all readings are on it, by more than what ties."""
        low, high = min(self.ratios), max(self.ratios)
        if low >= 1 / ALIKE and high <= ALIKE:
            return "equivalent"
        if high < 1 / ALIKE:
            return "slightly better" if self.share > -MARGIN else "better"
        if low > ALIKE:
            return "slightly worse" if self.share < MARGIN else "worse"
        return "cannot be told apart"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON: shares of the first one's onLoad, less is negative."""
        return {
            "after": self.name,
            **self.before.way.names,
            "before_s": self.before.load_s,
            "after_s": self.after.load_s,
            "change": self.share,
            "low": min(self.ratios) - 1,
            "high": max(self.ratios) - 1,
            "verdict": self.word,
        }


@dataclass(frozen=True)
class PageChange(Shown):
    """Pages over the same ways, compared with the first.

    Attributes:
        answers: The pages.
        names: What each is called.
        changes: Each of the others over each way, way by way.
        loads: The pages over the best way of the first on its slowest path.
    """

    answers: Sequence[PageAnswer]
    names: Sequence[str]
    changes: Sequence[Change]
    loads: PageLoads

    @classmethod
    def of(cls, answers: Sequence[PageAnswer]) -> "PageChange":
        """Compare pages with the first.

        Args:
            answers: Two pages or more, over the same ways.

        Raises:
            FarwebError: Their ways differ, or there are less than two.
            RunError: There is no place for temporary files.
        """
        ways = [[cell.way.names for cell in answer.cells] for answer in answers]
        if len(answers) < 2 or any(each != ways[0] for each in ways):
            raise FarwebError("pages are compared over the same paths, protocols and proxies, and two of them at least")
        names = _names(answers)
        others = list(zip(names, answers, strict=True))[1:]
        changes = [
            Change(before, answer.cells[place], name)
            for place, before in enumerate(answers[0].cells)
            for name, answer in others
        ]
        place = answers[0].cells.index(answers[0].best)
        cells = [answer.cells[place] for answer in answers]
        views = [
            view_of(answer.recording, cell.way, cell.loaded, cell.seed)
            for answer, cell in zip(answers, cells, strict=True)
        ]
        return cls(answers, names, changes, PageLoads(names, views))

    @property
    def text(self) -> str:
        """Which page loads sooner over the slowest path, and where the verdict differs."""
        best = self.answers[0].best
        over = f"Over {best.way.over} with {how(best.way)}"
        said = f"{over} {self.loads.text}"
        if len(self.answers) > 2:
            return said
        (there,) = (each for each in self.changes if each.before is best)
        if there.word == "cannot be told apart":
            said = f"{over} it is open whether {self.names[1]} is faster than {self.names[0]}."
        return " ".join((said, *self._elsewhere(there)))

    def _elsewhere(self, there: Change) -> Iterator[str]:
        """A sentence on ways with another verdict: by protocol and proxies where these decide it, else counted."""
        words = {each.word for each in self.changes}
        by_how = {how(each.before.way): each.word for each in self.changes}
        if any(by_how[how(each.before.way)] != each.word for each in self.changes):
            (most, ways), *rest = Counter(cell_of(each.word) for each in self.changes).most_common()
            said = (
                f"{most.capitalize()} in {ways} of {len(self.changes)} ways",
                *(f"{word} in {n}" for word, n in rest),
            )
            yield f"{', '.join(said)}."
        elif others := sorted(words - {there.word}):
            names = {word: " and ".join(name for name, of in by_how.items() if of == word) for word in others}
            yield f"It is {listed([f'{cell_of(word)} with {names[word]}' for word in others])}."

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {**self.loads.to_dict(), "text": self.text, "compared": [each.to_dict() for each in self.changes]}

    def _parts(self) -> Iterator[Sheet | str]:
        """The verdict, the pages, their loads over each way, the parts of one way, and conclusions."""
        yield self.text
        if self.loads.tls:
            yield self.loads.tls
        names = called_apart(self.names, NAME)
        for name, answer in zip(names, self.answers, strict=True):
            yield f"{name}: {answer.recorded}"
        yield ""
        yield self._sheet()
        yield ""
        yield from self.loads.table()
        is_open = any(each.word == "cannot be told apart" for each in self.changes)
        ends = low_high([cell for answer in self.answers for cell in answer.cells])
        yield f"{ends} open: the readings disagree." if is_open else ends
        for name, answer in zip(names, self.answers, strict=True):
            for each in answer.recording.reservations:
                yield f"{name}: {each}"

    def _sheet(self) -> Sheet:
        is_one = len(self.names) == 2
        called = dict(zip(self.names, called_apart(self.names, NAME), strict=True))
        first, *others = called.values()
        others = others if is_one else ["", "after"]
        header = ("onLoad in s", "", "", *others[:-1], first, others[-1], "change", "")
        rows = []
        shown = ("", "")
        for each in self.changes:
            way = each.before.way
            path, proxy = way.over, proxy_name(way.proxy)
            named = "" if path == shown[0] else path, "" if (path, proxy) == shown else proxy, way.protocol
            shown = (path, proxy)
            change = f"{round(100 * each.share) or 0:+d} %".replace("-", "−").replace("+0", "0")
            name = () if is_one else (called[each.name],)
            rows.append((*named, *name, in_words(each.before), in_words(each.after), change, cell_of(each.word)))
        return Sheet("", header, rows, names=3 + (not is_one))


def _names(answers: Sequence[PageAnswer]) -> list[str]:
    """File names, with a number where they are equal."""
    files = [answer.recording.file for answer in answers]
    return files if len(set(files)) == len(files) else [f"{file} ({n})" for n, file in enumerate(files, 1)]

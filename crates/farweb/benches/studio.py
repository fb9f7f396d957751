"""Measure the studio: how soon it opens in Chromium, how soon a slider has its picture, and hops a second in Node.

    make bench-studio

Times are of a quiet machine: anything beside it doubles them.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from farweb import Scenario, _core
from farweb.inputs.prepared import Prepared
from farweb.studio import built
from farweb.text import toml

ROOT = Path(__file__).parents[3]
MOVES, WARM = 30, 10
"""Movements of a slider, and those before the median counts."""
GLIDES, PAUSE_MS = 60, 16
"""Movements without waiting, and the time between two."""
REQUESTS = 15_000
"""Requests of the long run."""
ROUNDS = 5
EVENTS = 40_000

OPENED = "() => Number(performance.now().toFixed(1))"
SETTLED = 'document.querySelector("main").ariaBusy === "false"'
MOVED = """async position => {
    const slider = document.getElementById("delay"), main = document.querySelector("main"), began = performance.now();
    const settled = new Promise(done => {
        const look = (_, observer) => { if (main.ariaBusy === "false") { observer.disconnect(); done(); } };
        new MutationObserver(look).observe(main, { attributeFilter: ["aria-busy"] });
    });
    slider.value = position * slider.max;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await settled;
    await new Promise(go => requestAnimationFrame(go));
    return performance.now() - began;
}"""
GLIDED = """async ([from, count, pause]) => {
    const slider = document.getElementById("delay");
    const figures = () => document.querySelector("#figures tr.now").innerText;
    let before = figures(), results = 0, moves = true;
    const look = () => {
        if (figures() !== before) { before = figures(); results++; }
        if (moves) requestAnimationFrame(look);
    };
    look();
    for (let n = 0; n < count; n++) {
        slider.value = from * slider.max + n;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(go => setTimeout(go, pause));
    }
    moves = false;
    return results;
}"""
IN_NODE = """
import { readFileSync } from "node:fs";
const { initSync, Run, Tables } = await import(process.argv[1] + "/farweb_web.js");
initSync({ module: readFileSync(process.argv[1] + "/farweb_web_bg.wasm") });
const text = readFileSync(process.argv[2], "utf8");
for (let round = 0; round < Number(process.argv[3]); round++) {
    const run = new Run(text, Tables.none()), began = process.cpuUsage();
    while (run.advance(Number(process.argv[4])));
    const { user, system } = process.cpuUsage(began);
    console.log(JSON.parse(run.progress()).packet_hops, (user + system) / 1e6);
    run.free();
}
"""


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def opened(browser: Browser) -> tuple[Page, float]:
    """The page with its first result, and the time in ms since it began to load."""
    page = browser.new_page(offline=True)
    page.goto(built().as_uri())
    while not page.evaluate('document.querySelector("#answer")?.textContent.match(/take/) !== null'):
        page.wait_for_timeout(5)
    took = page.evaluate(OPENED)
    settle(page)
    return page, took


def settle(page: Page) -> None:
    """Wait for the result of the text."""
    page.wait_for_timeout(200)
    while not page.evaluate(SETTLED):
        page.wait_for_timeout(20)


def browsed(browser: Browser) -> str:
    """Prints the times of the page; the text of its scenario."""
    firsts = []
    for _ in range(ROUNDS):
        page, took = opened(browser)
        firsts.append(took)
        page.close()
    say(f"opened from a disk to its first result: {min(firsts):.0f} to {max(firsts):.0f} ms ({ROUNDS} times)")
    page, _ = opened(browser)
    took = []
    for move in range(MOVES):
        took.append(page.evaluate(MOVED, 0.3 + 0.02 * move))
        settle(page)
    warm = took[WARM:]
    say(
        f"a slider moved to its picture: first {took[0]:.0f} ms, then median {statistics.median(warm):.0f}, "
        f"most {max(warm):.0f} ms"
    )
    say(f"results while a slider moves {GLIDES} times: {page.evaluate(GLIDED, [0.4, GLIDES, PAUSE_MS])}")
    text: str = page.input_value("#text")
    return text


def native(file: Path) -> list[tuple[int, float]]:
    """Packets over links and seconds of the processor of each round, in machine code."""
    found = []
    for _ in range(ROUNDS):
        scenario = Scenario.load(file)
        with Prepared.of(scenario) as prepared:
            simulation = _core.Simulation(scenario.core, scenario.effective["run"]["seed"], prepared.core)
            began = time.process_time()
            while simulation.advance(EVENTS):
                pass
            found.append((simulation.progress()["packet_hops"], time.process_time() - began))
    return found


def in_node(file: Path) -> list[tuple[int, float]]:
    """The same in WebAssembly."""
    command = [
        "node",
        "--input-type=module",
        "-e",
        IN_NODE,
        str(ROOT / "build/web"),
        str(file),
        str(ROUNDS),
        str(EVENTS),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return [(int(hops), float(seconds)) for hops, seconds in rows]


def main() -> None:
    """Measure the page, then the core."""
    program = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        text = browsed(browser)
        browser.close()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "studio.toml")
        file.write_text(text, "utf-8")
        longer = Scenario.load(file, {"workload.parameters.requests": REQUESTS})
        file.write_text(toml.document(longer.effective), "utf-8")
        best = {
            name: min(rounds, key=lambda each: each[1])
            for name, rounds in {"machine code": native(file), "WebAssembly in Node": in_node(file)}.items()
        }
    for name, (hops, seconds) in best.items():
        say(f"{name}: {hops:,} packets over links, {hops / seconds / 1e6:.2f} million a second of the processor")
    (_, machine), (_, tab) = best.values()
    say(f"share of the speed of machine code: {machine / tab:.2f}")


if __name__ == "__main__":
    main()

"""A page in Firefox, asked over WebDriver BiDi, which Firefox speaks by itself."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tornado.websocket import websocket_connect

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


async def evaluated(program: str, profile: Path, file: Path, ready: str, expressions: Sequence[str]) -> list[Any]:
    """Values of expressions in the page of a file, texts or numbers, as soon as `ready` is true there."""
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    firefox = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        return await asked(firefox, file, ready, expressions)
    finally:
        if firefox.returncode is None:
            firefox.kill()
        await firefox.communicate()


async def asked(firefox: asyncio.subprocess.Process, file: Path, ready: str, expressions: Sequence[str]) -> list[Any]:
    """The same of a Firefox that has just been started."""
    assert firefox.stderr is not None
    while not (found := LISTENS.search((await firefox.stderr.readline()).decode())):
        assert firefox.returncode is None
    socket = await websocket_connect(f"{found[1]}/session")

    async def ask(method: str, params: Mapping[str, Any]) -> Any:
        await socket.write_message(json.dumps({"id": 1, "method": method, "params": params}))
        while "id" not in (answer := json.loads(await socket.read_message() or "{}")):
            pass
        assert answer["type"] == "success", answer
        return answer["result"]

    async def evaluate(expression: str) -> Any:
        params = {"expression": expression, "target": {"context": context}, "awaitPromise": True}
        return (await ask("script.evaluate", params))["result"]["value"]

    await ask("session.new", {"capabilities": {}})
    context = (await ask("browsingContext.getTree", {}))["contexts"][0]["context"]
    await ask("browsingContext.navigate", {"context": context, "url": file.as_uri(), "wait": "complete"})
    while not await evaluate(ready):
        await asyncio.sleep(0.1)
    values = [await evaluate(expression) for expression in expressions]
    socket.close()
    return values

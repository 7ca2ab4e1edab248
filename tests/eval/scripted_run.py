"""A whole run on an LM that answers at once, for the runner's tests: a tiny benchmark, a program with several LM calls
an update, and an engine that notes every call in a file. As a script it runs itself, and can be killed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15

from eval.instance import Benchmark, Evidence, Instance
from eval.run_config import LMConfig, ProgramConfig, RunConfig, fingerprint, identity_of
from eval.run_folder import RunFolder
from eval.runner import run
from eval.tasks.mpt import MPTTask
from prefine_dspy.tools import Catalogue, Parameter, Tool
from prefine_dspy.types import History, Memory, Query, Session, ToolCall, Turn
from programs.system import MemoryUpdate

REASONING = ("recall", "induction", "transfer")


class ScriptedEngine:
    """Answers with a hash of the prompt; appends `pid thread prompt-hash` to a file before it does.

    Args:
        log: the file, or None.
        seconds: how long an answer takes.
        fail: called with the prompt; may return an exception to raise.
        at_first_call: called once, before the first answer.
    """

    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(
        self, log: Path | None = None, seconds: float = 0.0, fail: Any = None, at_first_call: Any = None
    ) -> None:
        self.descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if log else None
        self.seconds = seconds
        self.fail = fail
        self.at_first_call = at_first_call
        self.calls = 0

    def __deepcopy__(self, memo: Any) -> ScriptedEngine:
        return self

    def complete(self, request: lm15.Request) -> lm15.Response:
        text = "\n".join(message.text or "" for message in request.messages)
        mark = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.calls += 1
        if self.at_first_call:
            self.at_first_call, start = None, self.at_first_call
            start()
        if self.descriptor is not None:
            os.write(self.descriptor, f"{os.getpid()} {threading.get_ident()} {mark}\n".encode())
        if self.fail and (error := self.fail(text)):
            raise error
        if self.seconds:
            time.sleep(self.seconds)
        answer = f"[[ ## reply ## ]]\n{mark}\n\n[[ ## completed ## ]]"
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message.assistant([lm15.TextPart(answer)]),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=len(text) // 4, output_tokens=len(answer) // 4, total_tokens=len(text) // 4),
        )


def scripted_lm(engine: ScriptedEngine, name: str = "scripted/one") -> dspy.LM:
    return dspy.LM(name, engine=engine, temperature=0.0, max_tokens=100, num_retries=0)


class ChainSystem:
    """Three LM calls an update, each needing the one before; one a query. Answers depend on the whole memory."""

    name = "chain"
    builds_memory = True

    def __init__(self, steps: int = 3) -> None:
        self.steps = steps
        self.program = dspy.Predict("text -> reply")

    def update(self, memory: Memory, sessions: Sequence[Session], tools: Catalogue) -> MemoryUpdate:
        text = memory.text
        for step in range(self.steps):
            text = self.program(text=f"{step} {text} {sessions[-1].turns[0].text}").reply
        seen = tuple(session.id for session in sessions)
        return MemoryUpdate(
            memory=Memory(text=text, version=memory.version + 1, sessions=seen),
            accepted=True,
            attempts=[{"stage": "generate", "hypothesis": text}],
        )

    def answer(self, query: Query, tools: Catalogue, history: History, memory: Memory) -> dspy.Prediction:
        reply = self.program(text=f"{memory.text} {query.turns[0].text}").reply
        value = "Economy" if int(reply, 16) % 2 else "Business"
        call = ToolCall.of("GetFlights", flight_class=value)
        return dspy.Prediction(calls=[call], raw=reply, parse_failed=False)


class DirectSystem(ChainSystem):
    """The same without a memory."""

    name = "direct"
    builds_memory = False


def tiny_benchmark(histories: int = 4, sessions: int = 3, queries: int = 3) -> Benchmark:
    tool = Tool(name="GetFlights", parameters=(Parameter(name="flight_class", enum=("Economy", "Business")),))
    people = {
        f"h{h}": History(
            id=f"h{h}",
            sessions=tuple(
                Session(id=f"h{h}s{s}", turns=(Turn(role="user", text=f"session {s} of user {h}: Zürich 日本"),))
                for s in range(sessions)
            ),
        )
        for h in range(histories)
    }
    instances = [
        Instance(
            id=f"h{h}q{q}",
            history_id=f"h{h}",
            query=Query.of(f"query {q} of user {h}", id=f"h{h}q{q}"),
            query_type="cg" if q % 2 else "cf",
            reasoning_type=REASONING[q % 3],
            gold=(ToolCall.of("GetFlights", flight_class="Economy"),),
            preference="low_cost",
            evidence=Evidence(supporting=3, competing=h % 2, unrelated=h),
            contested=bool(h % 2),
        )
        for h in range(histories)
        for q in range(queries)
    ]
    catalogues = {"base": Catalogue([tool]), "base_cf": Catalogue([tool])}
    return Benchmark("tiny", people, instances, catalogues, {"GetFlights": ("flight_class",)}, "tiny1")


def config_of(systems: dict[str, Any], benchmark: Benchmark, lm: dspy.LM, **changes: Any) -> RunConfig:
    values: dict[str, Any] = {
        "programs": [
            ProgramConfig(label=label, name=system.name, fingerprint=fingerprint(system.program))
            for label, system in systems.items()
        ],
        "lm": LMConfig.of("scripted", lm),
        "memory_lm": LMConfig.of("scripted", lm),
        "data": benchmark.name,
        "data_identity": benchmark.identity,
        "data_schema": "base",
        "query": "both",
        "limit": None,
        "seed": 0,
        "instances": len(benchmark.instances),
        "instances_identity": identity_of([instance.id for instance in benchmark.instances]),
    }
    return RunConfig(**{**values, **changes})


def scripted_run(
    out: Path,
    engine: ScriptedEngine,
    *,
    systems: dict[str, Any] | None = None,
    benchmark: Benchmark | None = None,
    resume: bool = True,
    lm: dspy.LM | None = None,
    **options: Any,
) -> dict[str, Any]:
    """One process's worth of a run."""
    systems = systems or {"chain": ChainSystem(), "direct": DirectSystem()}
    benchmark = benchmark or tiny_benchmark()
    lm = lm or scripted_lm(engine)
    with RunFolder(out, config_of(systems, benchmark, lm), resume=resume) as folder:
        return run(folder, MPTTask(systems, benchmark, benchmark.instances, lm, lm), **options)


def killed_until_done(out: Path, log: Path, kills: int, seed: int, go: Callable[..., Any] = scripted_run) -> int:
    """Run in child processes that are killed at random moments, then once in peace; the number of kills that hit.

    Args:
        go: does one process's worth, as `scripted_run`.
    """
    chance = random.Random(seed)
    hit = 0
    go(out.with_name("warm"), ScriptedEngine())  # imports once, so that the children die at work
    for kill in range(kills):
        at_work = kill % 4 > 0  # the others die while they open the run
        delay = chance.uniform(0.0, 0.08 if at_work else 0.2)
        child = os.fork()
        if child == 0:
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL))
            timer.daemon = True
            if not at_work:
                timer.start()
            sys.stderr = open(os.devnull, "w", encoding="utf-8")
            go(out, ScriptedEngine(log, 0.03, at_first_call=timer.start if at_work else None), num_threads=2)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        hit += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
            raise SystemExit(f"a run failed by itself with status {os.WEXITSTATUS(status)}")
    go(out, ScriptedEngine(log, seconds=0.0), num_threads=2)
    return hit


if __name__ == "__main__":
    out, log, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    print(json.dumps({"kills": killed_until_done(out, log, kills, seed)}))

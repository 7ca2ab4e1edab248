"""`make demo`: prefine and full-history prompting on a fixed slice of the mini data, on the local LM."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

OUT = Path("runs/demo")
SLICE = "12"


def main() -> int:
    """Run the demo anew and say where it was written; the exit code is that of `eval.run`."""
    shutil.rmtree(OUT, ignore_errors=True)
    command = ["eval.run", "--program", "full_history", "--program", "prefine", "--data", "mini", "--lm", "local"]
    command += ["--limit", SLICE, "--out", str(OUT)]
    print(f"python -m {' '.join(command)}", flush=True)
    code = subprocess.run([sys.executable, "-m", *command], check=False).returncode
    if code == 0:
        code = subprocess.run([sys.executable, "-m", "eval.report", str(OUT)], check=False).returncode
        print(f"\nThe run is in {OUT}/: items.jsonl has one line a query, memories.jsonl one line a session.")
    return code


if __name__ == "__main__":
    sys.exit(main())

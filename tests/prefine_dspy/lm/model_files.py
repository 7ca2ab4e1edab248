"""Made-up models of a few bytes, as the registry describes real ones."""

import hashlib

from prefine_dspy.lm.registry import LocalModel, WheelPart

PIECES = (b"GGUF first ", b"second ", b"third")
CONTENT = b"".join(PIECES)


def made_up(content=CONTENT, **changes):
    values = {
        "name": "tiny",
        "file": "tiny.gguf",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "Apache-2.0",
        "hub": None,
        "wheels": tuple(WheelPart(f"tiny-part{n}", "1.0", f"tiny/part{n}.bin") for n in (1, 2, 3)),
        "context": 512,
    }
    return LocalModel(**{**values, **changes})

"""What the server core answers only over its port on the loopback address."""

from __future__ import annotations

import json
import urllib.request

_TIMEOUT = 60.0  # seconds; tokenizing takes milliseconds, but all cores may be busy decoding


def count_tokens(address: str, key: str, text: str) -> int:
    """Tokens of a text, without those that begin or end a prompt.

    Args:
        address: the server's, "http://127.0.0.1:<port>".
        key: the server's API key.
        text: any length; it takes no slot and no context.
    """
    request = urllib.request.Request(
        f"{address}/tokenize",
        data=json.dumps({"content": text, "add_special": False}).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    # No proxy: the environment's would be asked for an address that only this machine has, and would see the text.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_TIMEOUT) as answer:
        return len(json.load(answer)["tokens"])

"""A server on the loopback address that speaks OpenAI's chat protocol and notes what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Recorded:
    """What arrived.

    Args:
        url: of the server.
        answer: the text it gives.
    """

    def __init__(self, url: str, answer: str) -> None:
        self.url = url
        self.answer = answer
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []


@contextmanager
def chat_server(answer: str) -> Iterator[Recorded]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # noqa: N802 - the base class's name
            record.paths.append(self.path)
            record.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": record.answer}
            body = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "made-up",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
            }
            sent = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    record = Recorded(f"http://127.0.0.1:{server.server_port}", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield record
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""A server that speaks Chat Completions on the loopback address: calls `book_flight` with what the user said."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def openai_server(requests):
    """Yields the base URL; bodies of requests are added to `requests`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body)
            data = json.dumps(_completion(body)).encode("utf-8")
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(body):
    last = body["messages"][-1]
    message = {"role": "assistant", "content": None}
    if last["role"] == "tool":
        message["content"] = json.loads(last["content"])
    else:
        arguments = {"destination": last["content"].split()[-1]}
        if "economy" in last["content"]:
            arguments["flight_class"] = "Economy"
        function = {"name": "book_flight", "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call_{len(body['messages'])}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}

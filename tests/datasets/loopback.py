"""A server on the loopback interface."""

import http.server
import threading
from contextlib import contextmanager


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends the same body for every address, but for two."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/nowhere":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body[: 1000 if self.path == "/cut" else None])

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A client that hangs up is what some tests ask for.
        pass


@contextmanager
def serving(body):
    """Run a server for the time of the block, which notes what it was asked for."""
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked, server.body = [], body
        # It ends when it next looks whether it should: half a second by default.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()

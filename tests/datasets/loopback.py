"""A server on the loopback interface."""

import http.server
import threading
from contextlib import contextmanager


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A client that hangs up is what some tests ask for.
        pass


@contextmanager
def serving(handler):
    """Run a server with this handler of requests for the time of the block."""
    with Server(("127.0.0.1", 0), handler) as server:
        # It ends when it next looks whether it should: half a second by default.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()

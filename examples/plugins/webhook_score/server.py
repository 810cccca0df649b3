"""A web service for webhook_score: gives 100 to nodes whose names begin with "green", others 0.

usage: server.py [PORT]

Prints the port when it listens. Port 0 selects a free one.
"""

import http.server
import json
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        scores = {node: 100 if node.startswith("green") else 0 for node in request["nodes"]}
        body = json.dumps({"scores": scores}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    with http.server.ThreadingHTTPServer(
            ("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()

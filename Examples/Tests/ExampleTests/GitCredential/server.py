"""Serves a directory over HTTP to whoever knows the password.

usage: server.py DIRECTORY FILE: the file holds USER:PASSWORD, and is read anew for each request. Prints
the port that it listens on, and ends when its standard input does.
"""

import base64
import functools
import http.server
import os
import pathlib
import sys
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        known = base64.b64encode(pathlib.Path(sys.argv[2]).read_bytes()).decode()
        if self.headers.get("Authorization") == "Basic " + known:
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="tests"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def wait_for_end():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=wait_for_end, daemon=True).start()
handler = functools.partial(Handler, directory=sys.argv[1])
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()

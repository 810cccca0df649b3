"""A client of the API server for the tests: HTTP/1.1 with JSON, and a connection per thread."""

import http.client
import json
import ssl
import threading
import time
import urllib.parse

TIMEOUT = 60


class ApiError(Exception):
    """An answer that is no success. `code` is its HTTP status, `status` its body."""

    def __init__(self, method, path, code, status):
        message = status.get("message", "") if isinstance(status, dict) else status
        super().__init__(f"{method} {path}: {code} {message}")
        self.code = code
        self.status = status


def wait_for(description, function, timeout=TIMEOUT, interval=0.05):
    """Calls `function` until it returns a true value, and returns this value.

    Exceptions of `function` count as a false value. After `timeout` seconds an AssertionError
    describes what was expected and what was found last.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            found = function()
            if found:
                return found
        except (ApiError, AssertionError, OSError, http.client.HTTPException, KeyError) as error:
            found = error
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {description}; found at last: {found!r}")
        time.sleep(interval)


class Api:
    """Sends requests as the owner of a client certificate or of a bearer token.

    Threading: any; each thread has a connection of its own.
    """

    def __init__(self, address, authority, certificate=None, token=None):
        self.address = address
        self.token = token
        self.context = ssl.create_default_context(cafile=authority)
        if certificate:
            self.context.load_cert_chain(*certificate)
        self.local = threading.local()

    def connect(self, timeout=TIMEOUT):
        """Returns a new connection, for a caller that uses it alone."""
        return http.client.HTTPSConnection(*self.address, timeout=timeout, context=self.context)

    def request(self, method, path, body=None, content_type="application/json", timeout=TIMEOUT):
        """Returns the decoded body. A connection that the server has closed is opened again once,
        but only for a request that may be repeated.
        """
        text = None if body is None else json.dumps(body)
        headers = {"Accept": "application/json"}
        if text is not None:
            headers["Content-Type"] = content_type
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        fresh = False
        while True:
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.connect(timeout)
                self.local.connection = connection
                fresh = True
            try:
                connection.request(method, path, text, headers)
                answer = connection.getresponse()
                content = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.local.connection = None
                connection.close()
                if fresh or method == "POST":
                    raise
        value = content.decode()
        if answer.headers.get_content_type() == "application/json":
            value = json.loads(value)
        if answer.status >= 300:
            raise ApiError(method, path, answer.status, value)
        return value

    def get(self, path, **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        return self.request("GET", path)

    def items(self, path, **query):
        return self.get(path, **query)["items"]

    def post(self, path, body):
        return self.request("POST", path, body)

    def put(self, path, body):
        return self.request("PUT", path, body)

    def patch(self, path, body, kind="merge-patch"):
        return self.request("PATCH", path, body, f"application/{kind}+json")

    def delete(self, path, **options):
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **options}
        return self.request("DELETE", path, body)

    def delete_if_exists(self, path, **options):
        try:
            self.delete(path, **options)
        except ApiError as error:
            if error.code != 404:
                raise


def in_parallel(function, arguments, threads=8):
    """Calls `function` for each argument, on some threads, and raises the first exception."""
    queue = list(enumerate(arguments))[::-1]
    errors, lock = [], threading.Lock()

    def work():
        while True:
            with lock:
                if not queue or errors:
                    return
                _, argument = queue.pop()
            try:
                function(argument)
            except Exception as error:  # Any error ends the work; the caller raises it again.
                with lock:
                    errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]

"""Starts and stops an API server with etcd, and changes its objects."""

import base64
import json
import os
import signal
import subprocess
import threading
import time

from api import Api, ApiError, in_parallel, wait_for
from objects import CORE, EVENTS, LEASES, RBAC, condition, node, pod_path

START_TIMEOUT = 150
# The server's allowance for clocks that differ: so many seconds after its time, a token expires.
TOKEN_LEEWAY = 60


class Cluster:
    """The process `apiserver` with the data in `folder`. A second start() continues the cluster.

    `folder` must be short, because it contains the socket of etcd. `flags` are added to those of
    kube-apiserver. Without `audit` there is no audit log.
    """

    def __init__(self, programs, folder, flags=(), audit=True):
        self.program = os.path.join(programs, "apiserver")
        self.folder = folder
        self.flags = (["--audit"] if audit else []) + ["--", *flags]
        self.process = None
        self.info = {}
        self.admin = None
        self.starts = 0
        self.namespaces = ["default"]

    def start(self, compact=False):
        """Returns when the API server is ready and the accounts exist."""
        self.starts += 1
        os.makedirs(self.folder, exist_ok=True)
        command = [self.program, "--dir", self.folder]
        command += ["--compact"] if compact else []
        self.log = os.path.join(self.folder, f"apiserver.{self.starts}.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command + self.flags, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)
        timer = threading.Timer(START_TIMEOUT, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"the API server did not start:\n{log.read()[-4000:]}")
        self.info = json.loads(line)
        host, port = self.info["server"].removeprefix("https://").split(":")
        self.address = (host, int(port))
        self.authority = os.path.join(self.folder, "ca.crt")
        self.admin = self.client(certificate=(os.path.join(self.folder, "admin.crt"),
                                              os.path.join(self.folder, "admin.key")))
        return self

    def stop(self):
        if self.process is None:
            return
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process = None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.stop()

    def client(self, **credentials):
        return Api(self.address, self.authority, **credentials)

    def kubeconfig(self, account, name=None, server=None, token_file=None, authority=None,
                   token=None, user=None):
        """Returns the path of a kubeconfig of a service account. Every other argument replaces a
        part of it; the result is then a new file, `name`, in the cluster's folder.
        """
        if name is None:
            return self.info["kubeconfigs"][account]
        if user is None:
            user = {"token": token} if token else {
                "tokenFile": token_file or self.info["tokens"][account]}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": {
                "server": server or self.info["server"],
                "certificate-authority": authority or self.authority}}],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "user"}}],
        }
        path = os.path.join(self.folder, f"{name}.kubeconfig")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    # Objects.

    def add_node(self, name, **arguments):
        return self.admin.post(f"{CORE}/nodes", node(name, **arguments))

    def add_nodes(self, count, prefix="node-", **arguments):
        in_parallel(lambda i: self.add_node(f"{prefix}{i}", **arguments), range(count))

    def add_pod(self, a_pod):
        namespace = a_pod["metadata"]["namespace"]
        return self.admin.post(f"{CORE}/namespaces/{namespace}/pods", a_pod)

    def use_namespace(self, name):
        """Creates a namespace, which stays: without controllers none can be deleted. wipe() removes
        what is in it.
        """
        if name in self.namespaces:
            return
        try:
            self.admin.post(f"{CORE}/namespaces", {"apiVersion": "v1", "kind": "Namespace",
                                                   "metadata": {"name": name}})
        except ApiError as error:
            if error.code != 409:
                raise
        self.namespaces.append(name)

    def add_pods(self, pods):
        in_parallel(self.add_pod, pods)

    def pod(self, name):
        return self.admin.get(pod_path(name))

    def pods(self, **query):
        return self.admin.items(f"{CORE}/namespaces/default/pods", **query)

    def delete_pod(self, name):
        self.admin.delete(pod_path(name), gracePeriodSeconds=0)

    def bind(self, name, to, client=None):
        """Binds a pod, as another scheduler does."""
        return (client or self.admin).post(pod_path(name, sub="/binding"), {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": to}})

    def bound(self, name):
        """Returns the node of a pod; an empty text if it has none."""
        return self.pod(name)["spec"].get("nodeName", "")

    def wait_bound(self, name, to=None):
        """Waits until the pod has a node and returns its name; with `to`, until it is this one."""
        found = wait_for(f"pod {name} is bound", lambda: self.bound(name))
        if to is not None and found != to:
            raise AssertionError(f"pod {name}: expected node {to}, found {found}")
        return found

    def wait_all_bound(self, count, timeout=120, **query):
        """Waits until `count` pods have a node, and returns all pods."""
        def check():
            pods = self.pods(**query)
            if sum(1 for one in pods if one["spec"].get("nodeName")) == count:
                return pods
            return None
        return wait_for(f"{count} pods are bound", check, timeout, interval=0.2)

    def wait_condition(self, name, message=None, reason="Unschedulable"):
        """Waits until PodScheduled is False with this reason (and message), and returns it."""
        def check():
            found = condition(self.pod(name))
            if found.get("status") != "False" or found.get("reason") != reason:
                raise AssertionError(f"condition {found}")
            if message is not None and found.get("message") != message:
                raise AssertionError(f"message {found.get('message')!r}, expected {message!r}")
            return found
        return wait_for(f"pod {name} is {reason}", check)

    def events(self, name, reason=None):
        """Returns the events of events.k8s.io that regard the pod."""
        return [one for one in self.admin.items(EVENTS)
                if one["regarding"].get("name") == name
                and (reason is None or one["reason"] == reason)]

    def wait_event(self, name, reason, note=None):
        def check():
            for one in self.events(name, reason):
                if note is None or one["note"] == note:
                    return one
            raise AssertionError([one["note"] for one in self.events(name, reason)])
        return wait_for(f"event {reason} of pod {name}", check)

    def lease(self, name="kube-scheduler"):
        """Returns the spec of a lease; an empty object if it does not exist."""
        try:
            return self.admin.get(f"{LEASES}/{name}")["spec"]
        except ApiError as error:
            if error.code != 404:
                raise
            return {}

    def wipe(self):
        """Removes everything that tests create: pods, nodes, leases, priority classes, events, and
        the roles of berth-bare.
        """
        for namespace in self.namespaces:
            self.admin.delete(f"{CORE}/namespaces/{namespace}/pods", gracePeriodSeconds=0)
            self.admin.delete(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
        self.admin.delete(f"{CORE}/nodes")
        for one in self.admin.items(LEASES):
            if not one["metadata"]["name"].startswith("apiserver-"):
                self.admin.delete_if_exists(f"{LEASES}/{one['metadata']['name']}")
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        for one in self.admin.items(classes):
            if not one["metadata"]["name"].startswith("system-"):
                self.admin.delete(f"{classes}/{one['metadata']['name']}")
        for kind in ("clusterrolebindings", "clusterroles"):
            for one in self.admin.items(f"{RBAC}/{kind}", labelSelector="e2e=test"):
                self.admin.delete(f"{RBAC}/{kind}/{one['metadata']['name']}")
        wait_for("all pods are gone", lambda: not self.admin.items(f"{CORE}/pods"))

    def grant(self, account, name, rules):
        """Gives a service account a cluster role with these rules, until wipe()."""
        metadata = {"name": f"e2e-{name}", "labels": {"e2e": "test"}}
        self.admin.post(f"{RBAC}/clusterroles", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": metadata, "rules": rules})
        self.admin.post(f"{RBAC}/clusterrolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}]})

    def request_token(self, account, secret=None, seconds=3600):
        """Returns a token of a service account; with `secret`, one that the deletion of this secret
        revokes.
        """
        spec = {"expirationSeconds": seconds}
        if secret:
            path = f"{CORE}/namespaces/kube-system/secrets"
            made = self.admin.post(path, {"apiVersion": "v1", "kind": "Secret",
                                          "metadata": {"name": secret}})
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": secret,
                                      "uid": made["metadata"]["uid"]}
        answer = self.admin.post(
            f"{CORE}/namespaces/kube-system/serviceaccounts/{account}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        return answer["status"]["token"]

    def expiring_token(self, account, seconds):
        """Returns a token that the server refuses `seconds` from now, or up to ten seconds later,
        because it remembers tokens that it has accepted. The server grants no token for less than
        600 s, so that this is one of its tokens with other times, signed again.
        """
        header, payload, _ = self.request_token(account).split(".")
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
        claims["exp"] = int(time.time()) + seconds - TOKEN_LEEWAY
        claims["iat"] = claims["nbf"] = claims["exp"] - 600
        content = f"{header}.{encode_url(json.dumps(claims).encode())}"
        done = subprocess.run(["openssl", "dgst", "-sha256", "-sign",
                               os.path.join(self.folder, "accounts.key")],
                              input=content.encode(), capture_output=True, check=True)
        return f"{content}.{encode_url(raw_signature(done.stdout))}"

    def wait_refused(self, token):
        """Returns when the server answers the token with a 401."""
        client = self.client(token=token)

        def is_refused():
            try:
                client.get(f"{CORE}/nodes")
            except ApiError as error:
                return error.code == 401
            return False
        wait_for("the server refuses the token", is_refused)

    # The audit log.

    def audit(self, since=0):
        """Returns the records of the audit log from byte `since` on. The server writes a record
        before it sends the answer.
        """
        with open(self.info["audit"], "rb") as file:
            file.seek(since)
            return [json.loads(line) for line in file if line.endswith(b"\n")]

    def audit_size(self):
        return os.path.getsize(self.info["audit"])

    def binding_requests(self, since=0):
        """Returns {pod: [record]} of all requests that reached the binding subresource."""
        found = {}
        for record in self.audit(since):
            target = record.get("objectRef", {})
            if record["verb"] == "create" and target.get("subresource") == "binding":
                found.setdefault(target["name"], []).append(record)
        return found

    def bindings(self, since=0):
        """Returns {pod: [record]} of the bindings that succeeded, in the order of the log."""
        found = {name: [one for one in records if one["responseStatus"]["code"] == 201]
                 for name, records in self.binding_requests(since).items()}
        return {name: records for name, records in found.items() if records}


def encode_url(data):
    """Returns the text of a part of a JSON web token (RFC 7515, base64url)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_signature(der):
    """Returns an ECDSA signature of the curve P-256 as ES256 has it (RFC 7518, 3.4): two numbers of
    32 bytes, from a sequence of two integers.
    """
    numbers, at = b"", 2
    for _ in range(2):
        size = der[at + 1]
        numbers += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + size
    return numbers


def account_of(record):
    """Returns the service account of an audit record: "berth-b"."""
    return record["user"]["username"].rsplit(":", 1)[-1]

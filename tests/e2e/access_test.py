"""Permissions and credentials."""

import os
import time

from api import wait_for
from fixture import EndToEndTest, replace_file
from objects import pod

LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
          "verbs": ["get", "create", "update"]}
NODES = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}
# Everything that the default profile needs, except the nodes.
OTHERS = [
    {"apiGroups": [""], "verbs": ["get", "list", "watch"],
     "resources": ["pods", "namespaces", "persistentvolumes", "persistentvolumeclaims", "services",
                   "replicationcontrollers"]},
    {"apiGroups": ["storage.k8s.io", "apps", "policy", "resource.k8s.io", "scheduling.k8s.io"],
     "resources": ["*"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"],
     "verbs": ["create", "patch", "update"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    LEASES,
]
BIND = {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}


class AccessTest(EndToEndTest):
    """Missing permissions: Berth names the rule, and continues when it exists."""

    def test_missing_rule_of_a_watch_is_named(self):
        self.cluster.grant("berth-bare", "others", OTHERS + [BIND])
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("web"))
        berth = self.berth(account="berth-bare", ready=False)

        def named():
            log = berth.log()
            return all(text in log for text in ("nodes", "list", "berth-bare", "rule"))
        wait_for("the log names the rule", named)
        wait_for("the server answers", lambda: berth.get("/livez")[0] == 200)
        status, text = berth.get("/readyz?verbose")
        self.assertNotEqual(status, 200)
        self.assertIn("nodes", text.lower())
        self.assertEqual(self.cluster.bound("web"), "")
        self.cluster.grant("berth-bare", "nodes", [NODES])
        berth.wait_ready()
        self.cluster.wait_bound("web", "n1")

    def test_missing_rule_of_bindings_is_named(self):
        self.cluster.grant("berth-bare", "others", OTHERS + [NODES])
        self.cluster.add_node("n1")
        berth = self.berth(account="berth-bare")
        self.cluster.add_pod(pod("web"))
        event = self.cluster.wait_event("web", "FailedScheduling")
        self.assertIn("pods/binding", event["note"])
        self.cluster.wait_condition("web", reason="SchedulerError")
        self.cluster.grant("berth-bare", "bind", [BIND])
        self.cluster.wait_bound("web", "n1")
        self.assertTrue(berth.alive())


class CredentialsTest(EndToEndTest):
    """The ways of authentication that a kubeconfig may name."""

    def expect_bound(self, **arguments):
        self.cluster.add_node("n1")
        berth = self.berth(**arguments)
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_bound("web", "n1")
        return berth

    def test_client_certificate(self):
        since = self.cluster.audit_size()
        self.expect_bound(kubeconfig=self.cluster.info["admin"])
        binding, = self.cluster.bindings(since)["web"]
        self.assertEqual(binding["user"]["username"], "berth-e2e-admin")

    def test_expired_token_file(self):
        """The token in the file expires; Berth reads the next one when the server refuses it."""
        path = self.path("token")
        self.expire(path, self.cluster.kubeconfig("berth", "expired-file", token_file=path))

    def test_exec_plugin_with_an_expired_token(self):
        """The plugin does not say when its token expires, so that only a refusal tells."""
        path, program = self.path("exec-token"), self.path("plugin.sh")
        replace_file(program, f"""#!/bin/sh
printf '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", '
printf '"status": {{"token": "%s"}}}}' "$(cat {path})"
""")
        os.chmod(program, 0o755)
        self.expire(path, self.cluster.kubeconfig("berth", "expired-exec", user={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": program,
            "interactiveMode": "Never"}}))

    def path(self, name):
        folder = self.folder()
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def expire(self, path, kubeconfig):
        """Runs Berth with a token that expires, and another one in its place before that."""
        began = time.monotonic()
        tokens = [self.cluster.expiring_token("berth", 8), self.cluster.request_token("berth")]
        replace_file(path, tokens[0])
        berth = self.expect_bound(kubeconfig=kubeconfig)
        replace_file(path, tokens[1])
        self.cluster.wait_refused(tokens[0])
        self.cluster.add_pod(pod("later"))
        self.cluster.wait_bound("later", "n1")
        # Without a refusal, the file is read once a minute.
        self.assertLess(time.monotonic() - began, 50)
        for token in tokens:
            self.assertNotIn(token, berth.log())
        self.assertEqual(berth.stop(), 0)

    def test_exec_plugin(self):
        """The plugin returns a token that is valid for 20 s, so that it must be run again."""
        count, program = self.path("count"), self.path("plugin.sh")
        replace_file(program, f"""#!/bin/sh
echo run >> {count}
end=$(date -u -d '+20 seconds' +%Y-%m-%dT%H:%M:%SZ)
printf '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", '
printf '"status": {{"token": "%s", "expirationTimestamp": "%s"}}}}' \\
  "$(cat {self.cluster.info['tokens']['berth']})" "$end"
""")
        os.chmod(program, 0o755)
        config = self.cluster.kubeconfig("berth", "exec", user={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": program,
            "interactiveMode": "Never"}})
        berth = self.expect_bound(kubeconfig=config)

        def runs():
            with open(count, encoding="utf-8") as file:
                return len(file.readlines())
        wait_for("the plugin runs again", lambda: runs() > 1)
        self.cluster.add_pod(pod("later"))
        self.cluster.wait_bound("later", "n1")
        # One run for each expiry, and not one for each connection.
        self.assertLess(runs(), 10)
        with open(self.cluster.info["tokens"]["berth"], encoding="ascii") as file:
            self.assertNotIn(file.read(), berth.log())

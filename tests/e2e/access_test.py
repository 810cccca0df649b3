"""Missing permissions: Berth names the rule, and continues when it exists."""

from api import wait_for
from fixture import EndToEndTest
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

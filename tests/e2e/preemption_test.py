"""Preemption: which pods are evicted, what is written about it, and what a crash leaves."""

import signal

from api import wait_for
from fixture import EndToEndTest, kubectl, profile, upstream
from objects import CORE, condition, pod, pod_path

PREEMPTION = profile("default-scheduler", """
[[plugins]]
name = "DefaultPreemption"
[plugins.args]
minCandidateNodesPercentage = 100
""")
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
GRACE = 600  # Seconds; a victim with it ends only when the test ends it.


class PreemptionTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        for name, value, policy in (("low", -10, "PreemptLowerPriority"),
                                    ("high", 100, "PreemptLowerPriority"),
                                    ("polite", 100, "Never")):
            self.cluster.admin.post(CLASSES, {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": name}, "value": value, "preemptionPolicy": policy})

    def preempting(self, name="scheduler"):
        """Starts a scheduler that preempts."""
        if self.suite.upstream:
            return self.kube_scheduler(name, all_plugins=True)
        return self.berth(name, profiles={"preempting": PREEMPTION})

    def low(self, name, to, **spec):
        """Adds a pod with a low priority that runs on the node."""
        self.cluster.add_pod(pod(name, cpu="1", priorityClassName="low", nodeName=to, **spec))

    def high(self, name, cpu="1", priority="high"):
        return self.cluster.add_pod(pod(name, cpu=cpu, priorityClassName=priority))

    def add_budget(self, labels, allowed):
        """Adds a budget for the pods with these labels. There is no controller that would write its
        status.
        """
        path = f"{BUDGETS}/budget"
        self.cluster.admin.delete_if_exists(path)
        made = self.cluster.admin.post(BUDGETS, {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "budget"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}})
        made["status"] = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1,
                          "expectedPods": 1, "observedGeneration": 1}
        self.cluster.admin.put(f"{path}/status", made)

    def is_terminating(self, name):
        return "deletionTimestamp" in self.cluster.pod(name)["metadata"]

    def wait_terminating(self, name):
        wait_for(f"pod {name} is terminating", lambda: self.is_terminating(name))
        return self.cluster.pod(name)

    @upstream
    def test_victims_and_preemptor_tell_what_happened(self):
        self.cluster.add_node("n1", cpu="4")
        for i in range(4):
            self.low(f"low-{i}", "n1", terminationGracePeriodSeconds=GRACE)
        self.preempting()
        made = self.high("web")
        names = [f"low-{i}" for i in range(4)]
        wait_for("a pod is terminating", lambda: any(map(self.is_terminating, names)))
        victims = [name for name in names if self.is_terminating(name)]
        self.assertEqual(len(victims), 1, victims)
        found = condition(self.cluster.pod(victims[0]), "DisruptionTarget")
        self.assertEqual((found["status"], found["reason"], found["message"]),
                         ("True", "PreemptionByScheduler",
                          "default-scheduler: preempting to accommodate a higher priority pod"))
        uid = made["metadata"]["uid"]
        event = self.cluster.wait_event(victims[0], "Preempted",
                                        f"Preempted by pod {uid} on node n1")
        self.assertEqual((event["type"], event["action"]), ("Normal", "Preempting"))
        if not self.suite.upstream:  # kube-scheduler leaves it out, because it cannot refer to it.
            self.assertEqual(event["related"]["uid"], uid)
        found = " preemption: found a potential placement for pod on node n1, preempting 1 victims"
        self.cluster.wait_condition("web", "0/1 nodes are available: 1 Insufficient cpu."
                                    + (found if self.suite.minor >= 37 else ""))
        wait_for("web is nominated", lambda: self.cluster.pod("web")["status"].get(
            "nominatedNodeName") == "n1")
        self.assertEqual(self.cluster.bound("web"), "")
        self.cluster.delete_pod(victims[0])
        self.cluster.wait_bound("web", "n1")
        self.assertEqual(len(self.cluster.pods()), 4)

    @upstream
    def test_nothing_is_evicted_for_equal_priority(self):
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("first", cpu="1", priorityClassName="high", nodeName="n1"))
        self.preempting()
        self.high("second")
        self.cluster.wait_condition(
            "second", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
            "available: 1 No preemption victims found for incoming pod.")
        self.assertFalse(self.is_terminating("first"))

    @upstream
    def test_preemption_policy_never(self):
        self.cluster.add_node("n1", cpu="1")
        self.low("low", "n1")
        self.preempting()
        self.high("web", priority="polite")
        self.cluster.wait_condition(
            "web", "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
            "preemptionPolicy=Never.")
        self.assertFalse(self.is_terminating("low"))

    @upstream
    def test_200_preemptors_spare_a_budget(self):
        """Each node has a pod without a budget for each of its two preemptors."""
        nodes, preemptors = 100, 200
        self.cluster.add_nodes(nodes, cpu="4")
        self.add_budget({"app": "guarded"}, allowed=0)
        pods = []
        for i in range(nodes):
            for j in range(4):
                labels = {"app": "guarded"} if j < 2 else {"app": "free"}
                pods.append(pod(f"low-{i}-{j}", cpu="1", priorityClassName="low",
                                nodeName=f"node-{i}", labels=labels))
        self.cluster.add_pods(pods)
        self.preempting()
        self.cluster.add_pods([pod(f"high-{i}", cpu="1", priorityClassName="high")
                               for i in range(preemptors)])
        wait_for("all preemptors are bound", lambda: all(
            one["spec"].get("nodeName") for one in self.cluster.pods()
            if one["metadata"]["name"].startswith("high-")), timeout=180, interval=0.5)
        left = [one for one in self.cluster.pods() if one["metadata"]["name"].startswith("low-")]
        self.assertEqual({one["metadata"]["labels"]["app"] for one in left}, {"guarded"})
        self.assertEqual(len(left), 2 * nodes)
        events = kubectl(self.cluster, "get", "events", "--field-selector", "reason=Preempted",
                         "--no-headers")
        self.assertEqual(len(events.splitlines()), preemptors)

    def test_a_crash_after_the_nomination_costs_no_second_victim(self):
        self.cluster.add_nodes(2, cpu="1")
        for i in range(2):
            self.low(f"low-{i}", f"node-{i}", terminationGracePeriodSeconds=GRACE)
        berth = self.preempting()
        self.high("web")
        names = ["low-0", "low-1"]
        wait_for("a pod is terminating", lambda: any(map(self.is_terminating, names)))
        victim, = [name for name in names if self.is_terminating(name)]
        to = self.cluster.pod(victim)["spec"]["nodeName"]
        wait_for("web is nominated", lambda: self.cluster.pod("web")["status"].get(
            "nominatedNodeName") == to)
        berth.signal(signal.SIGKILL)
        berth.wait()
        self.preempting("successor")
        # The successor tries the pod, and evicts no other one.
        self.cluster.add_pod(pod("later", cpu="8"))
        self.cluster.wait_condition("later")
        self.assertEqual([self.is_terminating(name) for name in names],
                         [name == victim for name in names])
        self.cluster.delete_pod(victim)
        self.cluster.wait_bound("web", to)
        self.assertEqual(len(self.cluster.pods()), 3)

"""Binding, conditions and events of one scheduler, as a user sees them."""

import time

from api import wait_for
from fixture import EndToEndTest, upstream
from objects import CORE, condition, pod, pod_path, taint, toleration

NO_CPU = "0/1 nodes are available: 1 Insufficient cpu."


class BindTest(EndToEndTest):
    @upstream
    def test_pod_is_bound_with_an_event(self):
        self.scheduler()
        self.cluster.add_node("n1")
        made = self.cluster.add_pod(pod("web"))
        self.cluster.wait_bound("web", "n1")
        self.assertEqual(condition(self.cluster.pod("web"))["status"], "True")
        event = self.cluster.wait_event("web", "Scheduled",
                                        "Successfully assigned default/web to n1")
        self.assertEqual((event["type"], event["action"]), ("Normal", "Binding"))
        self.assertEqual(event["reportingController"], "default-scheduler")
        self.assertRegex(event["reportingInstance"], "^default-scheduler-.")
        self.assertEqual(event["regarding"]["uid"], made["metadata"]["uid"])

    @upstream
    def test_unschedulable_pod_is_bound_when_a_node_is_added(self):
        self.scheduler()
        self.cluster.add_node("small", cpu="1")
        self.cluster.add_pod(pod("big", cpu="4"))
        self.cluster.wait_condition("big", NO_CPU)
        event = self.cluster.wait_event("big", "FailedScheduling", NO_CPU)
        self.assertEqual((event["type"], event["action"]), ("Warning", "Scheduling"))
        self.assertEqual(self.cluster.bound("big"), "")
        self.cluster.add_node("large", cpu="8")
        self.cluster.wait_bound("big", "large")
        self.assertEqual(condition(self.cluster.pod("big"))["status"], "True")
        self.cluster.wait_event("big", "Scheduled")

    @upstream
    def test_condition_keeps_its_transition_time(self):
        self.scheduler()
        self.cluster.add_node("one", cpu="1")
        self.cluster.add_pod(pod("big", cpu="4"))
        first = self.cluster.wait_condition("big", NO_CPU)
        # Times of conditions have a resolution of one second.
        end = time.monotonic() + 1.1
        wait_for("a second has passed", lambda: time.monotonic() > end)
        self.cluster.add_node("two", cpu="8", taints=[taint("acme.com/reserved")])
        second = self.cluster.wait_condition("big", "0/2 nodes are available: 1 Insufficient cpu, "
                                             "1 node(s) had untolerated taint(s).")
        self.assertEqual(second["lastTransitionTime"], first["lastTransitionTime"])

    @upstream
    def test_cluster_without_nodes(self):
        self.scheduler()
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_condition("web", "no nodes available to schedule pods")
        self.cluster.add_node("n1")
        self.cluster.wait_bound("web", "n1")

    @upstream
    def test_taints(self):
        self.scheduler()
        self.cluster.add_node("n1", taints=[taint("acme.com/reserved")])
        self.cluster.add_pod(pod("plain"))
        self.cluster.wait_condition(
            "plain", "0/1 nodes are available: 1 node(s) had untolerated taint(s).")
        self.cluster.add_pod(pod("tolerant", tolerations=[toleration("acme.com/reserved")]))
        self.cluster.wait_bound("tolerant", "n1")
        self.cluster.admin.patch(f"{CORE}/nodes/n1", {"spec": {"taints": []}})
        self.cluster.wait_bound("plain", "n1")

    @upstream
    def test_cordoned_node(self):
        self.scheduler()
        self.cluster.add_node("n1")
        self.cluster.admin.patch(f"{CORE}/nodes/n1", {"spec": {"unschedulable": True}})
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_condition("web", "0/1 nodes are available: 1 node(s) were unschedulable.")
        self.cluster.admin.patch(f"{CORE}/nodes/n1", {"spec": {"unschedulable": None}})
        self.cluster.wait_bound("web", "n1")

    @upstream
    def test_pod_with_the_higher_priority_is_first(self):
        self.cluster.admin.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": "high"}, "value": 1000})
        self.cluster.add_node("n1", pods="1")
        for i in range(5):
            self.cluster.add_pod(pod(f"low-{i}"))
        self.cluster.add_pod(pod("high", priorityClassName="high"))
        self.scheduler()
        self.cluster.wait_bound("high", "n1")
        for i in range(5):
            self.cluster.wait_condition(f"low-{i}", "0/1 nodes are available: 1 Too many pods.")

    @upstream
    def test_gated_pod_waits_for_its_gate(self):
        self.scheduler()
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("gated", schedulingGates=[{"name": "acme.com/quota"}]))
        self.cluster.add_pod(pod("free"))
        self.cluster.wait_bound("free", "n1")
        self.cluster.wait_event("free", "Scheduled")
        self.assertEqual(self.cluster.bound("gated"), "")
        self.assertEqual(condition(self.cluster.pod("gated"))["reason"], "SchedulingGated")
        self.no_event("gated", "FailedScheduling")
        self.cluster.admin.patch(pod_path("gated"), {"spec": {"schedulingGates": []}})
        self.cluster.wait_bound("gated", "n1")

    @upstream
    def test_deleted_node_is_not_used(self):
        self.scheduler()
        self.cluster.add_node("gone", cpu="64")
        self.cluster.add_pod(pod("first"))
        self.cluster.wait_bound("first", "gone")
        self.cluster.admin.delete(f"{CORE}/nodes/gone")
        self.cluster.add_pod(pod("second"))
        self.cluster.wait_condition("second", "no nodes available to schedule pods")
        self.cluster.add_node("small", cpu="1")
        self.cluster.wait_bound("second", "small")

    @upstream
    def test_deleted_pod_frees_its_room(self):
        self.scheduler()
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("first", cpu="1"))
        self.cluster.wait_bound("first", "n1")
        self.cluster.add_pod(pod("second", cpu="1"))
        self.cluster.wait_condition("second", NO_CPU)
        self.cluster.delete_pod("first")
        self.cluster.wait_bound("second", "n1")

    @upstream
    def test_pods_of_other_schedulers_are_left_alone(self):
        self.scheduler(names=("acme",))
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("theirs", scheduler="other"))
        self.cluster.add_pod(pod("ours", scheduler="acme"))
        self.cluster.wait_bound("ours", "n1")
        self.cluster.wait_event("ours", "Scheduled")
        self.assertEqual(self.cluster.bound("theirs"), "")
        self.assertEqual(self.cluster.events("theirs"), [])

    @upstream
    def test_backlog_fills_all_nodes_exactly(self):
        self.cluster.add_nodes(10, cpu="2")
        self.cluster.add_pods([pod(f"pod-{i}", cpu="100m") for i in range(201)])
        self.scheduler()
        pods = self.cluster.wait_all_bound(200)
        counts = {}
        for one in pods:
            name = one["spec"].get("nodeName", "")
            counts[name] = counts.get(name, 0) + 1
        self.assertEqual(counts, {"": 1, **{f"node-{i}": 20 for i in range(10)}})

"""The metrics of Berth have the names, types, labels and buckets of kube-scheduler's."""

import re

from api import wait_for
from fixture import EndToEndTest, profile
from objects import pod

# kube-scheduler measures each plugin in a tenth of the attempts only.
PODS = 100
PREFIXES = ("scheduler_", "rest_client_")
# What kube-scheduler has and Berth does not: it has neither these features nor these caches.
LEFT_OUT = {
    "scheduler_batch_attempts_total", "scheduler_batch_cache_flushed_total",
    "scheduler_get_node_hint_duration_seconds", "scheduler_store_schedule_results_duration_seconds",
    "rest_client_exec_plugin_certificate_rotation_age", "rest_client_exec_plugin_ttl_seconds",
    "rest_client_transport_cache_entries", "rest_client_transport_cert_rotation_gc_calls_total",
    "rest_client_transport_create_calls_total",
}
LEFT_OUT_SINCE_1_37 = {"scheduler_queue_incoming_entities_total", "scheduler_queued_entities"}
# What kube-scheduler observes only if it handles an event at the right moment.
SOMETIMES = {"scheduler_queueing_hint_execution_duration_seconds"}


def shapes(page):
    """Returns {name: (type, labels, upper bounds of the buckets)} of a page of metrics."""
    found = {}
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            found[name] = (kind, set(), [])
            continue
        match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
        if not match or line.startswith("#"):
            continue
        name = match[1]
        base = re.sub("_(bucket|sum|count)$", "", name)
        _, labels, bounds = found[name if name in found else base]
        pairs = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
        bound = pairs.pop("le", None)
        if bound and bound not in bounds:
            bounds.append(bound)
        labels |= set(pairs)
    return found


class MetricsTest(EndToEndTest):
    def schedule(self, name):
        """Lets a scheduler bind, refuse and hold pods, so that its metrics have series."""
        self.cluster.add_pods([pod(f"{name}-{i}", cpu="100m", scheduler=name) for i in range(PODS)])
        self.cluster.add_pod(pod(f"{name}-big", cpu="100", scheduler=name))
        self.cluster.add_pod(pod(f"{name}-gated", scheduler=name,
                                 schedulingGates=[{"name": "acme.com/quota"}]))
        for i in range(PODS):
            self.cluster.wait_bound(f"{name}-{i}")
        self.cluster.wait_condition(f"{name}-big")
        self.cluster.add_node(f"{name}-large", cpu="101")
        self.cluster.wait_bound(f"{name}-big")

    def test_shapes_are_those_of_kube_scheduler(self):
        self.cluster.add_nodes(3, cpu="16")
        theirs = self.kube_scheduler(names=("theirs",))
        ours = self.berth(profiles={"ours": profile("ours")})
        for name in ("theirs", "ours"):
            self.schedule(name)
        expected, found = {}, {}

        def has_all():
            expected.update(shapes(theirs.metrics()))
            found.update(shapes(ours.get("/metrics")[1]))
            more = [name for name in set(found) - set(expected) - SOMETIMES
                    if name.startswith(PREFIXES)]
            self.assertEqual(more, [])
            return True
        # It adds what it has measured once a second.
        wait_for("kube-scheduler has every metric of Berth", has_all)
        common = sorted(set(expected) & set(found))
        self.assertEqual({name: found[name] for name in common},
                         {name: expected[name] for name in common})
        missing = {name for name in set(expected) - set(found) if name.startswith(PREFIXES)}
        left_out = LEFT_OUT | (LEFT_OUT_SINCE_1_37 if self.suite.minor >= 37 else set())
        self.assertEqual(missing, left_out)
        self.assertIn("scheduler_pod_scheduling_sli_duration_seconds", common)

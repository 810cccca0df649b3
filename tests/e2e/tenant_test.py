"""A tenant who may only create pods disturbs neither the pods of others nor the operator."""

import os
import time

from api import wait_for
from fixture import EndToEndTest
from objects import CORE, pod

NODES = 50
INNOCENT = 500
PENDING = 3000
HOSTILE = 110
TERMS = 300
LARGE = 3
# A pod with so many terms has almost 1.5 MB, the limit of etcd.
MOST_TERMS = 9000
MAX_LOG_BYTES = 1_000_000


def terms(count, prefix):
    """Anti-affinity against every pod of every namespace, with topology keys that no node has."""
    return [{"topologyKey": f"example.com/{prefix}-{i}", "labelSelector": {},
             "namespaceSelector": {}} for i in range(count)]


def hostile(name, count, prefix, **spec):
    kind = "requiredDuringSchedulingIgnoredDuringExecution"
    return pod(name, cpu="1m", namespace="tenant",
               affinity={"podAntiAffinity": {kind: terms(count, prefix)}}, **spec)


def cpu_of(a_pod):
    """Returns the CPUs that a pod requests."""
    text = a_pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def escaped(name, **spec):
    made = pod(name, cpu="30", namespace="tenant", **spec)
    made["spec"]["containers"][0]["args"] = ["<" * 1_400_000]
    return made


class TenantTest(EndToEndTest):
    def add_tenant(self):
        """Creates pods on nodes with many terms, pods that fit nowhere, and the largest pods."""
        cluster = self.cluster
        cluster.use_namespace("tenant")
        cluster.add_pods([hostile(f"terms-{i}", TERMS, i, nodeName=f"node-{i % NODES}")
                          for i in range(HOSTILE)])
        cluster.add_pods([pod(f"pending-{i}", cpu="1000", namespace="tenant")
                          for i in range(PENDING)])
        cluster.add_pods([hostile(f"large-{i}", MOST_TERMS, "t") for i in range(LARGE)])
        # The server answers with six bytes for each of these characters.
        cluster.add_pods([escaped("escaped-bound", nodeName="node-0"), escaped("escaped-pending")])

    def scheduled_events(self):
        """Returns the names of the pods in `default` with an event Scheduled."""
        found = self.cluster.admin.items("/apis/events.k8s.io/v1/namespaces/default/events",
                                         fieldSelector="reason=Scheduled")
        return {one["regarding"]["name"] for one in found}

    def test_hostile_pods_do_not_disturb_others(self):
        self.cluster.add_nodes(NODES, cpu="64")
        self.add_tenant()
        berth = self.berth(log_level="info")
        wait_for("the tenant's pods were tried",
                 lambda: berth.metric("scheduler_pending_pods", queue="unschedulable") >= PENDING,
                 timeout=120)
        began = time.monotonic()
        self.cluster.add_pods([pod(f"web-{i}") for i in range(INNOCENT)])
        pods = self.cluster.wait_all_bound(INNOCENT)
        took = time.monotonic() - began
        self.assertEqual(len(pods), INNOCENT)
        events = wait_for("each pod has its event", lambda: (
            names if len(names := self.scheduled_events()) == INNOCENT else None))
        self.assertEqual(events, {f"web-{i}" for i in range(INNOCENT)})
        status, text = berth.get("/readyz?verbose")
        self.assertEqual(status, 200, text)
        self.assertNotIn("note:", text)
        self.assertEqual(berth.metric("berth_unreadable_objects"), 0)
        self.assertEqual(berth.metric("berth_slow_pods"), 0)
        # node-0 has 64 CPUs, of which a pod of the tenant holds 30.
        held = [one for one in self.cluster.admin.items(f"{CORE}/pods",
                                                        fieldSelector="spec.nodeName=node-0")]
        self.assertLessEqual(sum(cpu_of(one) for one in held), 64)
        # Without the tenant it takes about five seconds on two cores.
        self.assertLess(took, 60)
        log = os.path.getsize(berth.log_path)
        print(f"tenant: {INNOCENT} pods beside {HOSTILE + PENDING + LARGE} of the tenant were bound in "
              f"{took:.1f} s; the log has {log:,} bytes", flush=True)
        self.assertLess(log, MAX_LOG_BYTES)

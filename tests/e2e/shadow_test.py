"""Shadow mode beside kube-scheduler: it agrees with every placement and writes nothing."""

import json
import random
import signal

from api import wait_for
from cluster import account_of
from fixture import EndToEndTest
from objects import pod, taint, toleration

NODES, PODS, SETS = 50, 2000, 50
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


class ShadowTest(EndToEndTest):
    def shadow(self):
        """Starts `berth shadow`, and waits until it observes."""
        berth = self.berth("shadow", account="berth-shadow", start=False,
                           options=["--output", "json"])
        berth.command[1] = "shadow"
        # It elects no leader and serves nothing.
        berth.command.remove("--leader-elect=false")
        address = berth.command.index("--http-address")
        del berth.command[address:address + 2]
        berth.start(ready=False)
        berth.wait_record("Judging placements")
        return berth

    def end(self, berth, judged):
        """Ends shadow mode when it has judged this many pods. Returns its exit status, its verdicts
        by pod, and its totals.
        """
        wait_for(f"{judged} pods are judged",
                 lambda: len(berth.output().splitlines()) >= judged, timeout=120)
        berth.signal(signal.SIGTERM)
        status = berth.wait()
        *verdicts, totals = [json.loads(line) for line in berth.output().splitlines()]
        return status, {one["pod"]: one for one in verdicts}, totals

    def check_agreement(self, status, verdicts, totals):
        """Checks that every disagreement is a tie or is explained."""
        differ = [one for one in verdicts.values() if one["verdict"] in ("score", "rejected",
                                                                        "error", "sampled")]
        self.assertEqual(differ[:10], [])
        self.assertEqual((totals["judged"], totals["unseen"]), (PODS, 0), totals)
        self.assertEqual((status, totals["agreement"]), (0, 100), totals)

    def add_different_nodes(self, chance):
        for i in range(NODES):
            labels = {"disk": chance.choice(("ssd", "hdd")), "zone": f"z{i % 3}"}
            taints = [taint("acme.com/batch", chance.choice(("NoSchedule", "PreferNoSchedule")))]
            self.cluster.add_node(f"node-{i}", cpu=str(chance.choice((8, 16, 32, 64))),
                                  memory=f"{chance.choice((32, 64, 128))}Gi", labels=labels,
                                  taints=taints if i % 7 == 0 else ())

    def different_pod(self, i, chance):
        spec = {}
        if i % 5 == 0:
            spec["nodeSelector"] = {"disk": "ssd"}
        if i % 7 == 0:
            spec["tolerations"] = [toleration("acme.com/batch")]
        if i % 11 == 0:
            spec["affinity"] = {"nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{
                    "weight": chance.randint(1, 100), "preference": {"matchExpressions": [
                        {"key": "zone", "operator": "In", "values": [f"z{chance.randint(0, 2)}"]}
                    ]}}]}}
        return pod(f"pod-{i}", cpu=f"{chance.randint(1, 10) * 50}m",
                   memory=f"{chance.randint(1, 16) * 64}Mi", **spec)

    def test_2000_pods_beside_kube_scheduler(self):
        chance = random.Random(36)
        self.add_different_nodes(chance)
        since = self.cluster.audit_size()
        berth = self.shadow()
        self.kube_scheduler(verbosity=3)  # Its log has the order of its attempts.
        self.cluster.add_pods([self.different_pod(i, chance) for i in range(PODS)])
        self.cluster.wait_all_bound(PODS, timeout=240)
        status, verdicts, totals = self.end(berth, PODS)
        self.check_agreement(status, verdicts, totals)
        placed = {f"default/{one['metadata']['name']}": one["spec"]["nodeName"]
                  for one in self.cluster.pods()}
        for name, one in verdicts.items():
            self.assertEqual(one["theirs"], placed[name])
        writes = [f"{one['verb']} {one['requestURI']}" for one in self.cluster.audit(since)
                  if account_of(one) == "berth-shadow"
                  and one["verb"] not in ("get", "list", "watch")]
        self.assertEqual(writes, [])

    def add_zoned_nodes(self, chance):
        for i in range(NODES):
            self.cluster.add_node(f"node-{i}", cpu=str(chance.choice((16, 32, 64))), memory="128Gi",
                                  labels={ZONE: f"z{i % 3}"})

    def replica(self, app, i, chance):
        """Returns a pod of a set. Every second set spreads strictly, with at most one pod on a
        node; the others prefer zones with few pods of the set, and nodes with another set, or
        without it.
        """
        own = {"matchLabels": {"app": f"app-{app}"}}
        is_strict = app % 2 == 0
        spread = [{"maxSkew": 1 + app % 3, "topologyKey": ZONE, "labelSelector": own,
                   "whenUnsatisfiable": "DoNotSchedule" if is_strict else "ScheduleAnyway"}]
        if is_strict:
            affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOST, "labelSelector": own}]}}
        else:
            kind = "podAffinity" if app % 4 == 1 else "podAntiAffinity"
            other = {"matchLabels": {"app": f"app-{(app + 1) % SETS}"}}
            affinity = {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1 + app, "podAffinityTerm": {
                    "topologyKey": HOST if app % 8 < 4 else ZONE, "labelSelector": other}}]}}
        return pod(f"pod-{app}-{i}", cpu=f"{chance.randint(1, 6) * 50}m", memory="256Mi",
                   labels={"app": f"app-{app}"}, topologySpreadConstraints=spread,
                   affinity=affinity)

    def test_2000_pods_with_spread_and_affinity(self):
        """Sets like those of Deployments, with constraints that look across nodes."""
        chance = random.Random(14)
        self.add_zoned_nodes(chance)
        berth = self.shadow()
        self.kube_scheduler(verbosity=3)
        pods = [self.replica(app, i, chance) for app in range(SETS) for i in range(PODS // SETS)]
        chance.shuffle(pods)
        # Each pod has a node before the next one exists, so that both decide in the same state.
        for one in pods:
            self.cluster.add_pod(one)
            name = one["metadata"]["name"]
            wait_for(f"{name} is bound",
                     lambda name=name: self.cluster.pod(name)["spec"].get("nodeName"),
                     interval=0.002)
        status, verdicts, totals = self.end(berth, PODS)
        self.check_agreement(status, verdicts, totals)
        self.check_strict_sets()

    def check_strict_sets(self):
        zones = {f"node-{i}": f"z{i % 3}" for i in range(NODES)}
        for app in range(0, SETS, 2):
            nodes = [one["spec"]["nodeName"] for one in self.cluster.pods()
                     if one["metadata"]["labels"]["app"] == f"app-{app}"]
            self.assertEqual(len(nodes), len(set(nodes)), f"app-{app}: two pods on one node")
            counts = [sum(zones[node] == zone for node in nodes) for zone in set(zones.values())]
            self.assertLessEqual(max(counts) - min(counts), 1 + app % 3, f"app-{app}: {counts}")

    def test_disagreement_is_reported(self):
        """A binding that no scheduler would make is found: the node has a taint."""
        self.cluster.add_node("bad", taints=[taint("acme.com/reserved")])
        self.cluster.add_node("good")
        berth = self.shadow()
        self.cluster.add_pod(pod("web"))
        self.cluster.bind("web", "bad")
        status, verdicts, totals = self.end(berth, 1)
        self.assertEqual((status, totals["judged"], totals["unexplained"]), (1, 1, 1))
        found = verdicts["default/web"]
        self.assertEqual((found["verdict"], found["theirs"], found["ours"]),
                         ("rejected", "bad", "good"))
        self.assertIn("untolerated taint", found["why"])

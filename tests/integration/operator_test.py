"""The afternoon of an operator with `berth`: a dump of a cluster, as kubectl prints it with the
documented command; the question why a pod is pending; whether a Deployment and a CronJob fit; and
the next hour of the cluster. No answer leaves something out in silence.

usage: operator_test.py BERTH PLUGIN_DIR SOURCE_DIR
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CREATED = "2026-01-10T08:00:00Z"
SHORT = {"limits": "limitranges", "ns": "namespaces", "pc": "priorityclasses",
         "pv": "persistentvolumes", "pvc": "persistentvolumeclaims", "rc": "replicationcontrollers",
         "rs": "replicasets", "sc": "storageclasses", "sts": "statefulsets", "svc": "services"}
KINDS = {
    "csidrivers": ("storage.k8s.io/v1", "CSIDriver"),
    "csinodes": ("storage.k8s.io/v1", "CSINode"),
    "limitranges": ("v1", "LimitRange"),
    "namespaces": ("v1", "Namespace"),
    "nodes": ("v1", "Node"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
    "persistentvolumes": ("v1", "PersistentVolume"),
    "pods": ("v1", "Pod"),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "replicasets": ("apps/v1", "ReplicaSet"),
    "replicationcontrollers": ("v1", "ReplicationController"),
    "runtimeclasses": ("node.k8s.io/v1", "RuntimeClass"),
    "services": ("v1", "Service"),
    "statefulsets": ("apps/v1", "StatefulSet"),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass"),
    "volumeattachments": ("storage.k8s.io/v1", "VolumeAttachment"),
}


def named(resource, name, ns=None, labels=None, **more):
    """Returns an object as an API server stores it."""
    api_version, kind = KINDS[resource]
    metadata = {"name": name, "uid": f"{kind}-{ns}-{name}", "resourceVersion": "100",
                "creationTimestamp": CREATED, "labels": labels or {},
                "managedFields": [{"manager": "kubectl", "operation": "Update"}]}
    if ns:
        metadata["namespace"] = ns
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def node(name, zone):
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return named("nodes", name, labels={"kubernetes.io/hostname": name,
                                        "topology.kubernetes.io/zone": zone},
                 spec={"podCIDR": "10.0.0.0/24"},
                 status={"allocatable": allocatable, "capacity": allocatable})


def pod(name, cpu, on=None, ns="shop", app="cart", **spec):
    containers = [{"name": "c", "image": "reg.example/cart:1", "resources": {
        "requests": {"cpu": cpu, "memory": "256Mi"}}}]
    spec = {"schedulerName": "default-scheduler", "priority": 0, "containers": containers,
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                             "effect": "NoExecute", "tolerationSeconds": 300}], **spec}
    if on:
        spec["nodeName"] = on
    return named("pods", name, ns, {"app": app}, spec=spec,
                 status={"phase": "Running" if on else "Pending"})


def near_peers():
    """Requires a pod of the app "db" in a namespace of the team "data"."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
        "topologyKey": "topology.kubernetes.io/zone",
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaceSelector": {"matchLabels": {"team": "data"}}}]}}


def the_cluster():
    return [node("n1", "a"), node("n2", "b"),
            named("namespaces", "shop", labels={"kubernetes.io/metadata.name": "shop"}),
            named("namespaces", "data", labels={"team": "data"}),
            named("services", "cart", "shop", spec={"selector": {"app": "cart"}}),
            named("priorityclasses", "gold", value=9000),
            pod("db-0", "1", on="n2", ns="data", app="db"),
            pod("cart-1", "2", on="n1"), pod("cart-2", "2", on="n2"),
            pod("cart-3", "2", affinity=near_peers())]


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: checkout, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: checkout}}
  template:
    metadata: {labels: {app: checkout}}
    spec:
      priorityClassName: gold
      containers: [{name: c, image: "reg.example/checkout:1", resources: {requests: {cpu: 500m}}}]
"""
CRON_JOB = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "0 2 * * *"
  jobTemplate:
    spec:
      parallelism: 2
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: "reg.example/report:1", resources: {requests: {cpu: 200m}}}]
"""


class OperatorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        text = pathlib.Path(sys.argv[3], "host", "cli", "help", "simulate.txt").read_text("utf-8")
        commands = re.findall(r"kubectl get ([a-z.,]+) -A\s+-o json", text.replace("\\\n", ""))
        self.documented = [name for command in commands for name in command.split(",")]
        self.assertEqual(len(commands), 2, text)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    def kubectl_get(self, resources):
        """Returns the file that `kubectl get RESOURCES -A -o json` would print."""
        kinds = {KINDS[SHORT.get(resource, resource)] for resource in resources}
        items = [one for one in the_cluster() if (one["apiVersion"], one["kind"]) in kinds]
        return self.file("dump.json", json.dumps({"apiVersion": "v1", "kind": "List",
                                                  "metadata": {"resourceVersion": ""},
                                                  "items": items}))

    def berth(self, *arguments, status=0):
        """Returns the standard output and the standard error."""
        command = [sys.argv[1], *arguments, "--plugin-dir", sys.argv[2]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, " ".join(command) + "\n" + done.stderr)
        return done.stdout, done.stderr

    def test_why_is_the_pod_pending(self):
        dump = self.kubectl_get(self.documented)
        out, err = self.berth("explain", "--cluster", dump, "--pod", "shop/cart-3", status=1)
        self.assertIn("Insufficient cpu", out)
        self.assertIn("didn't match pod affinity rules", out)
        self.assertEqual(err, "")

    def test_a_kind_that_the_dump_lacks_is_named(self):
        for missing, is_named in (("ns", True), ("csinodes", False)):
            dump = self.kubectl_get([one for one in self.documented if one != missing])
            out, err = self.berth("explain", "--cluster", dump, "--pod", "shop/cart-3", status=1)
            self.assertEqual("amespace" in err, is_named, err)

    def test_a_deployment_and_a_cron_job(self):
        dump = self.kubectl_get(self.documented)
        out, err = self.berth("simulate", "--cluster", dump, "--pods",
                              self.file("d.yaml", DEPLOYMENT), self.file("c.yaml", CRON_JOB),
                              "--output", "json", status=1)
        document = json.loads(out)
        placed = {one["name"].rsplit("-", 2)[0] if "node" in one else one["name"] + " is pending"
                  for one in document["placements"]}
        self.assertEqual(placed, {"checkout", "report", "cart-3 is pending"})
        self.assertEqual(document["summary"]["placed"], 5)
        self.assertIn("berth: Deployment shop/checkout: 3 pods\n", err)
        self.assertIn("berth: CronJob shop/report: 2 pods\n", err)
        self.assertIn("the priority of a PriorityClass (3)", err)
        # The class comes from the dump.
        without = self.kubectl_get([one for one in self.documented if one != "pc"])
        _, err = self.berth("simulate", "--cluster", without, "--pods",
                            self.file("d.yaml", DEPLOYMENT), status=2)
        self.assertIn("expected a PriorityClass of the cluster, found \"gold\"", err)

    def test_the_next_hour(self):
        dump = self.kubectl_get(self.documented)
        gone = copy.deepcopy(next(one for one in the_cluster()
                                  if one["metadata"]["name"] == "cart-2"))
        gone["metadata"]["resourceVersion"] = "101"
        new = named("pods", "late", "shop", {"app": "late"}, status={"phase": "Pending"},
                    spec={"containers": [{"name": "c"}], "schedulerName": "default-scheduler"})
        events = [{"type": "DELETED", "after": "20m", "object": gone},
                  {"type": "ADDED", "after": "40m", "object": new}]
        hour = self.file("hour.jsonl", "".join(json.dumps(one) + "\n" for one in events))
        out, err = self.berth("replay", "--cluster", dump, "--events", hour, "--time", "virtual",
                              "--output", "json")
        lines = [json.loads(line) for line in out.splitlines()]
        bound = [(one["pod"], one["node"]) for one in lines if one["type"] == "Bound"]
        self.assertEqual(bound[0], ("shop/cart-3", "n2"))
        self.assertEqual(bound[1][0], "shop/late")
        self.assertIn("2 bound, 0 pending", err)

    def test_nothing_is_left_out_in_silence(self):
        dump = self.kubectl_get(self.documented)
        for text, expected in (
                ("apiVersion: v1\nkind: Pods\nmetadata: {name: a}", "did you mean Pod?"),
                ("apiVersion: v1\nkind: Deployment\nmetadata: {name: a}", "expected apps/v1"),
                (DEPLOYMENT.replace("gold", "silver"), "expected a PriorityClass"),
                (DEPLOYMENT.replace("app: checkout}}\n  template", "app: other}}\n  template"),
                 "expected a selector that the labels of /spec/template match")):
            _, err = self.berth("simulate", "--cluster", dump, "--pods",
                                self.file("p.yaml", text), status=2)
            self.assertIn(expected, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

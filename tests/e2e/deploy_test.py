"""The manifests of examples/deploy: their permissions are sufficient, and their files are valid."""

import os
import subprocess

from api import wait_for
from cluster import account_of
from fixture import EndToEndTest, kubectl
from objects import CORE, RBAC, pod

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(ROOT, "examples", "deploy")


class DeployTest(EndToEndTest):
    """Has an API server of its own, in which the accounts have only these permissions."""

    def setUp(self):
        super().setUp()
        self.cluster = self.suite.cluster("d")
        path = f"{RBAC}/clusterrolebindings"
        for binding in self.cluster.admin.items(path):
            if any(one["name"].startswith("berth") for one in binding.get("subjects", ())):
                self.cluster.admin.delete(f"{path}/{binding['metadata']['name']}")
        kubectl(self.cluster, "apply", "-f", DEPLOY)

    def tearDown(self):
        super().tearDown()
        if "d" in self.suite.clusters:
            self.suite.end("d")

    def doctor(self, *arguments):
        done = subprocess.run([self.suite.berth, "doctor", *arguments], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_manifests(self):
        files = self.cluster.admin.get(f"{CORE}/namespaces/kube-system/configmaps/berth")["data"]
        berth = self.berth(start=False)
        paths = {name: berth.write(name, text) for name, text in files.items()}
        config = self.cluster.kubeconfig("berth")
        berth.command = [self.suite.berth, "run", "--kubeconfig", config, "--config",
                         paths["berth.toml"], "--http-address", berth.address]
        self.doctor("--kubeconfig", config, "--config", paths["berth.toml"])
        self.doctor("--kubeconfig", self.cluster.kubeconfig("berth-shadow"), "--shadow")
        since = self.cluster.audit_size()
        berth.start()
        wait_for("Berth leads", lambda: self.cluster.lease("acme-scheduler").get("holderIdentity"))
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("web", scheduler="acme"))
        self.cluster.add_pod(pod("big", cpu="4", scheduler="acme"))
        self.cluster.wait_bound("web", "n1")
        self.cluster.wait_event("web", "Scheduled")
        self.cluster.wait_condition("big")
        self.cluster.wait_event("big", "FailedScheduling")
        self.assertEqual(berth.stop(), 0)
        self.assertEqual(self.cluster.lease("acme-scheduler").get("holderIdentity", ""), "")
        refused = [one["requestURI"] for one in self.cluster.audit(since)
                   if account_of(one) == "berth" and one["responseStatus"]["code"] == 403]
        self.assertEqual(refused, [])

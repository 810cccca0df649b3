"""The manifests of examples/deploy."""

import json
import os
import re
import subprocess

from api import wait_for
from cluster import account_of
from fixture import EndToEndTest, kubectl
from objects import pod

MANIFESTS = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "deploy")
# The accounts of the tests have other permissions than those of the manifests.
ACCOUNT = "e2e-deploy"


class DeployTest(EndToEndTest):
    def apply(self, name, *options, edit=lambda text: text):
        """Applies a manifest, with another name instead of `berth`, until the end of the test."""
        with open(os.path.join(MANIFESTS, name), encoding="utf-8") as file:
            text = edit(file.read().replace("name: berth", f"name: {ACCOUNT}"))
        os.makedirs(self.folder(), exist_ok=True)
        path = os.path.join(self.folder(), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if not options:
            self.addCleanup(kubectl, self.cluster, "delete", "-f", path)
        return kubectl(self.cluster, "apply", "-f", path, *options)

    def kubeconfig(self, account):
        return self.cluster.kubeconfig(account, account,
                                       token=self.cluster.request_token(account))

    def expect_good_health(self, *arguments):
        """Asserts that `berth doctor` finds no missing permission."""
        done = subprocess.run([self.suite.berth, "doctor", *arguments], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def deployed(self, edit_roles=lambda text: text, edit_config=lambda text: text):
        """Returns Berth with the account, permissions and configuration of the manifests."""
        self.apply("rbac.yaml", edit=edit_roles)
        self.apply("config.yaml", edit=edit_config)
        files = json.loads(kubectl(self.cluster, "-n", "kube-system", "get", "configmap", ACCOUNT,
                                   "-o", "json"))["data"]
        config = self.kubeconfig(ACCOUNT)
        berth = self.berth(start=False)
        for name, text in files.items():
            berth.write(name, text)
        berth.command = [berth.program, "run", "--kubeconfig", config,
                         "--config", os.path.join(berth.folder, "berth.toml"),
                         "--http-address", berth.address]
        return berth

    def test_permissions_and_configuration_of_a_second_scheduler(self):
        berth = self.deployed()
        self.expect_good_health("--kubeconfig", berth.command[3], "--config", berth.command[5])
        since = self.cluster.audit_size()
        berth.start()
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("web", scheduler="acme"))
        self.cluster.add_pod(pod("big", cpu="4", scheduler="acme"))
        self.cluster.add_pod(pod("other"))
        self.cluster.wait_bound("web", "n1")
        self.cluster.wait_event("web", "Scheduled")
        self.cluster.wait_event("big", "FailedScheduling")
        self.cluster.wait_condition("big")
        self.assertEqual(self.cluster.bound("other"), "")
        self.assertTrue(self.cluster.lease("acme-scheduler").get("holderIdentity"))
        self.assertEqual(berth.stop(), 0)
        self.assertEqual(self.cluster.lease("acme-scheduler").get("holderIdentity", ""), "")
        self.assertEqual([one["requestURI"] for one in self.cluster.audit(since)
                          if account_of(one) == ACCOUNT
                          and one["responseStatus"]["code"] == 403], [])

    def take_the_place(self, edit_roles=lambda text: text):
        """Returns Berth with the configuration that takes the place of kube-scheduler."""
        return self.deployed(edit_roles, lambda text: re.sub(
            r"\n *resourceName = .*", "", text.replace('"acme"', '"default-scheduler"')))

    def test_in_place_of_kube_scheduler(self):
        """The steps of the README, while kube-scheduler runs."""
        theirs = self.kube_scheduler(election={"leaseDuration": "15s", "renewDeadline": "10s",
                                               "retryPeriod": "2s"})
        wait_for("kube-scheduler leads", lambda: self.cluster.lease().get("holderIdentity"))
        berth = self.take_the_place(
            lambda text: text.replace("acme-scheduler", "kube-scheduler"))
        since = self.cluster.audit_size()
        berth.start()
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("first"))
        self.cluster.wait_bound("first", "n1")
        theirs.stop()
        self.cluster.add_pod(pod("second"))
        self.cluster.wait_bound("second", "n1")
        bindings = self.cluster.bindings(since)
        self.assertEqual([account_of(bindings[name][0]) for name in ("first", "second")],
                         ["kube-scheduler", ACCOUNT])

    def test_missing_rule_of_the_lease_is_named(self):
        berth = self.take_the_place()
        berth.start(ready=False)

        def named():
            status, text = berth.get("/readyz?verbose")
            return status == 500 and "[-]lease failed" in text and text
        text = wait_for("/readyz names the rule", named)
        for part in ("forbidden", ACCOUNT, "resourceNames: [kube-scheduler], verbs: [get, update]"):
            self.assertIn(part, text)
            self.assertIn(part, berth.log())
        self.assertEqual(berth.get("/livez")[0], 200)
        self.cluster.grant(ACCOUNT, "lease", [{
            "apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
            "resourceNames": ["kube-scheduler"], "verbs": ["get", "update"]}])
        berth.wait_ready()
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_bound("web", "n1")

    def test_permissions_of_shadow_mode(self):
        self.apply("rbac-shadow.yaml")
        self.expect_good_health("--kubeconfig", self.kubeconfig(f"{ACCOUNT}-shadow"), "--shadow")

    def test_the_api_server_accepts_the_deployment(self):
        self.assertIn("created", self.apply("deployment.yaml", "--dry-run=server"))

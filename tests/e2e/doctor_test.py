"""The findings of `berth doctor`, and its exit status."""

import json
import os
import re
import subprocess
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime

from api import wait_for
from berth import decide_as
from fixture import EndToEndTest
from objects import pod


class DoctorTest(EndToEndTest):
    def doctor(self, kubeconfig, *options, status=0):
        """Returns {check: finding} and the whole text."""
        done = subprocess.run([self.suite.berth, "doctor", "--kubeconfig", kubeconfig,
                               "--output", "json", *decide_as(self.suite.kubernetes), *options],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        return {one["check"]: one for one in report["findings"]}, done.stdout

    def test_good_cluster(self):
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("theirs", scheduler="other"))
        findings, _ = self.doctor(self.cluster.kubeconfig("berth"))
        failed = [one for one in findings.values() if one["result"].lower().startswith("fail")]
        self.assertEqual(failed, [])
        self.assertEqual(findings["version"]["found"], self.suite.kubernetes)
        self.assertEqual(findings["version"]["result"].lower(), "ok")
        self.assertIn("system:serviceaccount:kube-system:berth", findings["credentials"]["found"])

    def test_wrong_authority(self):
        # The certificate of the admin is no authority of the server.
        path = os.path.join(self.cluster.folder, "admin.crt")
        _, text = self.doctor(self.cluster.kubeconfig("berth", "authority", authority=path),
                              status=1)
        self.assertIn("certificate", text)

    def test_invalid_token(self):
        config = self.cluster.kubeconfig("berth", "invalid", token="not-a-token")
        findings, text = self.doctor(config, status=1)
        self.assertIn("401", text)
        self.assertNotIn("not-a-token", text)
        self.assertIn("credentials", findings)

    def test_server_that_is_away(self):
        proxy = self.proxy()
        proxy.refuse()
        _, text = self.doctor(self.cluster.kubeconfig("berth", "away", server=proxy.server),
                              status=1)
        self.assertIn("refused", text)

    def test_missing_rules(self):
        findings, text = self.doctor(self.cluster.kubeconfig("berth-bare"), status=1)
        self.assertIn("permissions", findings)
        for rule in ("nodes", "pods/binding", "leases"):
            self.assertIn(rule, text)

    def test_clock_that_is_wrong(self):
        """The header Date of all answers is an hour behind."""
        proxy = self.proxy(tls=self.cluster.folder)

        def an_hour_ago(piece):
            def rewritten(match):
                date = parsedate_to_datetime(match[2].decode()) - timedelta(hours=1)
                return match[1] + format_datetime(date, usegmt=True).encode()
            return re.sub(rb"(\r\nDate: )([^\r]+)", rewritten, piece)
        proxy.rewrite = an_hour_ago
        findings, _ = self.doctor(self.cluster.kubeconfig("berth", "clock", server=proxy.server))
        self.assertEqual(findings["clock"]["result"].lower(), "warning")
        self.assertIn("ahead", findings["clock"]["found"])

    def test_lease_of_another_scheduler(self):
        self.kube_scheduler(election={"leaseDuration": "15s", "renewDeadline": "10s",
                                      "retryPeriod": "2s"})
        found = {}

        def held():
            found.update(self.doctor(self.cluster.kubeconfig("berth"))[0])
            return "held" in found["lease"]["found"]
        wait_for("doctor reports the holder", held)
        self.assertIn("resourceName", found["lease"]["found"] + found["lease"].get("fix", ""))

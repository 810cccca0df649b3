"""`berth explain` and `berth simulate` on a live cluster: they read and write nothing."""

import json
import subprocess

from cluster import account_of
from fixture import EndToEndTest
from objects import pod


class LiveTest(EndToEndTest):
    def berth_command(self, *arguments):
        done = subprocess.run([self.suite.berth, *arguments, "--kubeconfig",
                               self.cluster.kubeconfig("berth-shadow"), "--output", "json"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_explain_and_simulate_only_read(self):
        self.cluster.add_node("small", cpu="1")
        self.cluster.add_node("large", cpu="16")
        self.cluster.add_pod(pod("web", cpu="4"))
        since = self.cluster.audit_size()
        explained = self.berth_command("explain", "--pod", "default/web")
        self.assertEqual(explained["selected"], ["large"])
        simulated = self.berth_command("simulate")
        self.assertIn("large", json.dumps(simulated))
        self.assertEqual(self.cluster.bound("web"), "")
        writes = [one["requestURI"] for one in self.cluster.audit(since)
                  if account_of(one) == "berth-shadow"
                  and one["verb"] not in ("get", "list", "watch")]
        self.assertEqual(writes, [])

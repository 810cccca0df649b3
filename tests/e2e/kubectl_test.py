"""What kubectl shows of Berth's events and conditions."""

import re
import shutil
import subprocess

from api import wait_for
from fixture import EndToEndTest, upstream
from objects import pod


class KubectlTest(EndToEndTest):
    def kubectl(self, *arguments):
        done = subprocess.run(["kubectl", "--kubeconfig", self.cluster.info["admin"], *arguments],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @upstream
    def test_describe_pod(self):
        self.assertTrue(shutil.which("kubectl"), "kubectl not found: see .ci/packages.txt")
        self.scheduler(names=("acme",))
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("web", scheduler="acme"))
        self.cluster.add_pod(pod("big", cpu="4", scheduler="acme"))
        self.cluster.wait_event("web", "Scheduled")
        self.cluster.wait_event("big", "FailedScheduling")
        self.cluster.wait_condition("big")
        text = self.kubectl("describe", "pod", "web")
        self.assertRegex(text, r"Node: +n1")
        self.assertRegex(text, r"PodScheduled +True")
        self.assertRegex(text, r"Normal +Scheduled +\S+ +acme +Successfully assigned default/web "
                               r"to n1")
        text = self.kubectl("describe", "pod", "big")
        self.assertRegex(text, r"PodScheduled +False")
        self.assertRegex(text, r"Warning +FailedScheduling +\S+ +acme +0/1 nodes are available: "
                               r"1 Insufficient cpu\.")

    @upstream
    def test_get_pods(self):
        """The column NOMINATED NODE and the phase come from the status that Berth writes."""
        self.scheduler()
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_bound("web")
        wait_for("get pods shows the node",
                 lambda: re.search(r"web .* n1 ", self.kubectl("get", "pods", "-o", "wide")))

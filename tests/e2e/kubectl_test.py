"""The events and conditions of Berth in the output of kubectl."""

from fixture import EndToEndTest, kubectl, upstream
from objects import pod


class KubectlTest(EndToEndTest):
    @upstream
    def test_describe_pod(self):
        self.scheduler(names=("acme",))
        self.cluster.add_node("n1", cpu="1")
        self.cluster.add_pod(pod("web", scheduler="acme"))
        self.cluster.add_pod(pod("big", cpu="4", scheduler="acme"))
        self.cluster.wait_event("web", "Scheduled")
        self.cluster.wait_event("big", "FailedScheduling")
        self.cluster.wait_condition("big")
        text = kubectl(self.cluster, "describe", "pod", "web")
        self.assertRegex(text, r"Node: +n1")
        self.assertRegex(text, r"PodScheduled +True")
        self.assertRegex(text, r"Normal +Scheduled +\S+ +acme +Successfully assigned default/web "
                               r"to n1")
        text = kubectl(self.cluster, "describe", "pod", "big")
        self.assertRegex(text, r"PodScheduled +False")
        self.assertRegex(text, r"Warning +FailedScheduling +\S+ +acme +0/1 nodes are available: "
                               r"1 Insufficient cpu\.")

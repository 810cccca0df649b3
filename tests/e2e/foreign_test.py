"""Changes by others while a pod is being scheduled, and another scheduler on the same nodes."""

from api import wait_for
from cluster import account_of
from fixture import EndToEndTest, profile
from objects import CORE, pod


class ForeignTest(EndToEndTest):
    def start(self, milliseconds=0):
        """Starts Berth with the plugin acme.Hold."""
        more = ('[[plugins]]\nname = "acme.Hold"\n'
                f'library = "{self.plugin("queue_and_hold")}"\n'
                f'[plugins.args]\nmilliseconds = {milliseconds}\n')
        return self.berth(profiles={"hold": profile("default-scheduler", more)})

    def hold(self, name, label, node=None):
        """Creates a pod and waits until it has a node that it waits to be bound to."""
        self.cluster.add_pod(pod(name, cpu="1", labels={label: "true"}))
        return wait_for(f"pod {name} is reserved", lambda: self.cluster.pod(name)["status"].get(
            "nominatedNodeName"))

    def wait_refused(self, name, since):
        """Waits until the API server has refused a binding of Berth for this pod."""
        def check():
            return [one["responseStatus"]["code"]
                    for one in self.cluster.binding_requests(since).get(name, ())
                    if account_of(one) == "berth"]
        codes = wait_for(f"Berth tries to bind {name}", check)
        self.assertIn(codes[0], (404, 409))

    def expect_room(self, node, free):
        """Asserts how many pods with one cpu each fit on a node."""
        for i in range(free + 1):
            self.cluster.add_pod(pod(f"{node}-room-{i}", cpu="1",
                                     nodeSelector={"kubernetes.io/hostname": node}))
        names = [f"{node}-room-{i}" for i in range(free + 1)]
        wait_for(f"{free} pods fit on {node}", lambda: sum(
            1 for name in names if self.cluster.bound(name)) == free)
        last = [name for name in names if not self.cluster.bound(name)]
        self.cluster.wait_condition(last[0])

    def test_pod_bound_by_another_client_during_permit(self):
        self.cluster.add_nodes(2, cpu="2")
        self.start()
        reserved = self.hold("held", "acme.com/permit")
        other = "node-1" if reserved == "node-0" else "node-0"
        self.cluster.bind("held", other)
        # The reservation is undone: both nodes have the room that the cluster shows.
        self.expect_room(reserved, 2)
        self.expect_room(other, 1)
        self.assertEqual(self.cluster.bound("held"), other)
        self.no_event("held", "FailedScheduling")

    def test_pod_bound_by_another_client_during_prebind(self):
        self.cluster.add_nodes(2, cpu="2")
        berth = self.start(milliseconds=1500)
        since = self.cluster.audit_size()
        reserved = self.hold("held", "acme.com/bind")
        other = "node-1" if reserved == "node-0" else "node-0"
        self.cluster.bind("held", other)
        self.wait_refused("held", since)
        self.expect_room(reserved, 2)
        self.expect_room(other, 1)
        self.assertEqual(self.cluster.bound("held"), other)
        binding, = self.cluster.bindings(since)["held"]
        self.assertNotEqual(account_of(binding), "berth")
        self.no_event("held", "Scheduled")
        self.assertTrue(berth.alive())

    def test_node_deleted_while_binding(self):
        """The API server does not check that the node of a binding exists."""
        self.cluster.add_node("gone", cpu="4")
        berth = self.start(milliseconds=1500)
        self.assertEqual(self.hold("held", "acme.com/bind"), "gone")
        self.cluster.admin.delete(f"{CORE}/nodes/gone")
        self.cluster.wait_bound("held", "gone")
        self.cluster.wait_event("held", "Scheduled")
        self.cluster.add_pod(pod("next", cpu="1"))
        self.cluster.wait_condition("next", "no nodes available to schedule pods")
        # The pod still counts on the node when a node of this name appears again.
        self.cluster.add_node("gone", cpu="2")
        self.cluster.wait_bound("next", "gone")
        self.expect_room("gone", 0)
        self.assertTrue(berth.alive())

    def test_pod_deleted_and_created_again_while_binding(self):
        """The binding names the uid of the first pod, so that it cannot bind the second one."""
        self.cluster.add_node("n1", cpu="2")
        self.start(milliseconds=1500)
        self.hold("held", "acme.com/bind")
        since = self.cluster.audit_size()
        self.cluster.delete_pod("held")
        self.cluster.add_pod(pod("held", cpu="2"))
        self.cluster.wait_bound("held", "n1")
        # The first binding is sent when PreBind of the first pod has ended.
        wait_for("two requests", lambda: len(self.cluster.binding_requests(since)["held"]) == 2)
        codes = [one["responseStatus"]["code"]
                 for one in self.cluster.binding_requests(since)["held"]]
        self.assertEqual(codes, [201, 409])
        uid = self.cluster.pod("held")["metadata"]["uid"]
        self.cluster.wait_event("held", "Scheduled")
        for event in self.cluster.events("held", "Scheduled"):
            self.assertEqual(event["regarding"]["uid"], uid)

    def test_beside_kube_scheduler(self):
        """Each scheduler binds the pods of its own name, and counts those of the other one."""
        self.cluster.add_nodes(10, cpu="64", pods="20")
        self.kube_scheduler(names=("theirs",))
        self.berth(profiles={"ours": profile("ours")})
        since = self.cluster.audit_size()
        self.cluster.add_pods([pod(f"{name}-{i}", scheduler=name)
                               for i in range(80) for name in ("theirs", "ours")])
        self.cluster.wait_all_bound(160)
        bindings = self.cluster.bindings(since)
        self.assertEqual(len(bindings), 160)
        for name, records in bindings.items():
            self.assertEqual([account_of(one) for one in records],
                             ["berth" if name.startswith("ours") else "kube-scheduler"])
        # Room for 40 more: Berth counts the pods that kube-scheduler has placed.
        self.cluster.add_pods([pod(f"more-{i}", scheduler="ours") for i in range(41)])
        pods = self.cluster.wait_all_bound(200)
        on_node = {}
        for one in pods:
            name = one["spec"].get("nodeName", "")
            on_node[name] = on_node.get(name, 0) + 1
        self.assertEqual(on_node.pop(""), 1)
        self.assertLessEqual(max(on_node.values()), 20)

"""Leader election with two processes, and the fence of bindings."""

import signal
import threading
import time

from api import wait_for
from berth import SHORT_LEASE
from cluster import account_of
from fixture import EndToEndTest, upstream
from objects import pod

DEFAULT_LEASE = {"leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s"}


class PodStream:
    """Creates a pod every `interval` seconds, on a thread, until stop()."""

    def __init__(self, cluster, interval=0.05):
        self.cluster = cluster
        self.interval = interval
        self.names = []
        self.errors = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.ended.wait(self.interval):
            name = f"pod-{len(self.names)}"
            try:
                self.cluster.add_pod(pod(name, cpu="10m"))
            except Exception as error:  # The test reports it.
                self.errors.append(error)
                return
            self.names.append(name)

    def stop(self):
        """Returns the names of all pods."""
        self.ended.set()
        self.thread.join()
        if self.errors:
            raise self.errors[0]
        return self.names


class LeaderTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.streams = []

    def tearDown(self):
        for stream in self.streams:
            stream.ended.set()
            stream.thread.join()
        super().tearDown()

    def holder(self):
        return self.cluster.lease().get("holderIdentity") or ""

    def wait_holder(self, other_than="", timeout=60):
        return wait_for(f"another holder than {other_than!r}", lambda: (
            self.holder() if self.holder() not in ("", other_than) else None), timeout)

    def two(self, election):
        """Starts a leader and then a standby."""
        first = self.scheduler("first", account="berth", election=election)
        holder = self.wait_holder()
        second = self.scheduler("second", account="berth-b", election=election)
        return first, second, holder

    def pods(self):
        self.cluster.add_nodes(3, cpu="64", pods="1000")
        self.streams.append(PodStream(self.cluster))
        return self.streams[-1]

    def wait_some(self, stream, bound_of=20):
        """Waits until this many further pods are bound."""
        begin = len(stream.names)
        wait_for("more pods", lambda: len(stream.names) > begin + bound_of)
        self.cluster.wait_bound(stream.names[begin + bound_of])

    def check_bindings(self, names, since):
        """Asserts that each pod was bound once, and returns the records in the order of arrival."""
        self.cluster.wait_all_bound(len(names))
        bindings = self.cluster.bindings(since)
        self.assertEqual(sorted(bindings), sorted(names))
        self.assertEqual({name: len(records) for name, records in bindings.items()
                          if len(records) != 1}, {})
        return sorted((records[0] for records in bindings.values()),
                      key=lambda record: record["requestReceivedTimestamp"])

    @upstream
    def test_released_lease_is_taken_over_at_once(self):
        stream = self.pods()
        since = self.cluster.audit_size()
        first, _, holder = self.two(DEFAULT_LEASE)
        self.wait_some(stream)
        began = time.monotonic()
        self.assertEqual(first.stop(), 0)
        self.wait_holder(other_than=holder)
        # The standby tries every 2 to 2.4 s; it does not wait for the 15 s of the lease.
        self.assertLess(time.monotonic() - began, 10)
        self.wait_some(stream)
        self.check_bindings(stream.stop(), since)
        self.assertGreater(self.cluster.lease()["leaseTransitions"], 0)

    @upstream
    def test_killed_leader_is_replaced_after_its_lease(self):
        stream = self.pods()
        since = self.cluster.audit_size()
        first, _, holder = self.two(DEFAULT_LEASE)
        self.wait_some(stream)
        renewed = self.cluster.lease()["renewTime"]
        first.kill()
        began = time.monotonic()
        self.wait_holder(other_than=holder)
        took = time.monotonic() - began
        self.assertGreater(took, 15 - 2 - 1, f"the lease was renewed at {renewed}")
        self.wait_some(stream)
        accounts = [account_of(one) for one in self.check_bindings(stream.stop(), since)]
        self.assertEqual(accounts, sorted(accounts))  # All by berth, then all by berth-b.
        self.assertEqual(set(accounts), {"berth", "berth-b"})

    def test_stopped_leader_binds_nothing_after_its_lease(self):
        """SIGSTOP is the worst pause: the process cannot notice that its lease expires."""
        stream = self.pods()
        since = self.cluster.audit_size()
        first, second, holder = self.two(SHORT_LEASE)
        self.wait_some(stream)
        first.signal(signal.SIGSTOP)
        self.wait_holder(other_than=holder)
        self.wait_some(stream)
        first.signal(signal.SIGCONT)
        self.assertEqual(first.wait(30), 1)
        self.wait_some(stream)
        self.assertTrue(second.alive())
        accounts = [account_of(one) for one in self.check_bindings(stream.stop(), since)]
        self.assertEqual(accounts, sorted(accounts))
        self.assertEqual(set(accounts), {"berth", "berth-b"})
        attempts = [one for one in self.cluster.audit(since)
                    if one.get("objectRef", {}).get("subresource") == "binding"
                    and account_of(one) == "berth" and one["responseStatus"]["code"] != 201]
        self.assertEqual(attempts, [])

    def test_leader_that_cannot_reach_the_api_server_ends(self):
        stream = self.pods()
        since = self.cluster.audit_size()
        proxy = self.proxy()
        config = self.cluster.kubeconfig("berth", "leader", server=proxy.server)
        first = self.scheduler("first", kubeconfig=config, election=SHORT_LEASE)
        holder = self.wait_holder()
        self.scheduler("second", account="berth-b", election=SHORT_LEASE)
        self.wait_some(stream)
        proxy.stall()
        began = time.monotonic()
        self.assertEqual(first.wait(30), 1)
        # It renews for 4 s, before the lease of 6 s ends and another process may lead.
        self.assertLess(time.monotonic() - began, 6 + 4)
        self.assertIn("lease", first.log().lower())
        self.wait_holder(other_than=holder)
        proxy.resume()
        self.wait_some(stream)
        self.check_bindings(stream.stop(), since)

    def test_standby_writes_nothing(self):
        self.cluster.add_node("n1")
        self.two(SHORT_LEASE)
        since = self.cluster.audit_size()
        for i in range(20):
            self.cluster.add_pod(pod(f"pod-{i}"))
        self.cluster.add_pod(pod("big", cpu="100"))
        self.cluster.wait_condition("big")
        self.cluster.wait_all_bound(20)
        writes = [one["requestURI"] for one in self.cluster.audit(since)
                  if account_of(one) == "berth-b"
                  and one["verb"] not in ("get", "list", "watch")]
        self.assertEqual([uri for uri in writes if "/leases/" not in uri
                          and "selfsubject" not in uri], [])

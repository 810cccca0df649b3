"""Failures of the scheduler process, of the API server and of the network between them.

These tests have an API server of their own, because they end and restart it.
"""

import os

from api import wait_for
from cluster import account_of
from fixture import EndToEndTest, replace_file, upstream
from objects import CORE, pod


class FailureTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.cluster = self.suite.cluster("f")
        self.cluster.wipe()
        self.since = self.cluster.audit_size()

    @classmethod
    def tearDownClass(cls):
        if "f" in cls.suite.clusters:
            cls.suite.end("f")

    def through(self, proxy, account="berth"):
        """Returns a kubeconfig of the account whose server is the proxy."""
        return self.cluster.kubeconfig(account, f"{account}-proxy", server=proxy.server)

    def expect_each_bound_once(self, count):
        """Asserts that all pods are bound, and that one request bound each of them.

        If a connection ends during a request, the server records a time-out (5xx), although it may
        have executed the request, and a server that is killed records nothing.
        """
        pods = self.cluster.wait_all_bound(count)
        requests = self.cluster.binding_requests(self.since)
        for one in pods:
            records = requests.get(one["metadata"]["name"], [])
            codes = [record["responseStatus"]["code"] for record in records]
            self.assertLessEqual(codes.count(201), 1, one["metadata"]["name"])
            if codes and 201 not in codes:
                self.assertTrue(any(code >= 500 for code in codes), (one["metadata"], codes))
        return pods, requests

    def wait_requests(self, account, since, *texts):
        """Waits until the account has sent a request whose verb and URI contain all texts."""
        def check():
            return [one for one in self.cluster.audit(since) if account_of(one) == account
                    and all(text in f"{one['verb']} {one['requestURI']}" for text in texts)]
        return wait_for(f"{account} requests {texts}", check)

    def test_kill_in_the_middle_of_500_bindings(self):
        """The replies of the bindings are late, so that many are executed but not confirmed when
        the process is killed. The room is exactly sufficient: a pod that the next process does not
        count, or counts twice, has no room.
        """
        self.cluster.add_nodes(50, cpu="4", pods="10")
        self.cluster.add_pods([pod(f"pod-{i}") for i in range(500)])
        proxy = self.proxy()
        proxy.delay = 0.3
        first = self.berth("first", kubeconfig=self.through(proxy))
        wait_for("100 bindings", lambda: len(self.cluster.bindings(self.since)) > 100)
        first.kill()
        before = len(self.cluster.bindings(self.since))
        self.assertLess(before, 450)
        self.berth("second", account="berth-b")
        pods, _ = self.expect_each_bound_once(500)
        bindings = self.cluster.bindings(self.since)
        accounts = [account_of(records[0]) for records in bindings.values()]
        self.assertGreater(accounts.count("berth"), 100)
        self.assertGreater(accounts.count("berth-b"), 50)
        counts = {}
        for one in pods:
            counts[one["spec"]["nodeName"]] = counts.get(one["spec"]["nodeName"], 0) + 1
        self.assertEqual(counts, {f"node-{i}": 10 for i in range(50)})

    def test_lost_replies_of_bindings(self):
        """The API server executes the bindings, but the connections end before the replies."""
        self.cluster.add_nodes(5, cpu="64")
        proxy = self.proxy(tls=self.cluster.folder)
        proxy.lose = b"/binding"
        berth = self.berth(kubeconfig=self.through(proxy))
        self.cluster.add_pods([pod(f"pod-{i}") for i in range(20)])
        self.expect_each_bound_once(20)
        self.assertGreaterEqual(proxy.lost, 20)
        for i in range(20):
            self.no_event(f"pod-{i}", "FailedScheduling")
        proxy.lose = b""
        self.cluster.add_pod(pod("last"))
        self.cluster.wait_bound("last")
        self.assertTrue(berth.alive())

    @upstream
    def test_api_server_stopped_and_started(self):
        self.cluster.add_nodes(10, pods="40")
        scheduler = self.scheduler()
        self.cluster.add_pods([pod(f"pod-{i}") for i in range(200)])
        wait_for("some bindings", lambda: len(self.cluster.bindings(self.since)) > 20)
        self.cluster.stop()
        self.cluster.start()
        self.cluster.add_pods([pod(f"late-{i}") for i in range(200)])
        self.expect_each_bound_once(400)
        self.assertTrue(scheduler.alive())

    @upstream
    def test_watches_that_are_cut_continue(self):
        self.cluster.add_nodes(10, pods="60")
        proxy = self.proxy()
        scheduler = self.scheduler(kubeconfig=self.through(proxy))
        cut_at = self.cluster.audit_size()
        for round_number in range(5):
            self.cluster.add_pods([pod(f"pod-{round_number}-{i}") for i in range(100)])
            proxy.cut()
        self.expect_each_bound_once(500)
        # The watches continue where they ended. (client-go lists again after a very short watch.)
        again = [one["requestURI"] for one in self.wait_requests("berth", cut_at, "/nodes?")
                 if one["verb"] == "list" or one["stage"] == "ResponseStarted"
                 and "sendInitialEvents=true" in one["requestURI"]]
        self.assertEqual([] if self.suite.upstream else again, [])
        self.assertTrue(scheduler.alive())

    @upstream
    def test_changes_during_an_interruption_are_seen(self):
        proxy, _ = self.start_with_full_nodes()
        proxy.refuse()
        self.change_while_away()
        proxy.accept()
        self.expect_changes()

    def start_with_full_nodes(self):
        """Starts a scheduler behind a proxy, and fills two nodes with one pod each."""
        self.cluster.add_node("full", cpu="1")
        self.cluster.add_node("gone", cpu="1")
        proxy = self.proxy()
        scheduler = self.scheduler(kubeconfig=self.through(proxy))
        for name in ("full", "gone"):
            self.add_for(f"on-{name}", name)
            self.cluster.wait_bound(f"on-{name}", name)
        return proxy, scheduler

    def add_for(self, name, node):
        """Creates a pod that fits on one node only."""
        self.cluster.add_pod(pod(name, cpu="1", nodeSelector={"kubernetes.io/hostname": node}))

    def change_while_away(self):
        """Deletes the pod on `full`, and the node `gone` with its pod."""
        self.cluster.delete_pod("on-full")
        self.cluster.delete_pod("on-gone")
        self.cluster.admin.delete(f"{CORE}/nodes/gone")

    def expect_changes(self):
        # Watches of different kinds continue at different times. When this pod is bound to this
        # node, the scheduler has received all earlier changes of both kinds.
        self.add_for("mark", "mark")
        self.cluster.add_node("mark", cpu="1")
        self.cluster.wait_bound("mark", "mark")
        names = ("one", "two")
        for name in names:
            self.cluster.add_pod(pod(name, cpu="1"))
        bound = wait_for("one pod is bound",
                         lambda: [name for name in names if self.cluster.bound(name)])
        self.assertEqual(self.cluster.bound(bound[0]), "full")
        waiting, = set(names) - set(bound)
        self.cluster.wait_condition(waiting, "0/2 nodes are available: 2 Insufficient cpu.")
        self.cluster.add_node("new", cpu="1")
        self.cluster.wait_bound(waiting, "new")

    @upstream
    def test_list_again_after_compaction(self):
        """The revisions after which the watches would continue do not exist any more (410)."""
        proxy, scheduler = self.start_with_full_nodes()
        proxy.refuse()
        self.change_while_away()
        self.cluster.stop()
        self.cluster.start(compact=True)
        began = self.cluster.audit_size()
        proxy.accept()
        self.expect_changes()
        listed = self.wait_requests("berth", began, "/nodes?")
        self.assertTrue(any(one["verb"] == "list" or "sendInitialEvents=true" in one["requestURI"]
                            for one in listed), [one["requestURI"] for one in listed])
        self.assertTrue(scheduler.alive())

    def test_rotated_token(self):
        """The kubeconfig names a file with a token, which is revoked after the file has another
        one.
        """
        for is_cut in (False, True):
            # On connections that stay open, the server refuses the old token with a 401.
            with self.subTest("new connections" if is_cut else "connections that stay open"):
                self.rotate_token("cut" if is_cut else "kept", is_cut)

    def rotate_token(self, name, is_cut):
        path = os.path.join(self.cluster.folder, f"{name}.token")
        secrets = [f"token-{name}-{i}" for i in range(2)]
        tokens = [self.cluster.request_token("berth", secret) for secret in secrets]

        def revoke(secret):
            self.cluster.admin.delete(f"{CORE}/namespaces/kube-system/secrets/{secret}")

        replace_file(path, tokens[0])
        proxy = self.proxy()
        berth = self.berth(name, kubeconfig=self.cluster.kubeconfig(
            "berth", f"rotated-{name}", proxy.server, token_file=path))
        self.cluster.add_node(f"node-{name}")
        self.cluster.add_pod(pod(f"before-{name}"))
        self.cluster.wait_bound(f"before-{name}")
        replace_file(path, tokens[1])
        revoke(secrets[0])
        self.cluster.wait_refused(tokens[0])
        if is_cut:
            proxy.cut()
        self.cluster.add_pod(pod(f"after-{name}"))
        self.cluster.wait_bound(f"after-{name}")
        self.assertEqual(berth.stop(), 0)
        for token in tokens:
            self.assertNotIn(token, berth.log())
        revoke(secrets[1])


class PagesTest(EndToEndTest):
    """An API server that does not send the first state through watches, as servers before 1.32."""

    def setUp(self):
        super().setUp()
        self.cluster = self.suite.cluster("p", ["--feature-gates=WatchList=false"])

    def tearDown(self):
        super().tearDown()
        if "p" in self.suite.clusters:
            self.suite.end("p")

    @upstream
    def test_lists_have_pages(self):
        self.cluster.add_nodes(20, pods="60")
        self.cluster.add_pods([pod(f"pod-{i}") for i in range(1100)])
        since = self.cluster.audit_size()
        self.scheduler()
        self.cluster.wait_all_bound(1100)
        self.assertEqual(len(self.cluster.bindings(since)), 1100)
        lists = [one["requestURI"] for one in self.cluster.audit(since)
                 if account_of(one) == "berth" and one["verb"] == "list"
                 and one["objectRef"]["resource"] == "pods"]
        # kube-scheduler accepts a list from the server's cache, which has one page.
        self.assertGreater(len(lists), 0 if self.suite.upstream else 2, lists)
        self.cluster.add_pod(pod("last"))
        self.cluster.wait_bound("last")

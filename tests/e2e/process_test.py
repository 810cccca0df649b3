"""The process: health checks, metrics, the log, and its end."""

import json
import os
import time

from api import wait_for
from fixture import EndToEndTest
from objects import pod

# Metrics of kube-scheduler that dashboards use.
METRICS = """
scheduler_schedule_attempts_total scheduler_scheduling_attempt_duration_seconds_bucket
scheduler_scheduling_algorithm_duration_seconds_bucket scheduler_pending_pods
scheduler_pod_scheduling_sli_duration_seconds_bucket scheduler_pod_scheduling_attempts_bucket
scheduler_queue_incoming_pods_total scheduler_framework_extension_point_duration_seconds_bucket
rest_client_requests_total rest_client_request_size_bytes_bucket process_resident_memory_bytes
process_open_fds berth_build_info
""".split()


class ProcessTest(EndToEndTest):
    def test_health_checks(self):
        berth = self.berth()
        for path in ("/livez", "/readyz", "/healthz"):
            self.assertEqual(berth.get(path), (200, "ok"), path)
        status, text = berth.get("/readyz?verbose")
        self.assertEqual(status, 200)
        self.assertIn("[+]ping ok", text)
        self.assertIn("readyz check passed", text)
        self.assertEqual(berth.get("/no-such-path")[0], 404)

    def test_metrics_count_the_attempts(self):
        # Before the start: a pod may be seen earlier than a node that was added just before it.
        self.cluster.add_node("n1", cpu="1")
        berth = self.berth()
        for i in range(5):
            self.cluster.add_pod(pod(f"pod-{i}"))
            self.cluster.wait_bound(f"pod-{i}")
        self.cluster.add_pod(pod("big", cpu="4"))
        self.cluster.wait_condition("big")
        attempts = "scheduler_schedule_attempts_total"
        wait_for("5 attempts were counted", lambda: berth.metric(
            attempts, result="scheduled", profile="default-scheduler") == 5)
        wait_for("1 attempt was counted", lambda: berth.metric(
            attempts, result="unschedulable", profile="default-scheduler") == 1)
        wait_for("1 pod is unschedulable", lambda: berth.metric(
            "scheduler_pending_pods", queue="unschedulable") == 1)
        page = berth.get("/metrics")[1]
        for name in METRICS:
            self.assertIn(name, page)

    def test_log_has_the_pod_and_the_node_as_keys(self):
        berth = self.berth()
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("web"))
        self.cluster.wait_bound("web")
        record = berth.wait_record("Bound")
        self.assertEqual(record["node"], {"name": "n1"} if isinstance(record["node"], dict)
                         else "n1")
        self.assertIn("web", json.dumps(record["pod"]))
        with open(self.cluster.info["tokens"]["berth"], encoding="ascii") as file:
            self.assertNotIn(file.read(), berth.log())

    def test_sigterm_settles_bindings_and_releases_the_lease(self):
        """Answers are late, so that many bindings are under way when the process is told to end."""
        proxy = self.proxy()
        proxy.delay = 0.02
        since = self.cluster.audit_size()
        self.cluster.add_nodes(20, pods="110")
        self.cluster.add_pods([pod(f"pod-{i}", cpu="10m") for i in range(1500)])
        berth = self.berth(election={}, kubeconfig=self.cluster.kubeconfig(
            "berth", "sigterm", server=proxy.server))
        wait_for("50 bindings", lambda: len(self.cluster.bindings(since)) > 50)
        began = time.monotonic()
        self.assertEqual(berth.stop(), 0)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.cluster.lease().get("holderIdentity", ""), "")
        # Each binding under way has ended, with its event; the other pods were not tried any more.
        bound = {one["metadata"]["name"] for one in self.cluster.pods()
                 if one["spec"].get("nodeName")}
        self.assertLess(len(bound), 1500)
        for name, records in self.cluster.binding_requests(since).items():
            self.assertEqual([one["responseStatus"]["code"] for one in records], [201], name)
        events = self.cluster.admin.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        told = {one["regarding"]["name"] for one in events if one["reason"] == "Scheduled"}
        self.assertEqual(bound - told, set())

    def test_start_while_the_api_server_is_away(self):
        """The process waits for the API server instead of ending."""
        proxy = self.proxy()
        proxy.refuse()
        self.cluster.add_node("n1")
        self.cluster.add_pod(pod("web"))
        config = self.cluster.kubeconfig("berth", "away", server=proxy.server)
        berth = self.berth(kubeconfig=config, ready=False)
        wait_for("the refused connection is logged", lambda: "refused" in berth.log())
        wait_for("the server answers", lambda: berth.get("/livez")[0] == 200)
        self.assertNotEqual(berth.get("/readyz")[0], 200)
        proxy.accept()
        berth.wait_ready()
        self.cluster.wait_bound("web", "n1")

    def test_bad_kubeconfig_ends_with_status_2(self):
        folder = self.cluster.folder
        with open(self.cluster.kubeconfig("berth", "good"), encoding="utf-8") as file:
            good = file.read()
        cases = (("nonexistent", None, "nonexistent"), ("no-yaml", "clusters: [", "no-yaml"),
                 ("no-context", good.replace('"current-context": "e2e"',
                                             '"current-context": "lost"'), "lost"),
                 ("no-clusters", "apiVersion: v1\nkind: Config\n", "no-clusters"))
        for name, content, text in cases:
            config = os.path.join(folder, name)
            if content is not None:
                with open(config, "w", encoding="utf-8") as file:
                    file.write(content)
            berth = self.berth(name, kubeconfig=config, ready=False)
            self.assertEqual(berth.wait(), 2, name)
            self.assertIn(text, berth.log())

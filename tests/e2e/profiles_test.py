"""Several profiles in one process, third-party plugins, and a reload."""

import http.server
import json
import os
import signal
import threading

from fixture import EndToEndTest, profile, upstream
from objects import pod


def annotated(name, annotations):
    """A pod of the profile "acme" with annotations."""
    a_pod = pod(name, scheduler="acme")
    a_pod["metadata"]["annotations"] = annotations
    return a_pod


class ScoreService:
    """A web service that prefers the node "green", and answers when `wanted` requests are there."""

    def __init__(self, wanted):
        barrier = threading.Barrier(wanted)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                barrier.wait()
                body = b'{"scores": {"green": 100}}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/rate"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class ProfilesTest(EndToEndTest):
    @upstream
    def test_two_profiles_in_one_process(self):
        self.scheduler(names=("blue", "green"))
        self.cluster.add_node("n1")
        for name in ("blue", "green"):
            self.cluster.add_pod(pod(f"{name}-pod", scheduler=name))
            self.cluster.wait_bound(f"{name}-pod", "n1")
            event = self.cluster.wait_event(f"{name}-pod", "Scheduled")
            self.assertEqual(event["reportingController"], name)

    def test_profiles_decide_differently(self):
        """The same pods go to the fullest node with one profile, and spread with the other."""
        pack = ('[[plugins]]\nname = "NodeResourcesFit"\n[plugins.args.scoringStrategy]\n'
                'type = "MostAllocated"\n'
                '[[plugins]]\nname = "NodeResourcesBalancedAllocation"\nenabled = false\n')
        self.cluster.add_nodes(3)
        self.berth(profiles={"pack": profile("pack", pack), "even": profile("even")})
        for i in range(3):
            self.cluster.add_pod(pod(f"even-{i}", cpu="1", memory="4Gi", scheduler="even"))
            self.cluster.wait_bound(f"even-{i}")
        self.assertEqual(len({self.cluster.bound(f"even-{i}") for i in range(3)}), 3)
        for i in range(3):
            self.cluster.add_pod(pod(f"pack-{i}", cpu="1", memory="4Gi", scheduler="pack"))
            self.cluster.wait_bound(f"pack-{i}")
        self.assertEqual(len({self.cluster.bound(f"pack-{i}") for i in range(3)}), 1)

    def rack_power(self, watts, deadline="1s"):
        return profile("acme", f'[[plugins]]\nname = "acme.RackPower"\nlibrary = '
                               f'"{self.plugin("rack_power")}"\ndeadline = "{deadline}"\n'
                               f'[plugins.args]\nwattsPerRack = {watts}\n')

    def check_shown(self, berth, deadline):
        """Checks that /configz shows the plugin with this deadline, and without its arguments."""
        status, text = berth.get("/configz")
        shown, = json.loads(text)["berth"]["profiles"]
        plugin, = [one for one in shown["plugins"] if one["name"] == "acme.RackPower"]
        self.assertEqual((status, shown["schedulerName"], plugin["deadline"]),
                         (200, "acme", deadline))
        self.assertNotIn("wattsPerRack", text)

    def add_racks(self):
        watts = {"acme.com/watts": "1200"}
        for rack, cpu in (("r1", "64"), ("r2", "8")):
            self.cluster.add_node(rack, cpu=cpu, labels={"acme.com/rack": rack}, **watts)

    def test_third_party_plugin_decides(self):
        self.add_racks()
        self.berth(profiles={"acme": self.rack_power(1000)})
        amounts = {"acme.com/watts": "700"}
        for name in ("first", "second", "third"):
            self.cluster.add_pod(pod(name, scheduler="acme", requests=amounts))
            if name != "third":
                self.cluster.wait_bound(name)
        # The pods would fit on one node, but not within the power of its rack.
        self.assertEqual({self.cluster.bound("first"), self.cluster.bound("second")},
                         {"r1", "r2"})
        text = "0/2 nodes are available: 2 Rack power budget exceeded."
        self.cluster.wait_condition("third")
        found = self.cluster.wait_event("third", "FailedScheduling")["note"]
        self.assertIn(found, (text, text.replace("2 Rack", "2 Insufficient acme.com/watts, 2 Rack"),
                              "0/2 nodes are available: 2 Insufficient acme.com/watts."))
        self.cluster.delete_pod("first")
        self.cluster.wait_bound("third")

    def test_reload_applies_a_changed_profile(self):
        self.add_racks()
        berth = self.berth(profiles={"acme": self.rack_power(100)})
        self.cluster.add_pod(pod("hungry", scheduler="acme", requests={"acme.com/watts": "500"}))
        self.cluster.wait_condition(
            "hungry", "0/2 nodes are available: 2 Rack power budget exceeded.")
        self.check_shown(berth, "1s")
        path = os.path.join(berth.folder, "acme.toml")
        # A profile with an error is reported, and the running one is kept.
        with open(path, "w", encoding="utf-8") as file:
            file.write('schedulerName = "acme"\nextends = "default"\nwieght = 1\n')
        berth.signal(signal.SIGHUP)
        self.cluster.add_pod(pod("modest", scheduler="acme", requests={"acme.com/watts": "50"}))
        self.cluster.wait_bound("modest")
        self.check_shown(berth, "1s")
        berth.write("acme.toml", self.rack_power(1000, deadline="2s"))
        berth.signal(signal.SIGHUP)
        self.cluster.wait_bound("hungry")
        self.check_shown(berth, "2s")
        self.assertTrue(berth.alive())

    def test_plugin_patches_pods_before_they_are_bound(self):
        """The example gpu_share writes annotations, and reads them again after a restart."""
        text = profile("acme", '[[plugins]]\nname = "acme.GpuShare"\nlibrary = '
                               f'"{self.plugin("gpu_share")}"\n')
        self.cluster.grant("berth", "patch", [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}])
        self.cluster.add_node("n1", labels={"acme.com/gpus": "1"})
        berth = self.berth(profiles={"acme": text})
        for name, percent in (("first", "60"), ("second", "40"), ("third", "10")):
            self.cluster.add_pod(annotated(name, {"acme.com/gpu-percent": percent}))
            if name != "third":
                self.cluster.wait_bound(name, "n1")
                annotations = self.cluster.pod(name)["metadata"]["annotations"]
                self.assertEqual(annotations["acme.com/gpu"], "0")
        full = "0/1 nodes are available: 1 No GPU has enough room."
        self.cluster.wait_condition("third", full)
        berth.stop()
        self.berth("successor", profiles={"acme": text})
        self.cluster.add_pod(annotated("fourth", {"acme.com/gpu-percent": "1"}))
        self.cluster.wait_condition("fourth", full)
        self.cluster.delete_pod("second")
        for name in ("third", "fourth"):
            self.cluster.wait_bound(name, "n1")

    def test_plugin_binds_jobs_as_a_whole(self):
        """The example job_gang: two pods of three fit, and give the node to another job."""
        self.cluster.add_node("n1", pods="2")
        self.berth(profiles={"acme": profile(
            "acme", '[[plugins]]\nname = "acme.JobGang"\nlibrary = '
                    f'"{self.plugin("job_gang")}"\n')})
        for job, size in (("large", 3), ("small", 2)):
            for i in range(size):
                a_pod = annotated(f"{job}-{i}", {"acme.com/gang-size": str(size)})
                a_pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] = job
                self.cluster.add_pod(a_pod)
        for name in ("small-0", "small-1"):
            self.cluster.wait_bound(name, "n1")
        for i in range(3):
            self.cluster.wait_condition(f"large-{i}")

    def test_plugin_scores_with_a_web_service(self):
        """The example webhook_score: its service answers no pod before it knows both."""
        service = ScoreService(wanted=2)
        self.addCleanup(service.close)
        self.cluster.add_node("large", cpu="64")
        self.cluster.add_node("green", cpu="8")
        self.berth(profiles={"acme": profile(
            "acme", '[[plugins]]\nname = "acme.WebhookScore"\nweight = 100\nlibrary = '
                    f'"{self.plugin("webhook_score")}"\n[plugins.args]\n'
                    f'url = "{service.url}"\ntimeoutMs = 60000\n')})
        for name in ("first", "second"):
            self.cluster.add_pod(pod(name, scheduler="acme"))
        for name in ("first", "second"):
            self.cluster.wait_bound(name, "green")
        # Without the service, pods are scheduled without its scores.
        service.close()
        self.cluster.add_pod(pod("third", scheduler="acme"))
        self.cluster.wait_bound("third")

    def test_third_party_queue_sort(self):
        """The node has room for two of four pods: without the plugin they are the first ones."""
        sort = ('[[plugins]]\nname = "PrioritySort"\nenabled = false\n'
                '[[plugins]]\nname = "acme.SmallestFirst"\n'
                f'library = "{self.plugin("queue_and_hold")}"\n')
        self.cluster.add_node("n1", pods="2")
        for name, cpu in (("a", "400m"), ("b", "300m"), ("c", "100m"), ("d", "200m")):
            self.cluster.add_pod(pod(name, cpu=cpu))
        self.berth(profiles={"small": profile("default-scheduler", sort)})
        for name in ("c", "d"):
            self.cluster.wait_bound(name)
        for name in ("a", "b"):
            self.cluster.wait_condition(name, "0/1 nodes are available: 1 Too many pods.")

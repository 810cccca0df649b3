#!/usr/bin/env python3
"""Measures Berth and kube-scheduler on the same API server, and prints the ratios.

usage: run.py [--kubernetes VERSION] [--workload NAME] [--nodes N] [--pods N] [--order ABBA]
              [--same-plugins] [--in-process] [--output table|json] [--json FILE] [--keep]

Starts one API server (tests/e2e), creates the nodes, and then measures in turn, A kube-scheduler
and B Berth: it creates a backlog of pods while no scheduler runs, starts the scheduler, and waits
until all pods are bound. Before the first and after the last run it measures the ceiling: bare
binding requests for as many pods, without a scheduler. They also warm up the API server. Pods are
deleted between the runs. Both schedulers run with their default configuration and without leader
election, kube-scheduler with qps and burst 5000. By default it also has the plugins that Berth does
not have; --same-plugins disables them. --kubernetes selects the version of kube-scheduler and of
the API server as in tests/e2e, and Berth decides as this version.

The workloads are those of kube-scheduler's scheduler_perf:

  basic            SchedulingBasic: pods without constraints (the default)
  spread           TopologySpreading: a hard constraint over three zones; one pod is on each node
  anti-affinity    SchedulingPodAntiAffinity: each pod wants a node of its own; 1,000 have one
  affinity         SchedulingPodAffinity: each pod wants the zone of the others; one pod is on each
                   node, and all nodes are in one zone
  preemption       PreemptionBasic: four pods of a low priority fill each node, and each of the pods
                   needs the room of three of them. The bare bindings evict nobody

  pods/s           from the first to the last binding, as a watch of all pods shows them
                   (preemption: from the start of the scheduler, which evicts before it binds)
  CPU ms/pod       of all threads of the scheduler, from the first binding until it has written its
                   events: their number has not changed for 2 s (preemption: from its start)
  start s          from the start of the process to the first binding
  start CPU s      of the scheduler in this time
  RSS MiB          the peak of the scheduler, from its start on
  API CPU ms/pod   of the API server with etcd, in the time of CPU ms/pod. For bare bindings, the
                   time in which the nodes and the pods are listed once is included

The table also has the CPU time of each thread of Berth, which shows the share of each phase, and
how far apart the two runs of each scheduler are.

How long it takes, roughly, on two cores that have nothing else to do (the output names the time):

    run.py                               5,000 pods on 5,000 nodes: two to three minutes
    run.py --pods 3000 --nodes 15000     two minutes, much of it to create the nodes
    run.py --workload preemption         two minutes, on 1,000 nodes
    run.py --order "" --in-process       half a minute

The letter J in --order is kube-scheduler with JSON, as Berth has it, instead of protobuf:
--order AJJAAJ shows what JSON costs the API server.

--in-process also compares the scheduling cycles alone: schedule-one runs kube-scheduler's with a
Bind plugin that does nothing, and berth-bench W1 runs Berth's, on as many nodes and pods. A fifth
of the pods is for warming up. kube-scheduler looks at a part of the nodes only, as it does by
default; Berth looks at all, and decides as the newest version, which makes no difference here.

Times depend on the machine and on what else runs there. Only the ratios of one run are comparable,
and only if the two runs of each scheduler are close to each other. The scheduler, the API server
and this program share the cores.
"""

import argparse
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(os.path.dirname(HERE)), "e2e")
sys.path.insert(0, E2E)

from api import in_parallel, wait_for  # noqa: E402
from berth import Berth, KubeScheduler, decide_as  # noqa: E402
from cluster import Cluster  # noqa: E402
from objects import CORE, EVENTS, node, pod  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
SETTLE_SECONDS = 2
NAMES = {"A": "kube-scheduler", "B": "berth", "J": "kube-scheduler, JSON"}


def stat_of(path):
    """Returns the name and the user and system time in seconds of a process or of a thread."""
    with open(path, encoding="ascii", errors="replace") as file:
        name, fields = file.read().split("(", 1)[1].rsplit(")", 1)
    return name, sum(int(field) for field in fields.split()[11:13]) / TICK


def cpu_seconds(pid):
    return stat_of(f"/proc/{pid}/stat")[1]


def thread_seconds(pid):
    """Returns {name: CPU seconds} of the threads of a process."""
    found = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        name, seconds = stat_of(f"/proc/{pid}/task/{thread}/stat")
        found[name] = found.get(name, 0) + seconds
    return found


def peak_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def kubernetes():
    """Returns the version of kube-scheduler and of the API server."""
    return os.environ["BERTH_E2E_KUBERNETES"]


class BindingWatch(threading.Thread):
    """Watches the pods that have a node, and notes the times of the first and the last one.

    It asks for the metadata only, so that it costs little.
    """

    def __init__(self, cluster, count, at_first):
        super().__init__(daemon=True)
        self.count = count
        self.at_first = at_first
        self.seen = 0
        self.first = self.last = 0.0
        path = f"{CORE}/pods?fieldSelector=spec.nodeName%21%3D"
        version = cluster.admin.get(path + "&limit=1")["metadata"]["resourceVersion"]
        self.connection = cluster.admin.connect(timeout=600)
        self.connection.request(
            "GET", f"{path}&watch=1&resourceVersion={version}&timeoutSeconds=3600",
            headers={"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"})
        self.answer = self.connection.getresponse()
        self.start()

    def run(self):
        while self.seen < self.count:
            line = self.answer.readline()
            if not line:
                return
            if b'"type":"ADDED"' in line[:40]:
                self.last = time.monotonic()
                if not self.seen:
                    self.first = self.last
                    self.at_first()
                self.seen += 1

    def close(self):
        self.connection.close()


COLORED = {"labelSelector": {"matchLabels": {"color": "blue"}}}
PLACED = "placed"  # The namespace of the pods that have nodes before the first run.


def affinity_to_colored(kind, key):
    term = {**COLORED, "topologyKey": key, "namespaces": ["default", PLACED]}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


SPREAD = {"topologySpreadConstraints": [{**COLORED, "maxSkew": 5, "whenUnsatisfiable":
                                         "DoNotSchedule",
                                         "topologyKey": "topology.kubernetes.io/zone"}]}
ANTI_AFFINITY = affinity_to_colored("podAntiAffinity", "kubernetes.io/hostname")
AFFINITY = affinity_to_colored("podAffinity", "topology.kubernetes.io/zone")
PRIORITIES = {"low": 0, "high": 10}
PREEMPTING = """schedulerName = "default-scheduler"
extends = "default"
[[plugins]]
name = "DefaultPreemption"
[plugins.args]
minCandidateNodesPercentage = 100
"""


@dataclasses.dataclass(frozen=True)
class Workload:
    """The objects of a workload.

    constraints         of the pods: further fields of their spec
    placed              how many pods are on nodes before the first run, each on another node
    placed_constraints  of these pods
    zones               the number of zones
    victims             how many pods of a low priority are on each node before each run
    nodes, pods         the default numbers
    """

    constraints: dict = dataclasses.field(default_factory=dict)
    placed: int = 0
    placed_constraints: dict = dataclasses.field(default_factory=dict)
    zones: int = 3
    victims: int = 0
    nodes: int = 5000
    pods: int = 5000


WORKLOADS = {
    "basic": Workload(),
    "spread": Workload(SPREAD, 5000),
    "anti-affinity": Workload(ANTI_AFFINITY, 1000, ANTI_AFFINITY, pods=2000),
    "affinity": Workload(AFFINITY, 5000, AFFINITY, zones=1),
    "preemption": Workload({"priorityClassName": "high", "cpu": "3"}, victims=4, nodes=1000,
                           pods=1000),
}


class Bench:
    def __init__(self, options, cluster, folder):
        self.options = options
        self.cluster = cluster
        self.folder = folder
        self.runs = 0
        self.workload = WORKLOADS[options.workload]

    def add_nodes(self):
        """Creates the nodes, and the pods that are on them before the first run."""
        for name, value in PRIORITIES.items():
            self.cluster.admin.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": name}, "value": value})

        def add(i):
            labels = {"topology.kubernetes.io/zone": f"zone{i % self.workload.zones + 1}"}
            self.cluster.admin.post(f"{CORE}/nodes", node(f"node-{i}", cpu="4", labels=labels))
        in_parallel(add, range(self.options.nodes), threads=16)

        def place(i):
            self.add_pod(i, "nobody", self.workload.placed_constraints, namespace=PLACED,
                         nodeName=f"node-{i}")
        self.cluster.use_namespace(PLACED)
        in_parallel(place, range(min(self.workload.placed, self.options.nodes)), threads=16)

    def add_pod(self, i, scheduler, constraints, **more):
        spec = {"cpu": "100m", "memory": "500Mi", **constraints, **more}
        self.cluster.add_pod(pod(f"pod-{i}", scheduler=scheduler,
                                 labels={"color": "blue"} if constraints else None, **spec))

    def add_victim(self, i):
        self.cluster.add_pod(pod(f"victim-{i}", cpu="900m", memory="500Mi", scheduler="nobody",
                                 priorityClassName="low",
                                 nodeName=f"node-{i % self.options.nodes}"))

    def add_pods(self, scheduler):
        """Adds the victims, and then the pods of this scheduler."""
        in_parallel(self.add_victim, range(self.workload.victims * self.options.nodes), threads=16)
        in_parallel(lambda i: self.add_pod(i, scheduler, self.workload.constraints),
                    range(self.options.pods), threads=16)

    def delete_pods(self):
        self.cluster.admin.delete(f"{CORE}/namespaces/default/pods", gracePeriodSeconds=0)
        wait_for("all pods are gone", lambda: not self.cluster.pods(limit=1), timeout=300)
        self.cluster.admin.delete("/apis/events.k8s.io/v1/namespaces/default/events")

    def start(self, letter):
        """Returns the started scheduler."""
        self.runs += 1
        name = f"run-{self.runs}"
        if letter != "B":
            return KubeScheduler(os.path.join(os.environ["BERTH_E2E_BIN"], "kube-scheduler"),
                                 self.folder, name, self.cluster.kubeconfig("kube-scheduler"),
                                 all_plugins=not self.options.same_plugins,
                                 verbosity=0,
                                 content_type="application/json" if letter == "J" else None
                                 ).start(ready=False)
        profiles = {"preempting": PREEMPTING} if self.workload.victims else None
        berth = Berth(os.path.abspath(os.environ["BERTH"]), self.folder, name,
                      self.cluster.kubeconfig("berth"), profiles, log_level="error",
                      options=decide_as(kubernetes()))
        return berth.start(ready=False)

    def wait_events(self):
        """Waits until the number of events has not changed for SETTLE_SECONDS."""
        count, before = -1, None
        while count != before:
            before = count
            time.sleep(SETTLE_SECONDS)
            page = self.cluster.admin.get(EVENTS, limit=1)
            count = page["metadata"].get("remainingItemCount", 0)

    def measure(self, letter):
        """Returns the figures of one run."""
        self.add_pods("default-scheduler")
        server, marks = self.cluster.process.pid, {}

        def at_first():
            marks["cpu"] = cpu_seconds(scheduler.process.pid)
            marks["server"] = cpu_seconds(server)
        watch = BindingWatch(self.cluster, self.options.pods, at_first)
        began, server_before = time.monotonic(), cpu_seconds(server)
        scheduler = self.start(letter)
        try:
            wait_for(f"{NAMES[letter]} binds {self.options.pods} pods",
                     lambda: not watch.is_alive() or not scheduler.alive(), timeout=1200,
                     interval=0.5)
            if watch.seen < self.options.pods:
                raise RuntimeError(f"{NAMES[letter]} bound {watch.seen} pods:\n"
                                   f"{scheduler.log()[-3000:]}")
            self.wait_events()
            pid, first, before = scheduler.process.pid, watch.first, dict(marks)
            if self.workload.victims:
                first, before = began, {"cpu": 0, "server": server_before}
            seconds = watch.last - first
            figures = {
                "scheduler": NAMES[letter], "seconds": seconds,
                "podsPerSecond": (self.options.pods - 1) / seconds,
                "cpuMsPerPod": (cpu_seconds(pid) - before["cpu"]) * 1000 / self.options.pods,
                "startSeconds": watch.first - began, "startCpuSeconds": marks["cpu"],
                "peakRssBytes": peak_bytes(pid),
                "serverCpuMsPerPod": (cpu_seconds(server) - before["server"]) * 1000
                                     / self.options.pods,
                "threadCpuSeconds": thread_seconds(pid),
            }
        finally:
            scheduler.signal(signal.SIGTERM)
            scheduler.wait()
            watch.close()
        self.delete_pods()
        return figures

    def ceiling(self):
        """Returns the figures of bare binding requests."""
        self.add_pods("nobody")
        server = self.cluster.process.pid
        before = cpu_seconds(server)
        done = subprocess.run(
            [os.path.join(os.environ["BERTH_E2E_BIN"], "bind"), "--kubeconfig",
             self.cluster.info["admin"], "--scheduler", "nobody"],
            capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        figures["serverCpuMsPerPod"] = (cpu_seconds(server) - before) * 1000 / self.options.pods
        self.delete_pods()
        return figures


def measure_all(options, folder, result):
    """Adds the figures of all runs on an API server to `result`."""
    cluster = Cluster(os.environ["BERTH_E2E_BIN"], os.path.join(folder, "c"), audit=False)
    try:
        cluster.start()
        bench = Bench(options, cluster, folder)
        bench.add_nodes()
        result["ceiling"].append(bench.ceiling())
        for letter in options.order:
            print(f"{NAMES[letter]} ...", file=sys.stderr, flush=True)
            result["runs"].append(bench.measure(letter))
        result["ceiling"].append(bench.ceiling())
    finally:
        cluster.stop()


def mean(runs, letter, key):
    values = [run[key] for run in runs if run["scheduler"] == NAMES[letter]]
    return sum(values) / len(values)


def spread(runs, letter):
    """Returns the difference between the runs of a scheduler in pods/s, as a part of their mean."""
    values = [run["podsPerSecond"] for run in runs if run["scheduler"] == NAMES[letter]]
    return (max(values) - min(values)) / mean(runs, letter, "podsPerSecond")


def ratios(result):
    """Returns how many times more pods/s, and how many times less CPU and memory, Berth has."""
    runs, ceilings = result["runs"], result["ceiling"]
    if not {NAMES["A"], NAMES["B"]} <= {run["scheduler"] for run in runs}:
        return {}
    top = sum(one["podsPerSecond"] for one in ceilings) / len(ceilings)
    return {
        "podsPerSecond": mean(runs, "B", "podsPerSecond") / mean(runs, "A", "podsPerSecond"),
        "cpuPerPod": mean(runs, "A", "cpuMsPerPod") / mean(runs, "B", "cpuMsPerPod"),
        "peakRss": mean(runs, "A", "peakRssBytes") / mean(runs, "B", "peakRssBytes"),
        "serverCpuPerPod": mean(runs, "A", "serverCpuMsPerPod")
                           / mean(runs, "B", "serverCpuMsPerPod"),
        "shareOfCeiling": mean(runs, "B", "podsPerSecond") / top,
        "spreadOfKubeScheduler": spread(runs, "A"),
        "spreadOfBerth": spread(runs, "B"),
    }


def in_process(options, folder):
    """Returns the figures of both scheduling cycles without an API server."""
    path = os.path.join(folder, "objects.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(options.nodes):
            labels = {"topology.kubernetes.io/zone": f"zone{i % 3 + 1}"}
            file.write(json.dumps(node(f"node-{i}", cpu="4", labels=labels)) + "\n")
        for i in range(options.pods):
            file.write(json.dumps(pod(f"pod-{i}", cpu="100m", memory="500Mi")) + "\n")
    warm = options.pods // 5
    theirs = json.loads(subprocess.run(
        [os.path.join(os.environ["BERTH_E2E_BIN"], "schedule-one"), "--objects", path, "--warm",
         str(warm)], capture_output=True, text=True, check=True).stdout)
    program = os.path.join(os.path.dirname(os.path.abspath(os.environ["BERTH"])), "berth-bench")
    ours = json.loads(subprocess.run(
        [program, "W1", "--nodes", str(options.nodes), "--images", "0", "--init-pods", str(warm),
         "--pods", str(options.pods - warm), "--repeat", "1", "--output", "json"],
        capture_output=True, text=True, check=True).stdout)["results"][0]
    return {
        "theirCpuMsPerPod": theirs["cpuSeconds"] * 1000 / theirs["pods"],
        "ourCpuMsPerPod": ours["cpuUsPerDecision"] / 1000,
        "podsPerSecond": ours["podsPerSecond"] / theirs["podsPerSecond"],
        "cpuPerPod": theirs["cpuSeconds"] * 1e6 / theirs["pods"] / ours["cpuUsPerDecision"],
    }


def print_table(result):
    print(f"{result['workload']}: {result['pods']} pods on {result['nodes']} nodes, kube-scheduler "
          f"{result['kubernetes']}, measured in {result['seconds']:.0f} s")
    if result["runs"]:
        print_runs(result)
    if found := result.get("inProcess"):
        print(f"Scheduling cycle alone: {found['podsPerSecond']:.1f} times the pods/s, "
              f"1/{found['cpuPerPod']:.1f} of the CPU per pod")


def print_runs(result):
    print(f"{'':21}{'pods/s':>8}{'CPU ms/pod':>12}{'start s':>9}{'start CPU s':>12}{'RSS MiB':>9}"
          f"{'API CPU ms/pod':>16}")
    for run in result["runs"]:
        print(f"{run['scheduler']:21}{run['podsPerSecond']:8.0f}{run['cpuMsPerPod']:12.3f}"
              f"{run['startSeconds']:9.2f}{run['startCpuSeconds']:12.2f}"
              f"{run['peakRssBytes'] / MIB:9.0f}"
              f"{run['serverCpuMsPerPod']:16.3f}")
    for one in result["ceiling"]:
        print(f"{'bare bindings':21}{one['podsPerSecond']:8.0f}{'':42}"
              f"{one['serverCpuMsPerPod']:16.3f}")
    for run in result["runs"]:
        if run["scheduler"] == NAMES["B"]:
            threads = sorted(run["threadCpuSeconds"].items(), key=lambda item: -item[1])
            print("CPU s of Berth's threads: "
                  + ", ".join(f"{name} {seconds:.2f}" for name, seconds in threads if seconds))
    if found := result["ratios"]:
        print(f"The runs of kube-scheduler are {100 * found['spreadOfKubeScheduler']:.0f} % apart, "
              f"those of Berth {100 * found['spreadOfBerth']:.0f} %")
        print(f"Berth: {found['podsPerSecond']:.2f} times the pods/s, "
              f"{100 * found['shareOfCeiling']:.0f} % of the ceiling; "
              f"1/{found['cpuPerPod']:.1f} of the CPU per pod, 1/{found['peakRss']:.1f} of the "
              f"memory; 1/{found['serverCpuPerPod']:.2f} of the API server's CPU")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_kubernetes(parser)
    parser.add_argument("--workload", choices=sorted(WORKLOADS), default="basic")
    parser.add_argument("--nodes", type=int, help="5000 by default, preemption 1000")
    parser.add_argument("--pods", type=int,
                        help="5000 by default, anti-affinity 2000, preemption 1000")
    parser.add_argument("--order", default="ABBA",
                        help="the order of the runs; an empty one measures no API server")
    parser.add_argument("--same-plugins", action="store_true",
                        help="run kube-scheduler with the plugins that Berth has too")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    parser.add_argument("--json", metavar="FILE", help="also write the figures as JSON to this file")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args()
    workload = WORKLOADS[options.workload]
    options.nodes = options.nodes or workload.nodes
    options.pods = options.pods or workload.pods
    needed = {"anti-affinity": options.pods + workload.placed, "preemption": options.pods}
    if options.nodes < needed.get(options.workload, 0):
        parser.error(f"--nodes: expected at least {needed[options.workload]}, so that each pod can "
                     f"have a node of its own, found {options.nodes}")
    if options.in_process and options.workload != "basic":
        parser.error("--in-process: expected --workload basic, found " + options.workload)
    return options


def print_result(result, output, table):
    """Prints a result as JSON, or with the function `table`."""
    if output == "json":
        print(json.dumps(result, indent=2))
    else:
        table(result)


def add_kubernetes(parser):
    parser.add_argument("--kubernetes", metavar="VERSION",
                        help="the version of kube-scheduler; see tests/e2e/run.sh --help")


def build_programs_first(program, version):
    """Unless the programs of tests/e2e are there, builds those of this version of Kubernetes, or of
    the default one, and starts this program again.
    """
    if "BERTH_E2E_BIN" in os.environ:
        if version and not f"{kubernetes()}.".startswith(f"{version}."):
            sys.exit(f"--kubernetes: expected {kubernetes()}, the version of the programs in "
                     f"$BERTH_E2E_BIN, found {version}")
        return
    script = os.path.join(E2E, "run.sh")
    selection = ["--kubernetes", version] if version else []
    os.execv(script, [script, *selection, "--exec", sys.executable, "-B",
                      os.path.abspath(program), *sys.argv[1:]])


def main():
    options = parse()
    build_programs_first(__file__, options.kubernetes)
    # SIGTERM raises KeyboardInterrupt too, so that nothing remains.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix="berth_bench_", dir="/tmp")
    result = {"kubernetes": kubernetes(), "workload": options.workload, "nodes": options.nodes,
              "pods": options.pods, "samePlugins": options.same_plugins, "runs": [], "ceiling": []}
    try:
        if options.in_process:
            result["inProcess"] = in_process(options, folder)
        if options.order:
            measure_all(options, folder, result)
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    result["ratios"] = ratios(result)
    result["seconds"] = time.monotonic() - began
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
    print_result(result, options.output, print_table)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures what a tenant's pods cost Berth and kube-scheduler, on the same API server.

usage: tenant.py [--kubernetes VERSION] [--nodes N] [--pending N] [--hostile N] [--pods N]
                 [--seconds S] [--order ABBA] [--output table|json]

Measures in turn, A kube-scheduler and B Berth, both with their default configuration, without the
plugins that Berth does not have, and without leader election:

  churn cores      the CPU of the scheduler, as a number of cores, while --pending pods fit nowhere
                   and a node that is too small is added and deleted each second. The scheduler has
                   settled before: it has tried all pods, and uses little CPU
  CPU ms/pod       of the scheduler for each of --pods small pods, beside --hostile pods on nodes,
                   each with 300 required anti-affinity terms. The pods that fit nowhere are gone

A run takes about two minutes. Only the ratios of one run are comparable, on a machine that does
nothing else.
"""

import argparse
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import run as bench  # noqa: E402  It also finds the modules of tests/e2e.
from api import wait_for  # noqa: E402
from berth import Berth, KubeScheduler, decide_as  # noqa: E402
from cluster import Cluster  # noqa: E402
from objects import CORE, pod  # noqa: E402
from tenant_test import hostile  # noqa: E402

TERMS = 300
# A scheduler has settled when it has used less than this share of a core for this many seconds.
SETTLED_CORES = 0.05
SETTLED_SECONDS = 5
SETTLE_TIMEOUT = 240


def wait_settled(scheduler):
    """Waits until the scheduler does hardly anything."""
    pid = scheduler.process.pid
    deadline = time.monotonic() + SETTLE_TIMEOUT
    while time.monotonic() < deadline:
        before = bench.cpu_seconds(pid)
        time.sleep(SETTLED_SECONDS)
        if bench.cpu_seconds(pid) - before < SETTLED_CORES * SETTLED_SECONDS:
            return
    raise AssertionError(f"{scheduler.name} did not settle within {SETTLE_TIMEOUT} s")


class TenantBench:
    def __init__(self, options, cluster, folder):
        self.options = options
        self.cluster = cluster
        self.folder = folder
        self.runs = 0
        cluster.use_namespace("tenant")
        cluster.add_nodes(options.nodes, cpu="64")

    def start(self, letter):
        self.runs += 1
        name = f"run-{self.runs}"
        if letter == "A":
            program = os.path.join(os.environ["BERTH_E2E_BIN"], "kube-scheduler")
            one = KubeScheduler(program, self.folder, name,
                                self.cluster.kubeconfig("kube-scheduler"), verbosity=0)
            return one.start(ready=False)
        return Berth(os.path.abspath(os.environ["BERTH"]), self.folder, name,
                     self.cluster.kubeconfig("berth"), log_level="info",
                     options=decide_as(bench.kubernetes())).start(ready=False)

    def rejected(self):
        """Returns the number of pods that the scheduler has marked as unschedulable."""
        return sum(1 for one in self.cluster.admin.items(f"{CORE}/namespaces/tenant/pods")
                   if one["status"].get("conditions"))

    def churn(self, scheduler):
        """Returns the cores that the scheduler uses while a node comes and goes."""
        pid = scheduler.process.pid
        before, began = bench.cpu_seconds(pid), time.monotonic()
        while time.monotonic() - began < self.options.seconds:
            self.cluster.add_node("small", cpu="1")
            time.sleep(0.5)
            self.cluster.admin.delete(f"{CORE}/nodes/small")
            time.sleep(0.5)
        return (bench.cpu_seconds(pid) - before) / (time.monotonic() - began)

    def innocent(self, scheduler):
        """Returns the CPU milliseconds of the scheduler for each small pod."""
        pid, options = scheduler.process.pid, self.options
        before = bench.cpu_seconds(pid)
        self.cluster.add_pods([pod(f"web-{i}") for i in range(options.pods)])
        self.cluster.wait_all_bound(options.pods, timeout=600)
        time.sleep(bench.SETTLE_SECONDS)
        return (bench.cpu_seconds(pid) - before) * 1000 / options.pods

    def measure(self, letter):
        options, cluster = self.options, self.cluster
        cluster.add_pods([pod(f"pending-{i}", cpu="1000", namespace="tenant")
                          for i in range(options.pending)])
        scheduler = self.start(letter)
        try:
            wait_for("all pods were tried", lambda: self.rejected() == options.pending,
                     timeout=600, interval=2)
            wait_settled(scheduler)
            figures = {"scheduler": bench.NAMES[letter], "churnCores": self.churn(scheduler)}
            self.delete_pods()
            cluster.add_pods([hostile(f"terms-{i}", TERMS, i, nodeName=f"node-{i % options.nodes}")
                              for i in range(options.hostile)])
            wait_settled(scheduler)
            figures["cpuMsPerPod"] = self.innocent(scheduler)
        finally:
            scheduler.signal(signal.SIGTERM)
            scheduler.wait()
        self.delete_pods()
        return figures

    def delete_pods(self):
        for namespace in self.cluster.namespaces:
            self.cluster.admin.delete(f"{CORE}/namespaces/{namespace}/pods", gracePeriodSeconds=0)
        wait_for("all pods are gone", lambda: not self.cluster.admin.items(f"{CORE}/pods", limit=1),
                 timeout=300)


def ratios(runs):
    """Returns each figure of Berth as a part of kube-scheduler's."""
    def mean(letter, key):
        return statistics.mean(one[key] for one in runs if one["scheduler"] == bench.NAMES[letter])
    if {one["scheduler"] for one in runs} != {bench.NAMES["A"], bench.NAMES["B"]}:
        return {}
    return {key: mean("B", key) / mean("A", key) for key in ("churnCores", "cpuMsPerPod")}


def print_table(result):
    print(f"{'':16}{'churn cores':>12}{'CPU ms/pod':>12}")
    for one in result["runs"]:
        print(f"{one['scheduler']:16}{one['churnCores']:12.3f}{one['cpuMsPerPod']:12.2f}")
    if found := result["ratios"]:
        print(f"Berth uses {found['churnCores']:.2f} of kube-scheduler's CPU with pods that fit "
              f"nowhere, and {found['cpuMsPerPod']:.2f} of it for a pod beside the tenant's.")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    bench.add_kubernetes(parser)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--pending", type=int, default=3000)
    parser.add_argument("--hostile", type=int, default=110)
    parser.add_argument("--pods", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--order", default="ABBA", help="the order of the runs")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    return parser.parse_args()


def main():
    options = parse()
    bench.build_programs_first(__file__, options.kubernetes)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="berth_bench_", dir="/tmp")
    result = {"kubernetes": bench.kubernetes(), "nodes": options.nodes, "pending": options.pending,
              "hostile": options.hostile, "pods": options.pods, "runs": []}
    cluster = Cluster(os.environ["BERTH_E2E_BIN"], os.path.join(folder, "c"), audit=False)
    try:
        cluster.start()
        one = TenantBench(options, cluster, folder)
        for letter in options.order:
            print(f"{bench.NAMES[letter]} ...", file=sys.stderr, flush=True)
            result["runs"].append(one.measure(letter))
    finally:
        cluster.stop()
        shutil.rmtree(folder)
    result["ratios"] = ratios(result["runs"])
    bench.print_result(result, options.output, print_table)


if __name__ == "__main__":
    main()

"""Whole clusters through `berth simulate`, judged by a few lines that share nothing with it.

usage: placements_test.py BERTH PLUGIN_DIR SOURCE_DIR

A cluster of ours is made from a seed. Where the checkout has the openb trace beside it, that one runs
too. Of every outcome: each pod is placed or refused with a reason; no node holds more than its
allocatable of any resource; a refused pod fits on no node in the end; the same seed gives the same
placements.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

SUFFIXES = {"m": 0.001, "": 1, "k": 1e3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(text, resource):
    digits = text.rstrip("mkKiMG")
    value = float(digits) * SUFFIXES[text[len(digits):]]
    return round(value * 1000) if resource == "cpu" else round(value)


def amounts(resources):
    return {name: amount(text, name) for name, text in resources.items()}


def request(pod):
    total = {"pods": 1}
    for container in pod["spec"]["containers"]:
        for name, value in amounts(container.get("resources", {}).get("requests", {})).items():
            total[name] = total.get(name, 0) + value
    return total


def fits(want, free):
    return all(value == 0 or value <= free.get(name, 0) for name, value in want.items())


def our_cluster(seed):
    rng = random.Random(seed)
    gpu = "example.com/gpu"
    nodes = []
    for i in range(120):
        allocatable = {"cpu": str(rng.choice([4, 16, 64])), "memory": f"{rng.choice([8, 64, 256])}Gi",
                       "pods": str(rng.choice([3, 110]))}
        if rng.random() < 0.3:
            allocatable[gpu] = str(rng.choice([1, 4, 8]))
        nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i:03}"},
                      "status": {"allocatable": allocatable, "capacity": allocatable}})
    pods = []
    for i in range(1500):
        requests = {"cpu": f"{rng.choice([100, 500, 2000, 8000])}m",
                    "memory": f"{rng.choice([128, 1024, 16384])}Mi"}
        if rng.random() < 0.2:
            requests[gpu] = str(rng.choice([1, 2, 4]))
        pods.append({"apiVersion": "v1", "kind": "Pod",
                     "metadata": {"name": f"pod-{i:04}", "namespace": "default"},
                     "spec": {"priority": rng.choice([0, 500, 1000]),
                              "containers": [{"name": "main", "image": "example/task",
                                              "resources": {"requests": requests}}]}})
    return {"apiVersion": "v1", "kind": "List", "items": nodes + pods}


def openb(source):
    script = pathlib.Path(source).parent / "shared/data/openb/to_k8s.py"
    if not script.exists():
        return None
    return json.loads(subprocess.run([sys.executable, script], capture_output=True, check=True).stdout)


def simulate(berth, plugins, path, seed):
    done = subprocess.run([berth, "simulate", "--cluster", path, "--plugin-dir", plugins, "--seed",
                           str(seed), "--output", "json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), f"exit status {done.returncode}: {done.stderr}"
    return done.returncode, json.loads(done.stdout)["placements"]


def judge(cluster, status, placements):
    nodes = {item["metadata"]["name"]: amounts(item["status"]["allocatable"])
             for item in cluster["items"] if item["kind"] == "Node"}
    pods = {item["metadata"]["name"]: item for item in cluster["items"] if item["kind"] == "Pod"}
    assert sorted(p["name"] for p in placements) == sorted(pods), "not every pod has one outcome"
    refused = []
    for placement in placements:
        want = request(pods[placement["name"]])
        if "node" not in placement:
            assert placement["message"].startswith(f"0/{len(nodes)} nodes are available: "), placement
            refused.append((placement["name"], want))
            continue
        free = nodes[placement["node"]]
        for name, value in want.items():
            free[name] = free.get(name, 0) - value
            assert free[name] >= 0 or value == 0, f"{placement['node']}: {name} is {free[name]}"
    for name, want in refused:
        better = [node for node, free in nodes.items() if fits(want, free)]
        assert not better, f"{name} was refused and fits on {better[0]}"
    assert status == (1 if refused else 0), f"exit status {status} with {len(refused)} refused"
    assert len(refused) < len(placements), "nothing was placed"
    return len(placements) - len(refused), len(refused)


def check(name, cluster, berth, plugins):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cluster, file)
        file.flush()
        status, placements = simulate(berth, plugins, file.name, 7)
        placed, refused = judge(cluster, status, placements)
        print(f"{name}: {placed} placed, {refused} refused")
        assert simulate(berth, plugins, file.name, 7)[1] == placements, "the same seed, other placements"
        others = simulate(berth, plugins, file.name, 8)[1]
        assert others != placements, "another seed breaks no tie another way"


def main():
    berth, plugins, source = sys.argv[1:]
    check("ours", our_cluster(1), berth, plugins)
    trace = openb(source)
    if trace is None:
        print("openb: not beside this checkout")
    else:
        check("openb", trace, berth, plugins)


if __name__ == "__main__":
    main()

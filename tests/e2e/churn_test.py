"""Churn: memory and descriptors do not grow while pods come and go."""

import itertools
import statistics
import time

from api import in_parallel
from fixture import EndToEndTest
from objects import CORE, pod

BATCH = 50  # Pods of a round that are bound. One more fits nowhere.
MIB = 1 << 20
# The growth that counts as noise, over the whole time after the warming up: in ten minutes, 200
# bytes for each pod. In one minute most of it is the state of event series, of which Berth keeps up
# to 4,096.
MEMORY_NOISE = 4 * MIB
DESCRIPTOR_NOISE = 4
CONNECTIONS = 64  # At most so many send bindings and conditions.


def slope(points):
    """Returns the slope of a line through the points (Theil-Sen: the median of the slopes between
    any two of them), which neither a single outlier nor the order of the noise changes.
    """
    return statistics.median((b[1] - a[1]) / (b[0] - a[0])
                             for a, b in itertools.combinations(points, 2))


class Growth:
    """The growth of one figure after the warming up. `samples` are pairs of pods and figure."""

    def __init__(self, name, samples, unit=1):
        self.values = [value / unit for _, value in samples]
        self.slope = slope(samples)
        self.total = self.slope * (samples[-1][0] - samples[0][0])
        self.text = (f"{name}: {self.values[0]:.1f} at first, {self.values[-1]:.1f} at last, "
                     f"{min(self.values):.1f} to {max(self.values):.1f}; the trend is "
                     f"{self.total / unit:+.2f} in all, {self.slope:+.4f} for each pod")


class ChurnTest(EndToEndTest):
    def test_memory_and_descriptors_do_not_grow(self):
        """Creates and deletes about 50 pods a second, and a node. The first third is for warming
        up: then all buffers and connections exist. A trend after it is a leak.
        """
        self.cluster.add_nodes(20, cpu="64")
        berth = self.berth()
        began, samples = time.monotonic(), []
        while time.monotonic() - began < self.suite.soak:
            round_began = time.monotonic()
            self.run_round(len(samples))
            samples.append((berth.memory(), berth.descriptors()))
            time.sleep(max(0.0, 1 - (time.monotonic() - round_began)))
        self.assertGreater(len(samples), 9, "the machine is too slow for this test")
        # The pod that fits nowhere counts as well: it has a condition and an event.
        pods = [(BATCH + 1) * (i + 1) for i in range(len(samples))]
        warm = len(samples) // 3
        memory = Growth("resident bytes, in MiB",
                        list(zip(pods, (one[0] for one in samples)))[warm:], MIB)
        descriptors = Growth("descriptors",
                             list(zip(pods, (one[1] for one in samples)))[warm:])
        print(f"churn: {pods[-1]} pods in {time.monotonic() - began:.0f} s, "
              f"{pods[warm]} of them for warming up", memory.text, descriptors.text,
              sep="\n  ", flush=True)
        self.assertLess(memory.total, MEMORY_NOISE, memory.text)
        self.assertLess(descriptors.total, DESCRIPTOR_NOISE, descriptors.text)
        # How many requests are under way, and so how many connections there are, depends on how busy
        # the machine is, up to the limit. A leak is a trend.
        self.assertLessEqual(max(descriptors.values), min(descriptors.values) + CONNECTIONS)
        self.assertTrue(berth.alive())

    def run_round(self, number):
        names = [f"churn-{number}-{i}" for i in range(BATCH)]
        large = f"large-{number}"
        self.cluster.add_pods([pod(name) for name in names] + [pod(large, cpu="100")])
        self.cluster.wait_all_bound(BATCH)
        self.cluster.wait_condition(large)
        self.cluster.add_node(f"extra-{number}", cpu="64")
        in_parallel(self.cluster.delete_pod, [*names, large])
        self.cluster.admin.delete(f"{CORE}/nodes/extra-{number}")

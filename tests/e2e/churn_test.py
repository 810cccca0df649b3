"""Churn: memory and descriptors do not grow while pods come and go."""

import time

from api import in_parallel
from fixture import EndToEndTest
from objects import pod

BATCH = 50
MIB = 1 << 20


class ChurnTest(EndToEndTest):
    def test_memory_and_descriptors_do_not_grow(self):
        """Creates and deletes about 50 pods a second. The first third is for warming up: then all
        buffers and connections exist.
        """
        self.cluster.add_nodes(20, cpu="64")
        berth = self.berth()
        began, rounds, samples = time.monotonic(), 0, []
        while time.monotonic() - began < self.suite.soak:
            round_began = time.monotonic()
            names = [f"churn-{rounds}-{i}" for i in range(BATCH)]
            self.cluster.add_pods([pod(name) for name in names])
            self.cluster.wait_all_bound(BATCH)
            in_parallel(self.cluster.delete_pod, names)
            rounds += 1
            samples.append((berth.memory(), berth.descriptors()))
            time.sleep(max(0.0, 1 - (time.monotonic() - round_began)))
        self.assertGreater(len(samples), 9, "the machine is too slow for this test")
        warm, rest = samples[:len(samples) // 3], samples[len(samples) // 3:]
        self.assertLessEqual(max(one[1] for one in rest), max(one[1] for one in warm) + 8)
        half = len(rest) // 2
        grown = (min(one[0] for one in rest[half:]) - min(one[0] for one in rest[:half])) / MIB
        self.assertLess(grown, 4, f"MiB in {len(rest)} rounds: "
                                  f"{[one[0] // MIB for one in samples]}")
        self.assertTrue(berth.alive())

"""Tests the policy without Berth: python3 policy_test.py"""

import unittest
from types import SimpleNamespace

from policy import Policy

NODE = SimpleNamespace(alloc_cpu=4000, req_cpu=1000, alloc_memory=4000, req_memory=1000)


class PolicyTest(unittest.TestCase):
    def test_filter(self):
        policy = Policy({"maxGapPercent": 25})
        for cpu, expected in ((1000, True), (1040, False)):
            with self.subTest(cpu=cpu):
                pod = SimpleNamespace(cpu=cpu, memory=0)
                self.assertEqual(policy.filter(pod, NODE), expected)

    def test_score(self):
        policy = Policy({})
        self.assertEqual(policy.score(SimpleNamespace(cpu=1000, memory=1000), NODE), 100)
        self.assertEqual(policy.score(SimpleNamespace(cpu=1000, memory=0), NODE), 75)


if __name__ == "__main__":
    unittest.main()

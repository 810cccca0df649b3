"""The policy: keeps the free cpu and the free memory of every node in proportion, so that neither
is left over when the other one is used up."""


class Policy:
    """One instance for each profile. The host checks the arguments against the schema in plugin.c.

    The methods receive `pod` with the members cpu and memory, and `node` with the members
    alloc_cpu, req_cpu, alloc_memory and req_memory: what the pod requests, what the node has, and
    what its pods request, in thousandths of a core and in bytes.
    """

    def __init__(self, args):
        self.max_gap = args.get("maxGapPercent", 50)

    def filter(self, pod, node):
        """Returns whether the pod can run on the node."""
        return gap(pod, node) <= self.max_gap

    def score(self, pod, node):
        """Returns how well the pod suits the node, from 0 to 100."""
        return 100 - min(100, gap(pod, node))


def gap(pod, node):
    """Returns how far apart the used shares of cpu and memory are with the pod, in percent."""
    if not node.alloc_cpu or not node.alloc_memory:
        return 0
    cpu = 100 * (node.req_cpu + pod.cpu) // node.alloc_cpu
    memory = 100 * (node.req_memory + pod.memory) // node.alloc_memory
    return abs(cpu - memory)

"""Objects of Kubernetes for the tests, and the text of their paths."""

CORE = "/api/v1"
EVENTS = "/apis/events.k8s.io/v1/events"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def node(name, cpu="8", memory="32Gi", pods="110", labels=None, taints=(), **resources):
    """A node that is ready. Without `cpu` it has no resources at all."""
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, **resources} if cpu else {}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": amounts, "capacity": amounts,
                   "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name, cpu="100m", memory="64Mi", scheduler="default-scheduler", labels=None, requests=None,
        namespace="default", **spec):
    """A pod with one container. `spec` has further fields of the pod's spec."""
    amounts = {"cpu": cpu, "memory": memory, **(requests or {})}
    resources = {"requests": amounts}
    if requests:
        resources["limits"] = dict(requests)
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0,
                 "containers": [{"name": "main", "image": "example.com/image",
                                 "resources": resources}], **spec},
    }


def pod_path(name, namespace="default", sub=""):
    return f"{CORE}/namespaces/{namespace}/pods/{name}{sub}"


def taint(key, effect="NoSchedule", value=""):
    return {"key": key, "effect": effect, "value": value}


def toleration(key, effect="NoSchedule"):
    return {"key": key, "operator": "Exists", "effect": effect}


def condition(a_pod, kind="PodScheduled"):
    """The condition of a pod, or an empty object."""
    for one in a_pod.get("status", {}).get("conditions", ()):
        if one["type"] == kind:
            return one
    return {}

"""The base of all tests: the API servers, and the schedulers that a test starts."""

import os
import shutil
import subprocess
import unittest

from berth import Berth, KubeScheduler, decide_as
from cluster import Cluster
from proxy import Proxy


class Suite:
    """The programs, folders and API servers that all tests of a run use.

    programs    the folder with apiserver and kube-scheduler
    plugins     the folder with the plugins of the tests
    berth       the program `berth`
    folder      a folder for the files of the run; its path must be short
    kubernetes  the version of the API server and of kube-scheduler, such as 1.37.2
    upstream    start kube-scheduler instead of Berth
    soak        the duration of the churn in seconds
    """

    def __init__(self, programs, plugins, berth, folder, kubernetes, upstream=False, soak=60):
        self.programs = programs
        self.plugins = plugins
        self.berth = berth
        self.folder = folder
        self.kubernetes = kubernetes
        self.minor = int(kubernetes.split(".")[1])
        self.upstream = upstream
        self.soak = soak
        self.clusters = {}

    def cluster(self, name="c", flags=()):
        """Returns the running cluster with this name; starts it if it does not run."""
        if name not in self.clusters:
            self.clusters[name] = Cluster(self.programs, os.path.join(self.folder, name), flags)
        cluster = self.clusters[name]
        if cluster.process and cluster.process.poll() is not None:
            cluster.stop()  # It was ended from outside; the test that used it has failed.
        return cluster if cluster.process else cluster.start()

    def end(self, name):
        """Ends a cluster that no other test uses."""
        self.clusters.pop(name).stop()

    def stop(self):
        for cluster in self.clusters.values():
            cluster.stop()


def upstream(test):
    """Marks a test that kube-scheduler passes too: with --upstream it runs with kube-scheduler."""
    test.upstream = True
    return test


def replace_file(path, text):
    """Writes the file so that a reader finds the old text or the new one."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def profile(name, more=""):
    """Returns the text of a profile that is the default one with another schedulerName."""
    return f'schedulerName = "{name}"\nextends = "default"\n{more}'


def kubectl(cluster, *arguments):
    """Returns the output of kubectl, as the administrator of the cluster."""
    if not shutil.which("kubectl"):
        raise AssertionError("kubectl not found: see .ci/packages.txt")
    done = subprocess.run(["kubectl", "--kubeconfig", cluster.info["admin"], *arguments],
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
    return done.stdout


class EndToEndTest(unittest.TestCase):
    """`self.cluster` is an API server without pods, nodes and leases."""

    suite = None
    maxDiff = None

    def setUp(self):
        self.schedulers = []
        self.proxies = []
        test = getattr(self, self._testMethodName)
        if self.suite.upstream and not getattr(test, "upstream", False):
            self.skipTest("kube-scheduler does not have this")
        self.cluster = self.suite.cluster()
        self.cluster.wipe()

    def tearDown(self):
        for scheduler in self.schedulers:
            scheduler.kill()
        for proxy in self.proxies:
            proxy.close()

    def logs(self):
        """Returns the ends of the logs, for the report of a failure."""
        text = "".join(f"--- {one.log_path}\n{one.log()[-3000:]}\n" for one in self.schedulers)
        process = self.cluster.process
        if process and process.poll() is not None:
            text += f"--- the API server has ended, with status {process.returncode}; see " \
                    f"{self.cluster.log}\n"
        return text

    def folder(self):
        return os.path.join(self.suite.folder, self._testMethodName)

    def plugin(self, name):
        return os.path.join(self.suite.plugins, f"lib{name}.so")

    def berth(self, name="berth", account="berth", kubeconfig=None, start=True, ready=True,
              **arguments):
        """Starts Berth, which decides as the version of the cluster does; see class Berth for the
        arguments.
        """
        options = [*decide_as(self.suite.kubernetes), *arguments.pop("options", ())]
        one = Berth(self.suite.berth, self.folder(), name,
                    kubeconfig or self.cluster.kubeconfig(account), options=options, **arguments)
        self.schedulers.append(one)
        return one.start(ready) if start else one

    def kube_scheduler(self, name="kube-scheduler", names=("default-scheduler",),
                       account="kube-scheduler", kubeconfig=None, **arguments):
        one = KubeScheduler(os.path.join(self.suite.programs, "kube-scheduler"), self.folder(),
                            name, kubeconfig or self.cluster.kubeconfig(account), names,
                            **arguments)
        self.schedulers.append(one)
        return one.start()

    def scheduler(self, name="scheduler", names=("default-scheduler",), account="berth",
                  kubeconfig=None, election=None):
        """Starts Berth, or kube-scheduler with --upstream, with a profile per schedulerName."""
        if self.suite.upstream:
            return self.kube_scheduler(name, names, account, kubeconfig, election=election)
        return self.berth(name, account, kubeconfig, election=election,
                          profiles={one: profile(one) for one in names})

    def proxy(self, **arguments):
        one = Proxy(self.cluster.address, **arguments).start()
        self.proxies.append(one)
        return one

    def no_event(self, pod, reason):
        self.assertEqual([one["note"] for one in self.cluster.events(pod, reason)], [])

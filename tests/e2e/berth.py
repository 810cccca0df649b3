"""Starts schedulers: Berth, and kube-scheduler for comparison."""

import ctypes
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess

from api import wait_for

# The plugins of kube-scheduler that Berth does not have. The comparison runs without them, so that
# the texts of both can be equal.
ONLY_UPSTREAM = ("VolumeBinding", "DynamicResources", "DefaultPreemption")
SHORT_LEASE = {"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """Lets the kernel end this process when the process of the tests ends in any way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_address():
    """Returns a loopback address that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % listener.getsockname()[1]


def toml(value):
    """Returns a value in TOML's form."""
    return json.dumps(value)


def decide_as(kubernetes):
    """Returns the options with which Berth decides as this version, such as 1.37.2, does."""
    return ["--emulated-version", ".".join(kubernetes.split(".")[:2])]


class Scheduler:
    """A process that schedules. Its log is in a file.

    `name` is unique in `folder`. A subclass sets `command` and implements is_ready().
    """

    def __init__(self, folder, name):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.name = name
        self.command = []
        self.process = None
        self.log_path = os.path.join(self.folder, "log")
        self.out_path = os.path.join(self.folder, "out")
        for path in (self.log_path, self.out_path):
            open(path, "wb").close()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, ready=True):
        """Starts the process; with `ready`, waits until its cache is complete. It can be started
        again after its end.
        """
        with open(self.log_path, "ab") as log, open(self.out_path, "ab") as out:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=log, preexec_fn=end_with_parent)
        return self.wait_ready() if ready else self

    def wait_ready(self, timeout=60):
        def check():
            if not self.alive():
                raise RuntimeError(f"{self.name} has ended, with status {self.wait()}:\n"
                                   f"{self.log()[-4000:]}")
            return self.is_ready()
        wait_for(f"{self.name} is ready", check, timeout)
        return self

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def output(self):
        with open(self.out_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def signal(self, number):
        self.process.send_signal(number)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def wait(self, timeout=60):
        """Waits for the end of the process and returns its exit status, as a shell shows it."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {timeout} s:\n"
                                 f"{self.log()[-2000:]}") from None
        return status if status >= 0 else 128 - status

    def kill(self):
        """Ends the process as a crash does. A process that has ended already is accepted."""
        if self.alive():
            self.signal(signal.SIGKILL)
            self.process.wait()

    def stop(self, timeout=60):
        """Ends the process with SIGTERM and returns its exit status."""
        if self.alive():
            self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def memory(self):
        """Returns the resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Berth(Scheduler):
    """`berth run` on a cluster.

    profiles   texts of profile files, by name
    host_file  further lines of the host file
    election   None: no leader election; otherwise the keys of [leaderElection]
    options    further options
    """

    def __init__(self, program, folder, name, kubeconfig, profiles=None, host_file="",
                 election=None, options=(), log_level="debug"):
        super().__init__(folder, name)
        self.program = program
        self.address = free_address()
        self.config = [f'logLevel = "{log_level}"\n', host_file]
        if election is not None:
            self.config.append("[leaderElection]\n" + "".join(
                f"{key} = {toml(value)}\n" for key, value in election.items()))
        self.command = [program, "run", "--kubeconfig", kubeconfig,
                        "--config", self.write("berth.toml", "\n".join(self.config)),
                        "--http-address", self.address, "--log-format", "json", *options]
        if election is None:
            self.command.append("--leader-elect=false")
        paths = [self.write(f"{key}.toml", text) for key, text in (profiles or {}).items()]
        for path in paths or ["default"]:
            self.command += ["--profile", path]

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def get(self, path):
        """Returns (status, text) of its HTTP server."""
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def metric(self, name, **labels):
        """Returns the sum of the samples of a metric that have these labels."""
        total, pairs = 0.0, [f'{key}="{value}"' for key, value in labels.items()]
        for line in self.get("/metrics")[1].splitlines():
            match = re.match(r"([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$", line)
            if match and match.group(1) == name and all(
                    pair in (match.group(2) or "") for pair in pairs):
                total += float(match.group(3))
        return total

    def records(self, message=None):
        """Returns the records of the log, those with this message if it is given."""
        found = []
        for line in self.log().splitlines():
            if line.startswith("{") and line.endswith("}"):
                record = json.loads(line)
                if message is None or record.get("msg") == message:
                    found.append(record)
        return found

    def wait_record(self, message, timeout=60, **pairs):
        """Waits for a record with this message, in which each of `pairs` has this text in it."""
        def check():
            for record in self.records(message):
                if all(text in str(record.get(key, "")) for key, text in pairs.items()):
                    return record
            raise AssertionError(self.log()[-1500:])
        return wait_for(f"{self.name} logs {message!r} {pairs or ''}", check, timeout)


class KubeScheduler(Scheduler):
    """The unmodified kube-scheduler, with the plugins that Berth has too.

    names         the schedulerNames of its profiles
    election      as for Berth
    content_type  of requests and answers; None: its default, which is protobuf
    """

    def __init__(self, program, folder, name, kubeconfig, names=("default-scheduler",),
                 election=None, all_plugins=False, qps=5000, verbosity=2, content_type=None):
        super().__init__(folder, name)
        off = [] if all_plugins else [{"name": plugin} for plugin in ONLY_UPSTREAM]
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": kubeconfig, "qps": qps, "burst": qps},
            "leaderElection": {"leaderElect": election is not None, **(election or {})},
            "profiles": [{"schedulerName": one, "plugins": {"multiPoint": {"disabled": off}}}
                         for one in names],
        }
        if content_type:
            config["clientConnection"].update(contentType=content_type,
                                              acceptContentTypes=content_type)
        self.port = int(free_address().rsplit(":", 1)[1])
        self.command = [program, "--config", self.write("config.json", json.dumps(config)),
                        "--bind-address", "127.0.0.1", "--secure-port", str(self.port),
                        "--authentication-skip-lookup", "--v", str(verbosity),
                        "--authorization-always-allow-paths", "/metrics"]

    def metrics(self):
        """Returns the page of its metrics. Its certificate is one of its own."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10,
                                                 context=ssl._create_unverified_context())
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def is_ready(self):
        return "Caches are synced" in self.log() or "starting" in self.log().lower()

// The texts of `--help` around the list of flags, one or two for each command.
#ifndef BERTH_HOST_CLI_HELP_TEXTS_H_
#define BERTH_HOST_CLI_HELP_TEXTS_H_

#include <string_view>

namespace berth::host {

inline constexpr std::string_view kAbout =
    "Berth is a Kubernetes scheduler: it decides which pod runs on which node, as kube-scheduler\n"
    "does. Every policy is a plugin that is loaded at run time.";

inline constexpr std::string_view kExitStatus =
    "Exit status: 0 success, 1 some pods could not be scheduled, 2 invalid input, or the output "
    "could\n"
    "not be written, 3 a plugin called exit().";

inline constexpr std::string_view kExamples = R"(Examples:
  Schedule the pending pods in a dump of a real cluster:
    kubectl get nodes,pods -A -o json | berth simulate --cluster -
  Schedule pods while they are created and deleted:
    kubectl get pods -A -o json --watch --output-watch-events |
      berth replay --cluster nodes.json --events -
  Find out why a pod is pending:
    berth explain --cluster dump.json --pod web/frontend-0
    berth explain --kubeconfig ~/.kube/config --pod web/frontend-0
  Check whether Berth can schedule on a real cluster:
    berth doctor --kubeconfig ~/.kube/config
  List the plugins, and show the arguments of one:
    berth plugin list
    berth plugin describe NodeResourcesFit

Environment:
  TMPDIR  the directory for private copies of plugin libraries while berth runs [/tmp]; if it cannot
          be used, the copies are kept in memory

)";

// `berth run` shows kRunExamples, kReloadHelp, kDecisionsHelp and kRunExitStatus; `berth replay`
// has kReplayExamples at the beginning and kReplayEnd at the end.
inline constexpr std::string_view kRunExamples = R"(Examples:
  Schedule the pods whose spec.schedulerName is that of the profile, beside kube-scheduler:
    berth run --kubeconfig ~/.kube/config --config berth.toml --profile acme.toml
  In a pod, where the service account of the pod is used:
    berth run --config /etc/berth/berth.toml --http-address :10251 --log-format json
  Also print each decision on standard output:
    berth run --kubeconfig ~/.kube/config --profile acme.toml --output json | jq .pod
To try profiles without a cluster, use `berth replay`; to compare them with another scheduler, use
`berth shadow`.

berth schedules the pods of a real cluster. It watches nodes, pods and the kinds that the plugins of
its profiles declare, binds each pod of its profiles to a node, and writes the condition
PodScheduled and events, as kube-scheduler does. ~/.kube/config is read only if you name it. A
server that is away is tried again and again.

Several processes may run with equal configurations: leader election lets one of them schedule, and
another one takes over when it ends. The lease is kube-system/kube-scheduler, as that of
kube-scheduler, so that berth waits while a kube-scheduler leads. To run beside kube-scheduler, use
another schedulerName in the profile, and another lease in the host file:
  [leaderElection]
  resourceName = "acme-scheduler"
The host file also has [clientConnection], [serving] and [logging]. Flags have precedence.

The log is written on standard error. Health checks and metrics are served at --http-address; the
list of checks is at /readyz?verbose. To change the log level while berth runs:
  curl -X PUT -d debug http://127.0.0.1:10251/debug/flags/v

SIGTERM or SIGINT ends the run: no further pod is tried, berth waits for bindings that are under
way, sends the events that wait, and releases the lease, for 26 seconds at most. A second signal
ends berth at once. When the lease is lost, the run ends with status 1; start berth again then, as
Kubernetes does with a pod.

)";

inline constexpr std::string_view kReloadHelp =
    R"(Save a profile, the file of --config or the library of a plugin while berth runs, or send
SIGHUP, to reload the configuration. The new configuration takes effect between two attempts. Pods
that are being bound continue with the plugins that they began with. If the new configuration has
errors, they are printed and the running configuration is kept.

)";

inline constexpr std::string_view kDecisionsHelp = R"(Decisions (.type in JSON):
  Bound    the pod has a node
  Refused  no node fits; the pod is tried again when a change in the cluster may help
  Error    an error occurred; the pod is tried again
  Waiting  a node was found, and the pod waits for permission
  Gated    a plugin holds the pod back before any attempt
  Skipped  the pod is being deleted
Times are in seconds since the start. The table leaves out an attempt with the same result as the
attempt before.

)";

inline constexpr std::string_view kRunExitStatus =
    R"(Exit status: 0 stopped by SIGTERM or SIGINT, 1 the lease was lost, 2 invalid input, the HTTP
address is in use, or the output could not be written, 3 a plugin called exit(), 130 or 143 a second
signal.)";

inline constexpr std::string_view kReplayExamples = R"(Examples:
  Schedule the pods of a file and print each decision:
    berth replay --cluster cluster.yaml
  Follow the pods of a real cluster, and decide in parallel with its own scheduler:
    kubectl get nodes -o json > nodes.json
    kubectl get pods -A -o json --watch --output-watch-events |
      berth replay --cluster nodes.json --events -
  Replay hours of events without waiting, and record the result:
    berth replay --events day.jsonl --time virtual --record run.jsonl
  Repeat the recorded run:
    berth replay --events run.jsonl --time virtual
  Print only the pods that no node fits:
    berth replay --cluster cluster.yaml --output json | jq 'select(.type == "Refused")'

The cluster exists only in this process; nothing outside is changed. Its objects come from the files
of --cluster and from the stream of --events. A stream consists of watch events, JSON objects as
kubectl prints them, on one line or on several:
  {"type": "ADDED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, ...}}
  {"type": "MODIFIED", "after": "1.5s", "object": {...}}
  {"type": "DELETED", "object": {...}}
"after" is the time since the event before, as a Go duration ("250ms", "1h30m"). An event without
"after" is due at once. All events that are due are applied before the next pod is tried, except
where a recording has ATTEMPT events. A stream may repeat events, and it may come from a cluster
whose own scheduler decides differently: an object in a resourceVersion that was seen before changes
nothing, and a pod keeps the node that this scheduler gave it. A pod with a deletionTimestamp is
removed by its DELETED event. BOOKMARK and DECISION events are skipped, and ATTEMPT events too in
real time.

An event that cannot be decoded or applied is reported on standard error with its line and its
object, counted in the summary and skipped; the last good version of the object stays. Only the
first 20 are reported. The run ends with status 2 if the first object is no watch event, if
malformed JSON makes it impossible to find the next object, or if the server ends the watch with an
error.

With --time virtual the clock jumps to the next event, end of a backoff or time-out. Equal input and
an equal seed then give equal decisions at equal times. --record writes the events with their times,
and each decision as a DECISION event. Use the recording with --events, and the same --cluster and
--seed, to repeat the run. In real time, --record also writes an ATTEMPT event after each attempt to
place a pod; with --time virtual, such a recording is repeated with each attempt in its place
between the events. Times may differ slightly then.

)";

inline constexpr std::string_view kReplayEnd =
    R"(The summary, log lines and lines about reloads are printed on standard error. The latter two
begin with the time in UTC, also with --time virtual, and the line about a reload names the files
that have changed:
  2026-01-10T08:00:00.250Z berth: warning: acme.RackPower: no rack has the label
  2026-01-10T08:00:03.125Z berth: reloaded: default-scheduler; changed: /etc/berth/acme.toml

The run ends when the stream has ended and no pod can be scheduled any more. Refused and gated pods
stay pending; a pod with errors is tried again up to five times in a row. The run also ends, and
prints that, when the pods that would be tried again have failed five times each since the cluster
last changed. Use Ctrl-C (SIGINT) or SIGTERM to end the run earlier; it also ends when its output is
closed, for example by `head`. Then no further pod is tried, berth waits for bindings that are under
way, and the recording is complete up to this point. A second signal ends berth at once.

Exit status: 0 all pods have a node, 1 some pods have none, 2 invalid input, or the output or the
recording could not be written, 3 a plugin called exit(), 130 stopped by SIGINT, 143 stopped by
SIGTERM.)";

inline constexpr std::string_view kShadowExamples = R"(Examples:
  Compare this profile with kube-scheduler for ten minutes, and write nothing:
    berth shadow --kubeconfig ~/.kube/config --duration 10m
  Print only the pods about which both disagree:
    berth shadow --kubeconfig ~/.kube/config --output json |
      jq -c 'select(.verdict | IN("sampled", "score", "rejected", "error"))'

berth observes where another scheduler places pods, decides about each of these pods with the
profile that it names (or else the first one), and prints the verdict:
  same      both choose this node
  tie       both nodes have the highest score; each scheduler chooses by chance
  order     same or tie, if the bindings and changes that arrive within --window of each other are
            taken in another order: the other scheduler counts its pods before they are bound, and
            sees changes earlier or later
  sampled   their node has a lower score, but kube-scheduler scores only a part of the nodes
  score     their node has a lower score
  rejected  a plugin of this profile rejects their node
  error     the attempt failed
The first three are agreement; the last three are not explained. Berth needs permission to read
only, elects no leader and serves nothing. PostFilter plugins do not run.

Exit status: 0 done, 1 unexplained disagreements, 2 invalid input, the cluster could not be read, or
the output could not be written, 3 a plugin called exit().)";

inline constexpr std::string_view kSimulateExamples = R"(Examples:
  berth simulate --cluster cluster.yaml
  berth simulate --cluster nodes.json pods.json --output json
  kubectl get nodes,pods -A -o json | berth simulate --cluster -
  Find out whether ten more replicas fit:
    berth simulate --cluster dump.json --pods replicas.yaml --quiet
    berth simulate --kubeconfig ~/.kube/config --pods replicas.yaml --quiet

Files contain Kubernetes objects as YAML or JSON: manifests, lists, or the output of
`kubectl get -o json`. With --kubeconfig, the objects of a real cluster are read once: pods, nodes,
and the kinds that the plugins of the profiles use. It needs only the permission to list them. Pods
with spec.nodeName stay on their nodes; the other pods are scheduled one after the other. Nothing
outside this process is changed. Equal input and an equal seed give equal placements.

The simulation ends when no pod can be tried again, or when the pods that would be tried again have
failed five times each since the cluster last changed (NoProgress in the summary). Use Ctrl-C
(SIGINT) to end it earlier and to print the placements so far; the exit status is then 130.

)";

inline constexpr std::string_view kExplainExamples = R"(Examples:
  berth explain --cluster dump.json --pod web/frontend-0
  kubectl get nodes,pods -A -o json | berth explain --cluster - --pod frontend-0
  berth explain --cluster dump.json --pod web/frontend-0 --output json | jq '.message // .chosen'
  Ask about a pod of a real cluster:
    berth explain --kubeconfig ~/.kube/config --pod web/frontend-0

Schedules only this pod, against the cluster as it is in the files, or as it is now with
--kubeconfig, which reads objects and changes nothing. Other pending pods are ignored.
Reserve and Permit are tried too, and undone. PreBind and Bind are not called, so that a pod which
explain places can still fail there.

)";

inline constexpr std::string_view kDoctorExamples = R"(Examples:
  Check the cluster of a kubeconfig, with the profiles that you will run:
    berth doctor --kubeconfig ~/.kube/config --profile default acme.toml
  Check what a pod of a Deployment will find, in the pod itself:
    berth doctor --config /etc/berth/berth.toml
  Check whether a read-only account is enough for berth shadow:
    berth doctor --kubeconfig reader.yaml --shadow
  Stop a script unless everything is right:
    berth doctor --kubeconfig F --output json | jq -e 'all(.findings[]; .result == "ok")'

Sends only requests that change nothing. The checks are, in this order:
  configuration  the host file, the profiles and their plugins
  connection     the server is reached, with which TLS, and how quickly it answers
  credentials    who the server takes Berth for, and when the token or the certificate expires
  version        Kubernetes 1.30 to 1.37; Berth decides as kube-scheduler 1.36 does
  kinds          the server serves every kind that a plugin of the profiles needs
  permissions    the server grants every request that Berth and these plugins will send
  clock          the clocks of this machine and of the server agree
  lease          who leads now
  pods           how many pods wait, by the schedulerName that they name
A failure of one of the first three ends the checks, because the others need them. Results:
  ok       nothing to do
  note     nothing is wrong, but you may not expect it
  warning  Berth will work, but look at it
  FAILED   Berth cannot schedule, or a plugin cannot decide
If rules are missing, the command that adds them follows the table; somebody who may change roles
can run it. In JSON they are .missingRoles.

Exit status: 0 no check failed, 1 a check failed, 2 invalid input, or the output could not be
written, 3 a plugin called exit().)";

inline constexpr std::string_view kProfileExamples = R"(Examples:
  Check a profile:
    berth profile check acme.toml
  Check profiles that one process is to run together:
    berth profile check default binpack acme.toml
  Show a profile with everything that it extends:
    berth profile show binpack
    berth profile show acme.toml --output json
  Write it as one file without `extends`:
    berth profile show acme.toml --output toml > whole.toml
  Convert the configuration of a kube-scheduler:
    berth profile convert kube-scheduler.yaml

A profile is a TOML file that sets which plugins decide for the pods of one spec.schedulerName:
  schedulerName = "acme"
  extends = "default"             # start from a profile that comes with Berth, or from "other.toml"

  [[plugins]]
  name = "NodeResourcesFit"       # a plugin of the extended profile: changes it, in its place
  weight = 5
  [plugins.args.scoringStrategy]
  type = "MostAllocated"

  [[plugins]]
  name = "ImageLocality"
  enabled = false                 # switches the plugin off

  [[plugins]]
  name = "acme.RackPower"         # a plugin of your own
  library = "plugins/librack_power.so"
  after = "NodeResourcesFit"
  points = ["Filter", "Score"]    # default: every extension point that it implements

  [order]
  Filter = ["acme.RackPower"]     # at this extension point, before the other plugins

)";

inline constexpr std::string_view kProfileExitStatus =
    "Exit status: 0 success, 1 (check only) the profiles are valid, but placing a pod with one of "
    "them\n"
    "ends with an error, 2 there are errors, 3 a plugin called exit().";

inline constexpr std::string_view kConvertExamples = R"(Examples:
  Print the profile that decides as my kube-scheduler does:
    berth profile convert kube-scheduler.yaml
  Write one file for each profile, named after its schedulerName:
    berth profile convert kube-scheduler.yaml --output-dir profiles
    berth profile check profiles/*.toml
  Convert the configuration of a running cluster:
    kubectl -n kube-system get configmap scheduler -o jsonpath='{.data.config\.yaml}' |
      berth profile convert -
  Fail if anything cannot be converted:
    berth profile convert kube-scheduler.yaml --strict

Reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as YAML or JSON, merges each of
its profiles with the defaults as kube-scheduler 1.36 does, and writes the result as a complete
profile without `extends`. At every extension point the same plugins run in the same order, with the
same weights and arguments.

A plugin that is not found is written as a comment, in its place. Settings that Berth does not have
(extenders, extension points behind feature gates) and settings that belong into the host file
(leader election, the connection, backoffs) are left out. A warning on standard error names each of
them by its path in the file. Use --plugin-dir to add the directory of your own plugins.

Each plugin that is found and enabled checks its arguments; a refused argument is an error that
names its path in the file. Standard output takes one profile; use --output-dir for a file with
several.

Exit status: 0 success, also with warnings; 2 the file is invalid or a plugin refuses its arguments,
there are several profiles for standard output, or there are warnings and --strict is given. With
exit status 2 nothing is written.)";

inline constexpr std::string_view kPluginExamples = R"(Examples:
  berth plugin list
  berth plugin list --plugin-dir /opt/acme/plugins --output yaml
  berth plugin describe NodeResourcesFit
  berth plugin describe build/plugins/libnode_name.so
Write a plugin, and check that it keeps the contract:
  berth plugin new acme.RackPower
  berth plugin check rack_power/build/librack_power.so

`berth plugin list` also shows the plugin libraries that cannot be loaded, with the reason (.broken
in JSON), and the shared objects that are no plugin libraries (.ignored). Commands
that use profiles, and profile convert, print a warning for each library that cannot be loaded, or
fail if they need it.

Exit status of list and describe: 0 success, 2 invalid input, or list shows a library that cannot be
loaded, 3 a plugin called exit().)";

inline constexpr std::string_view kPluginCheckExamples = R"(Examples:
  berth plugin check build/librack_power.so --args '{"wattsPerRack": 1000}'
  berth plugin check build/libacme.so --args 'acme.RackPower={"wattsPerRack": 1000}'
  berth plugin check build/libremote_filter.so --deadline 5s
  berth plugin check build/librack_power.so --output json | jq .plugins[].findings
  kubectl get nodes,pods -A -o json | berth plugin check build/librack_power.so --cluster -

Loads the library and creates its plugins as the scheduler does; a plugin that the scheduler refuses
fails. Then it calls each plugin at all its extension points, in a test cluster with values for the
columns that the plugin reads. It varies the size of blocks and the number of threads, fills outputs
with garbage before each call, and changes and adds pods and nodes that the plugin declares not to
depend on. It calls each function for up to two seconds to find memory that calls keep; a cache must
have a bound that 2,000 calls reach, and of at most 64 MiB. If a function takes so long that two
seconds are not enough for 4,096 calls, the check `leaks` is "not seen". It lets pods, nodes and
objects with new names come and go, and expects that the plugin does not hold more and more ids,
references, values and selectors. Requests to the API server get an answer, pods wait on Permit and
are nominated, and time passes. It creates and destroys the plugin a thousand times. A plugin whose
calls take long is called less often; the report shows how often. The library is loaded in a process
of its own, so that a crash, or a call that does not return, is a finding.

Use --deadline if the profile of the plugin sets `deadline`. A call that takes longer is a finding
and ends the check of this plugin.

Use --cluster to check the plugin with the nodes, pods and other objects of a real cluster, in any
form that `berth simulate` accepts. At most 12 nodes, 4 pods on each and 8 pods without a node are
used. If the behaviour of your plugin depends on annotations or objects that only your plugin uses,
pass them in a cluster, or test this behaviour in your own unit tests.

A check that had nothing to observe, for example because Filter returned the same for every node, is
"not seen", with a sentence that says what would be needed. It neither passes nor fails. With
--output json, each check has an `answer`: "yes", "no", "not seen" or "not checked" (the check ended
before), and `needed` if it was not seen.

Exit status: 2 if the library or one of its plugins could not be checked, with or without a
document; otherwise 0 if `kept` is true, and 1 if it is false.)";

inline constexpr std::string_view kPluginNewExamples = R"(Examples:
  berth plugin new acme.RackPower
  berth plugin new acme.Quota --points PreEnqueue,Reserve,PostBind
  berth plugin new acme.MemoryHeadroom --language c --points Filter
  berth plugin new acme.CheapestNode --language rust --dir ~/plugins/cheapest

Writes a folder with a plugin, its tests, a README, a profile that uses the plugin, and a cluster to
try it on. The plugin builds against an installed SDK and passes its tests; replace the bodies of
its methods. C++ plugins can have every extension point, C and Rust plugins Filter and Score. No
existing file is overwritten.

Exit status: 0 success, 2 invalid input, or the folder exists.)";

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_HELP_TEXTS_H_

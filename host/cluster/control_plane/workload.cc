#include "host/cluster/control_plane/workload.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include <berth/selectors.h>

#include "host/api/generated_name.h"
#include "host/api/objects.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/control_plane/json_members.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> kWorkloads = {
    "apps/v1/DaemonSet", "apps/v1/Deployment", "apps/v1/ReplicaSet",      "apps/v1/StatefulSet",
    "batch/v1/CronJob",  "batch/v1/Job",       "v1/ReplicationController"};

constexpr const char* kTemplate = "/spec/template";
constexpr const char* kHashLabel = "pod-template-hash";

// Returns the number at a pointer, which is a number of pods unless `is_count` is false.
Result<int64_t> NumberAt(const Json& json, const char* pointer, int64_t usual,
                         bool is_count = true) {
  const Json& value = ValueAt(json, pointer);
  if (value.is_null()) return usual;
  if (!value.is_number_integer() || value.get<int64_t>() < 0) {
    return Unexpected(pointer, "an integer that is not negative", FoundText(value));
  }
  const int64_t number = value.get<int64_t>();
  if (number <= (is_count ? kMaxWorkloadPods : INT32_MAX)) return number;
  if (!is_count) return Unexpected(pointer, "an integer of 32 bits", FoundText(value));
  return Status::OutOfRange(std::string(pointer) + ": expected at most " +
                            std::to_string(kMaxWorkloadPods) + " pods, found " +
                            std::to_string(number));
}

// Returns the parts with a dash between them.
std::string Dashed(std::initializer_list<std::string_view> parts) {
  std::string name;
  for (const std::string_view& part : parts) {
    if (&part != parts.begin()) name += '-';
    name += part;
  }
  return name;
}

// Returns ten characters that depend on the value alone.
std::string HashText(const Json& json) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a, which the deployment controller uses.
  for (const char c : DumpJson(json)) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ULL;
  return NameSuffix(hash, 10);
}

Json OwnerReference(const Json& owner) {
  return {{"apiVersion", TextAt(owner, "/apiVersion")},
          {"kind", TextAt(owner, "/kind")},
          {"name", TextAt(owner, "/metadata/name")},
          {"uid", TextAt(owner, "/metadata/uid")},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

// Returns an object that a controller creates for `owner` with the name.
Json OwnedObject(const Json& owner, const char* api_version, const char* kind,
                 const std::string& name) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"namespace", NamespaceOf(owner)},
            {"ownerReferences", Json::array({OwnerReference(owner)})}}}};
}

// Adds the labels and annotations of a template to an object.
void CopyLabels(const Json& from_template, Json& object) {
  for (const auto& [key, pointer] : {std::pair("labels", "/metadata/labels"),
                                     std::pair("annotations", "/metadata/annotations")}) {
    const Json& values = ValueAt(from_template, pointer);
    if (values.is_object()) object["metadata"][key] = values;
  }
}

// Creates the pods of one workload.
class Controller {
 public:
  Controller(const Json& workload, const WorkloadPlace& place)
      : workload_(workload),
        place_(place),
        ns_(NamespaceOf(workload)),
        name_(TextAt(workload, "/metadata/name")) {}

  Result<WorkloadPods> Expand();

 private:
  using Pods = Result<WorkloadPods>;

  // The newest ReplicaSet of a Deployment that runs.
  struct ReplicaSet {
    std::string name;  // "" if there is none.
    std::string uid;
    std::string hash;        // The value of kHashLabel; "" if its pods have none.
    int64_t created_ns = 0;  // When its first pod was created.
    size_t others = 0;       // The number of pods of the other ReplicaSets.
  };

  Pods ExpandDeployment();
  ReplicaSet FindReplicaSet() const;
  Pods ExpandReplicas();
  Pods ExpandStatefulSet();
  Pods ExpandDaemonSet();
  Pods ExpandJob();
  Pods ExpandCronJob();

  // Adds an object to the cluster, and returns it with its uid.
  Result<Json> Create(Json object);
  // Expands an object that the controller of this one creates.
  Pods ExpandOwned(Json object);
  // Checks the template and the selector, and sets pod_. `example`: a pod of the template.
  Status CheckTemplate();
  Status CheckSelector(const Pod& example) const;
  // Returns a pod of the template whose name begins with the workload's name.
  Json PodOfTemplate() const;
  // Returns a pod of the template as the decoder sees it.
  Result<PodRef> Decode(const Json& pod) const;
  // Returns the pods that the controller counts: its own, and those that it would adopt.
  std::vector<PodRef> Existing() const;
  // Adds pods until there are `wanted`.
  Pods FillUp(int64_t wanted);
  Status Add(Json pod, WorkloadPods& result) const;
  // Checks what an API server refuses in a Job.
  Status CheckJob() const;
  // Returns why the controller creates no pods for the Job; "" if it may.
  std::string WhyJobIsDone() const;
  Status AddClaims(const std::string& pod_name, Json& pod);
  bool MayRunOn(const Pod& pod, const Node& node) const;

  const Json& workload_;
  const WorkloadPlace& place_;
  const std::string ns_;
  const std::string name_;
  Json pod_;  // A pod of the template.
  std::optional<Parsed<berth_selector>> selector_;
};

Result<WorkloadPods> Controller::Expand() {
  const std::string kind = TextAt(workload_, "/kind");
  if (!ValueAt(workload_, "/metadata/deletionTimestamp").is_null()) {
    return WorkloadPods{.why_none = "it is being deleted"};
  }
  if (kind == "CronJob") return ExpandCronJob();
  if (Status status = CheckTemplate(); !status.ok()) return status;
  if (kind == "Deployment") return ExpandDeployment();
  if (kind == "StatefulSet") return ExpandStatefulSet();
  if (kind == "DaemonSet") return ExpandDaemonSet();
  return kind == "Job" ? ExpandJob() : ExpandReplicas();
}

// ---- The template -------------------------------------------------------------------------------

Status Controller::CheckTemplate() {
  const Json& pod_template = ValueAt(workload_, kTemplate);
  if (!pod_template.is_object() || !ValueAt(pod_template, "/spec").is_object()) {
    return Unexpected(kTemplate, "a pod template", FoundText(pod_template));
  }
  pod_ = PodOfTemplate();
  const Result<PodRef> example = Decode(pod_);
  if (!example.ok()) return example.status();
  const std::string kind = TextAt(workload_, "/kind");
  const Json& own = ValueAt(workload_, "/spec/selector");
  if (kind == "Job") return {};
  Json selector = own;
  if (kind == "ReplicationController") {
    // Its selector is a map of labels, by default those of the template. The form of newer kinds
    // is accepted, too.
    const bool is_new_form = ValueAt(own, "/matchLabels").is_object();
    if (own.empty()) selector = {{"matchLabels", ValueAt(pod_template, "/metadata/labels")}};
    if (!own.empty() && !is_new_form) selector = {{"matchLabels", own}};
  } else if (!own.is_object() || own.empty()) {
    return Unexpected("/spec/selector", "a label selector", FoundText(own));
  }
  Result<Parsed<berth_selector>> parsed = place_.decoder.DecodeLabelSelector(DumpJson(selector));
  if (!parsed.ok()) return parsed.status().Annotate("/spec/selector");
  selector_.emplace(std::move(parsed).value());
  return CheckSelector(**example);
}

Status Controller::CheckSelector(const Pod& example) const {
  const Labels labels(example.meta().labels);
  if (Matches(selector_->root, labels, example.interner())) return {};
  return Unexpected("/spec/selector", "a selector that the labels of /spec/template match",
                    FoundText(ValueAt(workload_, "/spec/selector")));
}

Json Controller::PodOfTemplate() const {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"generateName", name_ + "-"},
                {"namespace", ns_},
                {"ownerReferences", Json::array({OwnerReference(workload_)})}}}};
  CopyLabels(ValueAt(workload_, kTemplate), pod);
  pod["spec"] = ValueAt(workload_, "/spec/template/spec");
  return pod;
}

Result<PodRef> Controller::Decode(const Json& pod) const {
  Result<PodRef> decoded = place_.decoder.DecodePod(DumpJson(pod));
  if (!decoded.ok()) return decoded.status().Annotate(kTemplate);
  return decoded;
}

// ---- Pods that exist ----------------------------------------------------------------------------

std::vector<PodRef> Controller::Existing() const {
  const auto own =
      place_.pods.Of(ns_, TextAt(workload_, "/apiVersion"), TextAt(workload_, "/kind"), name_);
  std::vector<PodRef> pods(own.begin(), own.end());
  if (!selector_.has_value()) return pods;
  for (const PodRef& pod : place_.pods.WithoutController(ns_)) {
    const Labels labels(pod->meta().labels);
    if (Matches(selector_->root, labels, pod->interner())) pods.push_back(pod);
  }
  return pods;
}

Status Controller::Add(Json pod, WorkloadPods& result) const {
  Status status = place_.add_pod(std::move(pod));
  if (status.ok()) ++result.created;
  return status;
}

Result<WorkloadPods> Controller::FillUp(int64_t wanted) {
  WorkloadPods result;
  result.existing = Existing().size();
  if (wanted == 0) result.why_none = "it has 0 replicas";
  for (auto i = static_cast<int64_t>(result.existing); i < wanted; ++i) {
    if (Status status = Add(pod_, result); !status.ok()) return status;
  }
  return result;
}

// ---- Kinds --------------------------------------------------------------------------------------

Result<Json> Controller::Create(Json object) {
  Result<std::string> uid = place_.create(object);
  if (!uid.ok()) return uid.status();
  object["metadata"]["uid"] = *uid;
  return object;
}

Result<WorkloadPods> Controller::ExpandOwned(Json object) {
  const Result<Json> created = Create(std::move(object));
  if (!created.ok()) return created.status();
  return Controller(*created, place_).Expand();
}

Result<WorkloadPods> Controller::ExpandReplicas() {
  const Result<int64_t> replicas = NumberAt(workload_, "/spec/replicas", 1);
  if (!replicas.ok()) return replicas.status();
  return FillUp(*replicas);
}

Result<WorkloadPods> Controller::ExpandDeployment() {
  const Result<int64_t> replicas = NumberAt(workload_, "/spec/replicas", 1);
  if (!replicas.ok()) return replicas.status();
  const ReplicaSet existing = FindReplicaSet();
  const bool runs = !existing.name.empty();
  const std::string hash = runs ? existing.hash : HashText(ValueAt(workload_, kTemplate));
  Json owned =
      OwnedObject(workload_, "apps/v1", "ReplicaSet", runs ? existing.name : name_ + "-" + hash);
  Json& spec = owned["spec"];
  spec = {{"replicas", std::max<int64_t>(*replicas - static_cast<int64_t>(existing.others), 0)},
          {"selector", ValueAt(workload_, "/spec/selector")},
          {"template", ValueAt(workload_, kTemplate)}};
  if (!hash.empty()) {
    ObjectIn(ObjectIn(spec["template"], "metadata"), "labels")[kHashLabel] = hash;
    ObjectIn(spec["selector"], "matchLabels")[kHashLabel] = hash;
  }
  if (!runs) {
    owned["metadata"]["labels"] = ValueAt(owned, "/spec/template/metadata/labels");
    return ExpandOwned(std::move(owned));
  }
  owned["metadata"]["uid"] = existing.uid;
  Pods pods = Controller(owned, place_).Expand();
  if (!pods.ok()) return pods.status();
  pods->existing += existing.others;
  if (*replicas > 0) pods->why_none.clear();
  return pods;
}

// A Deployment that runs has its pods in ReplicaSets whose names the cluster chose: in several
// during a rollout, whose newest one grows.
Controller::ReplicaSet Controller::FindReplicaSet() const {
  ReplicaSet newest;
  size_t count = 0;
  size_t all = 0;
  const auto visit = [&](std::span<const PodRef> pods) {
    const Pod& pod = *pods.front();
    if (!Matches(selector_->root, Labels(pod.meta().labels), pod.interner())) return;
    all += pods.size();
    const int64_t created_ns =
        std::ranges::min(pods, {}, [](const PodRef& one) { return one->meta().created_ns; })
            ->meta()
            .created_ns;
    if (!newest.name.empty() && created_ns <= newest.created_ns) return;
    const berth_owner& owner = *ControllerOf(pod);
    newest = {std::string(Text(owner.name)), std::string(Text(owner.uid)), "", created_ns};
    count = pods.size();
    for (const berth_id_pair& label : Elements<berth_id_pair>(pod.meta().labels)) {
      if (pod.interner().Text(label.key) == kHashLabel) {
        newest.hash = pod.interner().Text(label.value);
      }
    }
  };
  place_.pods.ForEachController(ns_, "apps/v1", "ReplicaSet", name_ + "-", visit);
  newest.others = all - count;
  return newest;
}

Status Controller::AddClaims(const std::string& pod_name, Json& pod) {
  for (const Json& claim_template : ValueAt(workload_, "/spec/volumeClaimTemplates")) {
    const std::string volume = TextAt(claim_template, "/metadata/name");
    if (volume.empty()) {
      return Unexpected("/spec/volumeClaimTemplates", "claims with a name",
                        FoundText(claim_template));
    }
    const std::string claim_name = Dashed({volume, pod_name});
    Json& volumes = ArrayIn(pod["spec"], "volumes");
    std::erase_if(volumes.get_ref<Json::array_t&>(),
                  [&](const Json& one) { return TextAt(one, "/name") == volume; });
    volumes.push_back({{"name", volume}, {"persistentVolumeClaim", {{"claimName", claim_name}}}});
    if (place_.cluster.Find("v1/PersistentVolumeClaim", ns_, claim_name).has_value()) continue;
    Json claim = {{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}};
    claim["metadata"] = ValueAt(claim_template, "/metadata");
    claim["metadata"]["name"] = claim_name;
    claim["metadata"]["namespace"] = ns_;
    claim["spec"] = ValueAt(claim_template, "/spec");
    if (Result<std::string> uid = place_.create(std::move(claim)); !uid.ok()) return uid.status();
  }
  return {};
}

Result<WorkloadPods> Controller::ExpandStatefulSet() {
  const Result<int64_t> replicas = NumberAt(workload_, "/spec/replicas", 1);
  const Result<int64_t> start = NumberAt(workload_, "/spec/ordinals/start", 0, /*is_count=*/false);
  if (!replicas.ok()) return replicas.status();
  if (!start.ok()) return start.status();
  WorkloadPods result;
  if (*replicas == 0) result.why_none = "it has 0 replicas";
  for (int64_t i = 0; i < *replicas; ++i) {
    const std::string ordinal = std::to_string(*start + i);
    const std::string pod_name = Dashed({name_, ordinal});
    if (place_.cluster.FindPod(ns_, pod_name) != nullptr) {
      ++result.existing;
      continue;
    }
    Json pod = pod_;
    Json& metadata = pod["metadata"];
    metadata.erase("generateName");
    metadata["name"] = pod_name;
    Json& labels = ObjectIn(metadata, "labels");
    labels["statefulset.kubernetes.io/pod-name"] = pod_name;
    labels["apps.kubernetes.io/pod-index"] = ordinal;
    Status status = AddClaims(pod_name, pod);
    if (status.ok()) status = Add(std::move(pod), result);
    if (!status.ok()) return status;
  }
  return result;
}

// ---- DaemonSet ----------------------------------------------------------------------------------

// The tolerations of every pod of a DaemonSet: pkg/controller/daemon/util/daemonset_util.go.
void AddDaemonTolerations(Json& spec) {
  struct Taint {
    const char* key;
    const char* effect;
  };
  constexpr std::array<Taint, 6> kTaints = {{
      {"node.kubernetes.io/not-ready", "NoExecute"},
      {"node.kubernetes.io/unreachable", "NoExecute"},
      {"node.kubernetes.io/disk-pressure", "NoSchedule"},
      {"node.kubernetes.io/memory-pressure", "NoSchedule"},
      {"node.kubernetes.io/pid-pressure", "NoSchedule"},
      {"node.kubernetes.io/unschedulable", "NoSchedule"},
  }};
  const bool has_host_network = ValueAt(spec, "/hostNetwork") == true;
  Json& tolerations = ArrayIn(spec, "tolerations");
  const auto add = [&](const char* key, const char* effect) {
    tolerations.push_back({{"key", key}, {"operator", "Exists"}, {"effect", effect}});
  };
  for (const Taint& taint : kTaints) add(taint.key, taint.effect);
  if (has_host_network) add("node.kubernetes.io/network-unavailable", "NoSchedule");
}

// Lets the pod run on one node only. Replaces all terms, as ReplaceDaemonSetPodNodeNameNodeAffinity
// does: they have selected the node.
void PinToNode(std::string_view node, Json& spec) {
  const Json field = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({std::string(node)})}};
  Json& affinity = ObjectIn(ObjectIn(spec, "affinity"), "nodeAffinity");
  Json& required = ObjectIn(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  required["nodeSelectorTerms"] = Json::array({{{"matchFields", Json::array({field})}}});
}

// Returns the node that PinToNode() set; "" if there is none.
std::string_view PinnedNode(const Pod& pod) {
  for (const berth_node_term& term :
       Elements<berth_node_term>(berth::Pod(pod.view()).affinity().required_node_terms)) {
    for (const berth_requirement& field : Elements<berth_requirement>(term.fields)) {
      for (const berth_id value : Elements<berth_id>(field.values)) {
        return pod.interner().Text(value);
      }
    }
  }
  return {};
}

// The daemon controller's nodeShouldRunDaemonPod.
bool Controller::MayRunOn(const Pod& pod, const Node& node) const {
  if (!pod.node_name().empty() && pod.node_name() != node.name()) return false;
  const berth::Pod view(pod.view());
  return MatchesNodeSelection(view, node.view(), pod.interner()) &&
         FindUntolerated(Span<const berth_taint>(node.view().taints), view.tolerations()) ==
             nullptr;
}

Result<WorkloadPods> Controller::ExpandDaemonSet() {
  Json pod = pod_;
  AddDaemonTolerations(pod["spec"]);
  const Result<PodRef> example = Decode(pod);
  if (!example.ok()) return example.status();
  std::set<std::string, std::less<>> served;
  for (const PodRef& one : Existing()) {
    served.emplace(one->node_name().empty() ? PinnedNode(*one) : one->node_name());
  }
  WorkloadPods result;
  bool may_run = false;
  for (const AnyObject& object : place_.cluster.List(kNodeKind)) {
    const Node& node = *std::get<NodeRef>(object);
    if (!MayRunOn(**example, node)) continue;
    may_run = true;
    if (served.contains(node.name())) {
      ++result.existing;
      continue;
    }
    Json pinned = pod;
    PinToNode(node.name(), pinned["spec"]);
    if (Status status = Add(std::move(pinned), result); !status.ok()) return status;
  }
  if (!may_run) result.why_none = "no node allows one";
  return result;
}

// ---- Job and CronJob ----------------------------------------------------------------------------

Status Controller::CheckJob() const {
  const Json& suspend = ValueAt(workload_, "/spec/suspend");
  if (!suspend.is_null() && !suspend.is_boolean()) {
    return Unexpected("/spec/suspend", "true or false", FoundText(suspend));
  }
  const Json& mode = ValueAt(workload_, "/spec/completionMode");
  if (!mode.is_null() && mode != "Indexed" && mode != "NonIndexed") {
    return Unexpected("/spec/completionMode", "Indexed or NonIndexed", FoundText(mode));
  }
  const Json& completions = ValueAt(workload_, "/spec/completions");
  if (mode == "Indexed" && completions.is_null()) {
    return Unexpected("/spec/completions", "a number, because the Job is Indexed", "nothing");
  }
  const Json& policy = ValueAt(workload_, "/spec/template/spec/restartPolicy");
  if (policy == "OnFailure" || policy == "Never") return {};
  return Unexpected("/spec/template/spec/restartPolicy", "OnFailure or Never", FoundText(policy));
}

Result<WorkloadPods> Controller::ExpandJob() {
  if (Status status = CheckJob(); !status.ok()) return status;
  const Result<int64_t> parallelism = NumberAt(workload_, "/spec/parallelism", 1);
  if (!parallelism.ok()) return parallelism.status();
  // Without completions, one pod that succeeds ends the Job, so that all may run until then.
  const bool has_completions = ValueAt(workload_, "/spec/completions").is_number();
  const Result<int64_t> completions =
      NumberAt(workload_, "/spec/completions", std::max<int64_t>(*parallelism, 1));
  const Result<int64_t> succeeded = NumberAt(workload_, "/status/succeeded", 0, /*is_count=*/false);
  if (!completions.ok()) return completions.status();
  if (!succeeded.ok()) return succeeded.status();
  WorkloadPods result;
  result.existing = Existing().size();
  result.why_none = WhyJobIsDone();
  if (!result.why_none.empty()) return result;
  const int64_t open =
      has_completions ? std::max<int64_t>(*completions - *succeeded, 0) : *completions;
  const int64_t wanted = std::min(*parallelism, open);
  if (wanted == 0) result.why_none = *parallelism == 0 ? "its parallelism is 0" : "it is complete";
  const bool is_indexed = TextAt(workload_, "/spec/completionMode") == "Indexed";
  for (auto i = static_cast<int64_t>(result.existing); i < wanted; ++i) {
    Json pod = pod_;
    Json& labels = ObjectIn(pod["metadata"], "labels");
    const std::string uid = TextAt(workload_, "/metadata/uid");
    for (const char* prefix : {"batch.kubernetes.io/", ""}) {
      labels[std::string(prefix) + "controller-uid"] = uid;
      labels[std::string(prefix) + "job-name"] = name_;
    }
    if (is_indexed) {
      const std::string index = std::to_string(i + *succeeded);
      labels["batch.kubernetes.io/job-completion-index"] = index;
      pod["metadata"]["generateName"] = Dashed({name_, index, ""});
    }
    if (Status status = Add(std::move(pod), result); !status.ok()) return status;
  }
  return result;
}

std::string Controller::WhyJobIsDone() const {
  if (ValueAt(workload_, "/spec/suspend") == true) return "it is suspended";
  for (const Json& condition : ValueAt(workload_, "/status/conditions")) {
    const std::string type = TextAt(condition, "/type");
    if (TextAt(condition, "/status") != "True") continue;
    if (type == "Failed" || type == "Complete") return "it has ended";
  }
  // Without completions, the first pod that succeeds ends the Job.
  const Json& succeeded = ValueAt(workload_, "/status/succeeded");
  const bool has_succeeded = succeeded.is_number_integer() && succeeded.get<int64_t>() > 0;
  const bool has_completions = ValueAt(workload_, "/spec/completions").is_number();
  return has_succeeded && !has_completions ? "a pod of it has succeeded" : "";
}

Result<WorkloadPods> Controller::ExpandCronJob() {
  const Json& job_template = ValueAt(workload_, "/spec/jobTemplate");
  if (!ValueAt(job_template, "/spec").is_object()) {
    return Unexpected("/spec/jobTemplate", "a Job template", FoundText(job_template));
  }
  if (ValueAt(workload_, "/spec/suspend") == true) {
    return WorkloadPods{.why_none = "it is suspended"};
  }
  if (TextAt(workload_, "/spec/schedule").empty()) {
    return Unexpected("/spec/schedule", "a schedule such as '0 2 * * *'",
                      FoundText(ValueAt(workload_, "/spec/schedule")));
  }
  // On a cluster the number is the time of the schedule. Here equal input gives equal names.
  Json job = OwnedObject(workload_, "batch/v1", "Job", name_ + "-1");
  CopyLabels(job_template, job);
  job["spec"] = ValueAt(job_template, "/spec");
  Result<WorkloadPods> pods = ExpandOwned(std::move(job));
  if (!pods.ok()) return pods.status().Annotate("/spec/jobTemplate");
  return pods;
}

}  // namespace

bool IsWorkload(std::string_view kind) {
  return std::ranges::find(kWorkloads, kind) != kWorkloads.end();
}

bool HasPodTemplate(const Json& object) {
  if (!object.is_structured()) return false;
  if (object.is_object() && ValueAt(object, "/template/spec/containers").is_array()) return true;
  return std::ranges::any_of(object, HasPodTemplate);
}

Result<WorkloadPods> ExpandWorkload(const Json& workload, const WorkloadPlace& place) {
  return Controller(workload, place).Expand();
}

}  // namespace berth::host

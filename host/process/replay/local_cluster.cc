#include "host/process/replay/local_cluster.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/api_kinds.h"
#include "host/api/json_syntax.h"
#include "host/api/manifest.h"
#include "host/base/json_text.h"
#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/cluster/control_plane/workload.h"
#include "host/cluster/json_body.h"
#include "host/process/assemble/input_files.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxErrors = kMaxManifestErrors;

// "Deployment default/web"
std::string DescribeShort(const AnyObject& object) {
  return std::string(SplitKind(KindOf(object)).kind).append(" ").append(Base(object).Key());
}

// Returns one error with the messages of all, of which the first kMaxErrors are named.
Status JoinErrors(const std::vector<Status>& errors) {
  if (errors.empty()) return {};
  std::string text;
  for (const Status& error : std::span(errors).first(std::min(errors.size(), kMaxErrors))) {
    if (!text.empty()) text += '\n';
    text += error.message();
  }
  if (errors.size() > kMaxErrors) {
    text += "\n... and " + CountOf(errors.size() - kMaxErrors, "more error");
  }
  // Only admission does not find something: a class.
  const auto is_missing = [](const Status& error) { return error.code() == ErrorCode::kNotFound; };
  if (std::ranges::any_of(errors, is_missing)) {
    text +=
        "\nAdd the classes of the cluster to the files (kubectl get pc,limits,runtimeclasses -A -o "
        "json), or use --no-admission";
  }
  return {errors.front().code(), std::move(text)};
}

// Returns the JSON of an object whose text a decoder has accepted.
Result<Json> ParseObject(std::string_view text) { return ParseBody(text, text.size()); }

// Checks an object that no API server has seen: a policy, or a custom resource.
Status CheckObject(std::string_view kind, std::string_view text) {
  const Result<Json> json = ParseObject(text.substr(0, EndOfValue(text)));
  if (!json.ok()) return {};
  if (Admission::Reads(kind)) return Admission::Check(kind, *json);
  // Only the controller of a custom resource knows its pods.
  if (!HasPodTemplate(*json)) return {};
  return Status::Unsupported("/kind: expected a pod or a workload of Kubernetes, found " +
                             std::string(kind) +
                             ", whose own controller creates its pods; add the pods instead");
}

// "12 pods without metadata.uid got what an API server adds to new pods: ...". Tolerations alone
// are not worth a line if they change no decision.
std::string AdmissionNote(const Admission& admission, const AdmissionCounts& before) {
  const AdmissionCounts& now = admission.counts();
  std::vector<std::string> parts;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) parts.push_back(std::string(what) + " (" + WithCommas(count) + ")");
  };
  add(now.limit_ranges - before.limit_ranges, "requests of a LimitRange");
  add(now.priorities - before.priorities, "the priority of a PriorityClass");
  add(now.runtime_classes - before.runtime_classes, "values of a RuntimeClass");
  if (now.pods == before.pods || (parts.empty() && !admission.DoTolerationsMatter())) return "";
  add(now.tolerations - before.tolerations, "tolerations of nodes that are not ready");
  if (parts.empty()) return "";
  return CountOf(now.pods - before.pods, "pod") +
         " without metadata.uid got what an API server adds to new pods: " + Join(parts, ", ") +
         "; --no-admission takes them as they are";
}

}  // namespace

LocalCluster::LocalCluster(Interner& interner, const DecodeOptions& decode, const Clock& clock,
                           bool follows_stream)
    : decoder_(interner, decode),
      cluster_({.clock = clock,
                .max_events = 0,
                .serve =
                    [this](const ApiRequest& request) {
                      plugin_writes_ += request.verb != "GET" ? 1 : 0;
                      return api_.Serve(request);
                    }}),
      api_(cluster_, decoder_) {
  if (follows_stream) stream_.emplace(cluster_);
}

void LocalCluster::NoteChange(std::string_view kind) {
  if (Admission::Reads(kind)) admission_.Refresh();
}

void LocalCluster::NoteKind(std::string_view kind) {
  if (!kinds_.contains(kind)) kinds_.emplace(kind);
}

bool LocalCluster::HasKind(std::string_view declared) const {
  return std::ranges::any_of(KindsOf(declared),
                             [this](const std::string& kind) { return kinds_.contains(kind); });
}

Status LocalCluster::Load(const AnyObject& object) {
  Status status = cluster_.Load(object);
  if (!status.ok()) return status;
  if (std::holds_alternative<ObjectRef>(object)) NoteChange(KindOf(object));
  if (stream_.has_value()) stream_->NoteLoaded(object);
  return status;
}

Status LocalCluster::Add(AnyObject object) {
  Status status = Load(object);
  if (!status.ok()) return status;
  if (std::holds_alternative<ObjectRef>(object)) NoteKind(KindOf(object));
  Deliver();
  return status;
}

// ---- Files --------------------------------------------------------------------------------------

Status LocalCluster::AddManifest(std::string_view name, std::string text) {
  Status status = Read(name, std::move(text), Workloads::kNew);
  if (status.ok()) status = Complete();
  Deliver();
  return status;
}

Status LocalCluster::AddFiles(const Files& files) {
  Status status;
  for (const std::string& path : files.paths) {
    if (files.on_reading) files.on_reading(InputName(path));
    Result<std::string> text = ReadInput(path, files.in);
    status =
        text.ok() ? Read(InputName(path), std::move(text).value(), files.workloads) : text.status();
    if (!status.ok()) break;
  }
  if (status.ok()) status = Complete();
  Deliver();
  return status;
}

Status LocalCluster::Read(std::string_view name, std::string text, Workloads workloads) {
  text.reserve(text.size() + kManifestPadding);
  const auto take = [&](const AnyObject& object, std::string_view json) {
    return Take(name, object, json, workloads);
  };
  Status status = ReadPaddedManifest(text, name, decoder_, take,
                                     [this](const std::string& kind) { NoteKind(kind); });
  if (status.ok()) return status;
  waiting_pods_.clear();
  waiting_workloads_.clear();
  waiting_keys_.clear();
  return status;
}

Status LocalCluster::Take(std::string_view file, AnyObject object, std::string_view text,
                          Workloads workloads) {
  const bool is_new = Base(object).uid().empty();
  const auto wait = [&](std::vector<Waiting>& waiting) {
    waiting.push_back({std::string(file), object, std::string(text.substr(0, EndOfValue(text)))});
  };
  if (std::holds_alternative<NodeRef>(object)) {
    is_dump_ |= !is_new;
    return Load(object);
  }
  if (std::holds_alternative<PodRef>(object) && (!is_new || !admits_)) return Load(object);
  const std::string key = std::string(KindOf(object)).append(" ").append(Base(object).Key());
  const auto duplicate = [&] { return Status::AlreadyExists("duplicate " + key); };
  if (std::holds_alternative<PodRef>(object)) {
    // The cluster has the error for its own pods.
    if (cluster_.FindPod(Base(object).ns(), Base(object).name()) != nullptr) return Load(object);
    if (!waiting_keys_.insert(key).second) return duplicate();
    wait(waiting_pods_);
    return {};
  }
  const std::string_view kind = KindOf(object);
  if (Status status = is_new ? CheckKind(kind) : Status(); !status.ok()) return status;
  // An object that a person adds to a dump does not show that the dump has the kind.
  const bool is_added = is_new && workloads == Workloads::kAll;
  if (!is_added) NoteKind(kind);
  if (!IsWorkload(kind)) {
    const bool is_checked = is_new && (IsCustomKind(kind) || Admission::Reads(kind));
    Status status = is_checked ? CheckObject(kind, text) : Status();
    return status.ok() ? Load(object) : status;
  }
  if (!is_new && workloads == Workloads::kNew) return Load(object);
  if (!waiting_keys_.insert(key).second) return duplicate();
  wait(waiting_workloads_);
  if (workloads == Workloads::kNew) return Load(object);
  // An edited workload takes the place of the one of the dump.
  return cluster_.Put(object).status();
}

Status LocalCluster::Complete() {
  const std::vector<Waiting> pods = std::exchange(waiting_pods_, {});
  const std::vector<Waiting> workloads = std::exchange(waiting_workloads_, {});
  waiting_keys_.clear();
  std::vector<Status> errors;
  const auto collect = [&errors](Status status, const Waiting& one) {
    if (status.ok()) return;
    errors.push_back(status.Annotate(DescribeShort(one.object)).Annotate(one.file));
  };
  for (const Waiting& one : pods) collect(CompletePod(one), one);
  if (!workloads.empty()) {
    // A controller counts the pods of the files, but not those of other controllers.
    const ControlledPods existing(cluster_);
    for (const Waiting& one : workloads) collect(Expand(one, existing), one);
  }
  return JoinErrors(errors);
}

Status LocalCluster::CompletePod(const Waiting& waiting) {
  Result<Json> json = ParseObject(waiting.json);
  if (!json.ok()) return json.status();
  // The name may have been generated.
  (*json)["metadata"]["name"] = std::string(Base(waiting.object).name());
  const Result<PodRef> pod = ToPod(std::move(json).value());
  return pod.ok() ? Load(*pod) : pod.status();
}

Result<PodRef> LocalCluster::ToPod(Json pod, const Pod* stored) {
  if (admits_) {
    if (Status status = admission_.Admit(pod, stored); !status.ok()) return status;
  }
  return decoder_.DecodePod(DumpJson(pod));
}

Result<std::string> LocalCluster::CreateOwned(const Json& object) {
  Result<AnyObject> decoded = decoder_.Decode(DumpJson(object));
  if (!decoded.ok()) return decoded.status();
  const Status status = Load(*decoded);
  if (!status.ok()) return status;
  const ObjectBase& base = Base(*decoded);
  const std::optional<AnyObject> stored = cluster_.Find(KindOf(*decoded), base.ns(), base.name());
  return std::string(Base(*stored).uid());
}

std::string LocalCluster::WorkloadOf(const ObjectBase& base) const {
  for (const berth_owner& owner : Elements<berth_owner>(base.meta().owners)) {
    if (owner.controller == 0) continue;
    const std::string_view kind = base.interner().Text(owner.kind);
    std::string full(base.interner().Text(owner.api_version));
    full.append("/").append(kind);
    if (!IsWorkload(full) || !cluster_.Find(full, base.ns(), Text(owner.name))) return "";
    return std::string(kind).append(" ").append(Text(owner.name));
  }
  return "";
}

Status LocalCluster::Expand(const Waiting& waiting, const ControlledPods& existing) {
  const std::string_view kind = KindOf(waiting.object);
  const ObjectBase& base = Base(waiting.object);
  if (const std::string owner = WorkloadOf(base); !owner.empty()) {
    notes_.push_back(DescribeShort(waiting.object) + ": no pods: " + owner + " decides about them");
    return {};
  }
  Result<Json> json = ParseObject(waiting.json);
  if (!json.ok()) return json.status();
  const std::optional<AnyObject> stored = cluster_.Find(kind, base.ns(), base.name());
  const GroupVersionKind parts = SplitKind(kind);
  (*json)["apiVersion"] = std::string(kind.substr(0, kind.size() - parts.kind.size() - 1));
  (*json)["kind"] = std::string(parts.kind);
  (*json)["metadata"]["name"] = std::string(base.name());
  (*json)["metadata"]["uid"] = std::string(Base(*stored).uid());
  const auto add_pod = [this](Json pod) {
    Result<PodRef> decoded = ToPod(std::move(pod));
    return decoded.ok() ? Load(*decoded) : decoded.status().Annotate("pod of its template");
  };
  Result<WorkloadPods> found =
      ExpandWorkload(*json, {cluster_, existing, decoder_,
                             [this](const Json& object) { return CreateOwned(object); }, add_pod});
  if (!found.ok()) return found.status();
  std::string note = DescribeShort(waiting.object) + ": ";
  if (!found->why_none.empty()) {
    note += "no pods: " + found->why_none;
  } else {
    note += CountOf(found->created, found->existing == 0 ? "pod" : "more pod");
    if (found->existing > 0) note += " beside " + WithCommas(found->existing) + " that exist";
  }
  notes_.push_back(std::move(note));
  return {};
}

std::vector<std::string> LocalCluster::TakeNotes() {
  std::vector<std::string> notes = std::exchange(notes_, {});
  std::string admission = AdmissionNote(admission_, noted_);
  const size_t without_requests = admission_.counts().without_requests - noted_.without_requests;
  noted_ = admission_.counts();
  if (!admission.empty()) notes.push_back(std::move(admission));
  if (without_requests > 0 && is_dump_ && !is_complete_ && !HasKind("v1/LimitRange")) {
    notes.push_back(CountOf(without_requests, "pod") +
                    " without metadata.uid lack requests of cpu or memory, and the files have no "
                    "LimitRange, which may add some on the cluster; read them too: kubectl get "
                    "limits -A -o json");
  }
  return notes;
}

// ---- A stream -----------------------------------------------------------------------------------

Result<bool> LocalCluster::Apply(const StreamEvent& event) {
  if (!HasObject(event.type)) return stream_->Apply(event);
  const bool is_new = Base(event.object).uid().empty();
  if (const auto* pod = std::get_if<PodRef>(&event.object)) {
    const bool is_admitted = admits_ && is_new && event.type != StreamType::kDeleted;
    return is_admitted ? ApplyAdmitted(event, **pod) : stream_->Apply(event);
  }
  const bool is_node = std::holds_alternative<NodeRef>(event.object);
  const std::string_view kind = KindOf(event.object);
  if (Status status = is_new && !is_node ? CheckKind(kind) : Status(); !status.ok()) return status;
  Result<bool> changed = stream_->Apply(event);
  if (!changed.ok()) return changed;
  if (is_node) {
    is_dump_ |= !is_new;
  } else {
    NoteChange(kind);
    NoteKind(kind);
  }
  return changed;
}

Result<bool> LocalCluster::ApplyAdmitted(const StreamEvent& event, const Pod& pod) {
  Result<Json> json = ParseObject(event.object_json);
  if (!json.ok()) return json.status();
  (*json)["metadata"]["name"] = std::string(pod.name());
  const PodRef stored = cluster_.FindPod(pod.ns(), pod.name());
  Result<PodRef> admitted = ToPod(std::move(json).value(), stored.get());
  if (!admitted.ok()) return admitted.status();
  StreamEvent changed = event;
  changed.object = *std::move(admitted);
  return stream_->Apply(changed);
}

}  // namespace berth::host

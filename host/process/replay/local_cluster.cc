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

// Returns the JSON of an object whose text a decoder has accepted.
Result<Json> ParseObject(std::string_view text) { return ParseBody(text, text.size()); }

// "12 pods without metadata.uid got what an API server adds to new pods: ...". Tolerations alone
// are not worth a line if they change no decision.
std::string AdmissionNote(const AdmissionCounts& now, const AdmissionCounts& before,
                          bool do_tolerations_matter) {
  std::vector<std::string> parts;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) parts.push_back(std::string(what) + " (" + WithCommas(count) + ")");
  };
  add(now.limit_ranges - before.limit_ranges, "requests of a LimitRange");
  add(now.priorities - before.priorities, "the priority of a PriorityClass");
  add(now.runtime_classes - before.runtime_classes, "values of a RuntimeClass");
  if (parts.empty() && !do_tolerations_matter) return "";
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
  if (std::holds_alternative<ObjectRef>(object)) NoteKind(KindOf(object));
  NoteChange(KindOf(object));
  if (stream_.has_value()) stream_->NoteLoaded(object);
  return status;
}

Status LocalCluster::Add(AnyObject object) {
  Status status = Load(object);
  if (status.ok()) Deliver();
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
  waiting_.clear();
  waiting_keys_.clear();
  return status;
}

Status LocalCluster::Take(std::string_view file, AnyObject object, std::string_view text,
                          Workloads workloads) {
  const bool is_pod = std::holds_alternative<PodRef>(object);
  const bool is_new = Base(object).uid().empty();
  is_dump_ |= !is_new && std::holds_alternative<NodeRef>(object);
  const auto wait = [&] {
    waiting_.push_back({std::string(file), object, std::string(text.substr(0, EndOfValue(text)))});
  };
  if (!is_pod) {
    const std::string_view kind = KindOf(object);
    if (Status status = CheckKind(kind); !status.ok()) return status;
    if (IsWorkload(kind)) {
      if (is_new || workloads == Workloads::kAll) wait();
    } else if (is_new && IsCustomKind(kind)) {
      const Result<Json> json = ParseObject(text.substr(0, EndOfValue(text)));
      if (json.ok() && HasPodTemplate(*json)) {
        return Status::Unsupported("/kind: expected a pod or a workload of Kubernetes, found " +
                                   std::string(kind) +
                                   ", whose own controller creates its pods; add the pods instead");
      }
    }
    return Load(object);
  }
  if (!is_new || !admits_) return Load(object);
  const std::string key = Base(object).Key();
  // The cluster has the error for its own pods.
  if (cluster_.FindPod(Base(object).ns(), Base(object).name()) != nullptr) return Load(object);
  if (!waiting_keys_.insert(key).second) {
    return Status::AlreadyExists("duplicate " + std::string(kPodKind) + " " + key);
  }
  wait();
  return {};
}

Status LocalCluster::Complete() {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  waiting_keys_.clear();
  std::string errors;
  size_t count = 0;
  std::optional<ErrorCode> first;
  for (Waiting& one : waiting) {
    const Status status = CompleteOne(one);
    one = {};
    if (status.ok()) continue;
    if (!first.has_value()) first = status.code();
    if (++count > kMaxErrors) continue;
    if (!errors.empty()) errors += '\n';
    errors += status.message();
  }
  if (!first.has_value()) return {};
  if (count > kMaxErrors) {
    errors += "\n... and " + CountOf(count - kMaxErrors, "more error");
  }
  return {*first, std::move(errors)};
}

Status LocalCluster::CompleteOne(const Waiting& waiting) {
  const auto locate = [&](const Status& status) {
    return status.ok() ? status
                       : status.Annotate(DescribeShort(waiting.object)).Annotate(waiting.file);
  };
  if (!std::holds_alternative<PodRef>(waiting.object)) return locate(Expand(waiting));
  Result<Json> json = ParseObject(waiting.json);
  if (!json.ok()) return locate(json.status());
  // The name may have been generated.
  (*json)["metadata"]["name"] = std::string(Base(waiting.object).name());
  Result<PodRef> pod = ToPod(std::move(json).value());
  return locate(pod.ok() ? Load(*pod) : pod.status());
}

Result<PodRef> LocalCluster::ToPod(Json pod) {
  if (admits_) {
    if (Status status = admission_.Admit(pod); !status.ok()) return status;
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

Status LocalCluster::Expand(const Waiting& waiting) {
  Result<Json> json = ParseObject(waiting.json);
  if (!json.ok()) return json.status();
  const std::string_view kind = KindOf(waiting.object);
  const ObjectBase& base = Base(waiting.object);
  const std::optional<AnyObject> stored = cluster_.Find(kind, base.ns(), base.name());
  const GroupVersionKind parts = SplitKind(kind);
  (*json)["apiVersion"] = std::string(kind.substr(0, kind.size() - parts.kind.size() - 1));
  (*json)["kind"] = std::string(parts.kind);
  (*json)["metadata"]["name"] = std::string(base.name());
  (*json)["metadata"]["uid"] = std::string(Base(*stored).uid());
  Result<WorkloadPods> found = ExpandWorkload(
      *json, {cluster_, decoder_, [this](const Json& object) { return CreateOwned(object); }});
  if (!found.ok()) return found.status();
  for (Json& pod : found->pods) {
    Result<PodRef> decoded = ToPod(std::move(pod));
    Status status =
        decoded.ok() ? Load(*decoded) : decoded.status().Annotate("pod of its template");
    if (!status.ok()) return status;
  }
  std::string note = DescribeShort(waiting.object) + ": ";
  if (!found->why_none.empty()) {
    note += "no pods: " + found->why_none;
  } else {
    note += CountOf(found->pods.size(), found->existing == 0 ? "pod" : "more pod");
    if (found->existing > 0) note += " beside " + WithCommas(found->existing) + " that exist";
  }
  notes_.push_back(std::move(note));
  return {};
}

std::vector<std::string> LocalCluster::TakeNotes() {
  std::vector<std::string> notes = std::exchange(notes_, {});
  std::string admission =
      AdmissionNote(admission_.counts(), noted_, admission_.DoTolerationsMatter());
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
  const std::string_view kind = KindOf(event.object);
  if (Status status = CheckKind(kind); !status.ok()) return status;
  NoteChange(kind);
  if (std::holds_alternative<ObjectRef>(event.object)) NoteKind(kind);
  const auto* pod = std::get_if<PodRef>(&event.object);
  const bool is_admitted =
      admits_ && pod != nullptr && (*pod)->uid().empty() && event.type != StreamType::kDeleted;
  if (!is_admitted) return stream_->Apply(event);
  Result<Json> json = ParseObject(event.object_json);
  if (!json.ok()) return json.status();
  (*json)["metadata"]["name"] = std::string((*pod)->name());
  Result<PodRef> admitted = ToPod(std::move(json).value());
  if (!admitted.ok()) return admitted.status();
  StreamEvent changed = event;
  changed.object = *std::move(admitted);
  return stream_->Apply(changed);
}

}  // namespace berth::host

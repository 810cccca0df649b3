#include "tests/simulation/observing_client.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "host/cluster/kubernetes/watch/object_index.h"
#include "tests/simulation/sketch.h"

namespace berth::host {
namespace {

bool IsDelivered(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod == nullptr || !HasFinished(**pod);
}

}  // namespace

// ---- Watches ------------------------------------------------------------------------------------

// Is the sink of the inner watch, and the watch of the scheduler.
class ObservingClient::ObservedWatch final : public WatchSink, public Watch {
 public:
  ObservedWatch(ObservingClient& owner, std::string_view kind, WatchSink& sink)
      : owner_(owner),
        kind_(kind),
        sink_(sink),
        watch_(owner.inner_.source.StartWatch(kind, *this)) {
    owner_.watches_.push_back(this);
  }
  ~ObservedWatch() override { std::erase(owner_.watches_, this); }

  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      Check(event);
      owner_.observer_.OnDelivered(event);
    }
    sink_.OnEvents(events);
  }
  void OnWatchError(const Status& status) override { sink_.OnWatchError(status); }

  const std::string& kind() const { return kind_; }
  std::string Difference(const EmbeddedCluster& cluster, std::optional<uint64_t> until) const {
    if (!is_synced_) return kind_ + " is not synced";
    size_t count = 0;
    for (const AnyObject& object : cluster.List(kind_)) {
      if (!IsDelivered(object)) continue;
      ++count;
      const ObjectBase& base = Base(object);
      if (until && std::stoull(std::string(base.resource_version())) > *until) continue;
      const auto found = seen_.find(base.Key());
      const bool is_same = found != seen_.end() && found->second.uid == base.uid() &&
                           found->second.version == base.resource_version();
      if (is_same) continue;
      return kind_ + " " + base.Key() + ": the cluster has the version " +
             std::string(base.resource_version()) + ", but " +
             (found == seen_.end() ? "it was not delivered"
                                   : found->second.version + " was delivered");
    }
    if (!until && count != seen_.size()) return kind_ + ": a deletion was not delivered";
    return {};
  }

 private:
  struct Seen {
    std::string uid;
    std::string version;
  };

  void Find(const WatchEvent& event, std::string_view what) {
    owner_.findings_.Add(kind_ + " " + Base(event.object).Key() + " " + std::string(what));
  }

  void Check(const WatchEvent& event) {
    if (!event.has_object()) {
      const bool is_second = event.type == WatchType::kSynced && is_synced_;
      if (is_second) owner_.findings_.Add(kind_ + " was synced twice");
      is_synced_ = true;
      return;
    }
    const ObjectBase& object = Base(event.object);
    std::string key = object.Key();
    if (!is_synced_ && !seen_.empty() && key <= seen_.rbegin()->first) {
      Find(event, "was not delivered in order before the watch was synced");
    }
    const auto found = seen_.find(key);
    if ((event.type == WatchType::kAdded) != (found == seen_.end())) {
      return Find(event, "was added twice, or changed before it was added");
    }
    if (found == seen_.end()) {
      seen_.emplace(std::move(key), Seen{std::string(object.uid()), Version(object)});
      return;
    }
    if (Base(event.previous).resource_version() != found->second.version) {
      Find(event, "was delivered with another previous state than the last one");
    }
    const bool is_same_object = found->second.uid == object.uid();
    if (is_same_object && IsOlder(Version(object), found->second.version).value_or(false)) {
      Find(event, "was delivered in an older state");
    }
    if (event.type == WatchType::kDeleted) {
      seen_.erase(found);
    } else {
      found->second = {std::string(object.uid()), Version(object)};
    }
  }
  static std::string Version(const ObjectBase& object) {
    return std::string(object.resource_version());
  }

  ObservingClient& owner_;
  const std::string kind_;
  WatchSink& sink_;
  std::map<std::string, Seen> seen_;  // The objects that were delivered and not deleted, by key.
  bool is_synced_ = false;
  const std::unique_ptr<Watch> watch_;
};

std::unique_ptr<Watch> ObservingClient::StartWatch(std::string_view kind, WatchSink& sink) {
  return std::make_unique<ObservedWatch>(*this, kind, sink);
}

std::string ObservingClient::Difference(const EmbeddedCluster& cluster) const {
  for (const ObservedWatch* watch : watches_) {
    std::string difference = watch->Difference(cluster, std::nullopt);
    if (!difference.empty()) return difference;
  }
  return {};
}

std::string ObservingClient::Difference(const EmbeddedCluster& cluster, std::string_view kind,
                                        uint64_t until) const {
  for (const ObservedWatch* watch : watches_) {
    if (watch->kind() == kind) return watch->Difference(cluster, until);
  }
  return std::string(kind) + " is not watched";
}

// ---- Requests -----------------------------------------------------------------------------------

StatusCallback ObservingClient::Counted(StatusCallback done) {
  ++open_;
  return [this, done = std::move(done)](const Status& status) {
    --open_;
    if (done) done(status);
  };
}

void ObservingClient::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  observer_.OnBindRequested(pod, node);
  inner_.writer.Bind(
      pod, node,
      Counted([this, ns = std::string(pod.ns), name = std::string(pod.name),
               uid = std::string(pod.uid), done = std::move(done)](const Status& status) {
        observer_.OnBindCompleted({ns, name, uid}, status);
        if (done) done(status);
      }));
}

void ObservingClient::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                                     StatusCallback done) {
  inner_.writer.PatchPodStatus(pod, patch, Counted(std::move(done)));
}

void ObservingClient::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                                StatusCallback done) {
  inner_.writer.DeletePod(pod, grace_seconds, Counted(std::move(done)));
}

void ObservingClient::Request(ApiRequest request, ResponseCallback answer) {
  ++open_;
  inner_.writer.Request(std::move(request),
                        [this, answer = std::move(answer)](ApiResponse response) {
                          --open_;
                          if (answer) answer(std::move(response));
                        });
}

}  // namespace berth::host

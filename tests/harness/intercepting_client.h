// A client for tests, which passes all calls on to an embedded cluster. A test can inspect and
// refuse what the loop writes, and send watch events of its own.
#ifndef BERTH_TESTS_HARNESS_INTERCEPTING_CLIENT_H_
#define BERTH_TESTS_HARNESS_INTERCEPTING_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/forwarding_client.h"

namespace berth::host {

// Threading: the owner's thread.
class InterceptingClient final : public ForwardingClient {
 public:
  explicit InterceptingClient(EmbeddedCluster& cluster) : cluster_(cluster) {}

  // Called before each patch of a pod's status. A status that is not Ok becomes the answer, and the
  // cluster does not receive the patch.
  std::function<Status(const PodName& pod, const PodStatusPatch& patch)> on_patch;
  // Called in the same way before each binding and each deletion.
  std::function<Status(const PodName& pod, std::string_view node)> on_bind;
  std::function<Status(const PodName& pod)> on_delete;

  // Sends the event to the watch of pods, independently of the cluster.
  void SendPodEvent(WatchEvent event) { pods_->OnEvents(std::span(&event, 1)); }

  // Delivers the answers and events of the cluster, and the refusals. Returns how many there were.
  size_t Deliver() {
    auto answers = std::exchange(answers_, {});
    for (const auto& answer : answers) answer();
    return answers.size() + cluster_.Deliver();
  }

  // ---- ObjectSource, DecisionWriter -------------------------------------------------------------

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    if (kind == kPodKind) pods_ = &sink;
    return cluster_.StartWatch(kind, sink);
  }
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override {
    if (on_bind && Refuses(on_bind(pod, node), done)) return;
    cluster_.Bind(pod, node, std::move(done));
  }
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override {
    if (on_patch && Refuses(on_patch(pod, patch), done)) return;
    cluster_.PatchPodStatus(pod, patch, std::move(done));
  }
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override {
    if (on_delete && Refuses(on_delete(pod), done)) return;
    cluster_.DeletePod(pod, grace_seconds, std::move(done));
  }

 private:
  Client target() override { return cluster_; }
  bool Refuses(Status status, const StatusCallback& done) {
    if (status.ok()) return false;
    if (done) answers_.emplace_back([done, status = std::move(status)] { done(status); });
    return true;
  }

  EmbeddedCluster& cluster_;
  WatchSink* pods_ = nullptr;
  std::vector<std::function<void()>> answers_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_INTERCEPTING_CLIENT_H_

// The base class of clients of tests that change a few methods of another client.
#ifndef BERTH_TESTS_HARNESS_FORWARDING_CLIENT_H_
#define BERTH_TESTS_HARNESS_FORWARDING_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/cluster/client.h"

namespace berth::host {

// Passes every call on to target(). Subclasses override the methods that they change.
class ForwardingClient : public ObjectSource, public DecisionWriter {
 public:
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    return target().source.StartWatch(kind, sink);
  }
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override {
    target().writer.Bind(pod, node, std::move(done));
  }
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override {
    target().writer.PatchPodStatus(pod, patch, std::move(done));
  }
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override {
    target().writer.DeletePod(pod, grace_seconds, std::move(done));
  }
  void CreateEvent(Event event, StatusCallback done) override {
    target().writer.CreateEvent(std::move(event), std::move(done));
  }
  void Request(ApiRequest request, ResponseCallback answer) override {
    target().writer.Request(std::move(request), std::move(answer));
  }

 protected:
  // Returns the client that receives the call. Called: once for each call that is passed on.
  virtual Client target() = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_FORWARDING_CLIENT_H_

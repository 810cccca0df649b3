// The base class of clients that change a few methods of another client.
#ifndef BERTH_HOST_CLUSTER_FORWARDING_CLIENT_H_
#define BERTH_HOST_CLUSTER_FORWARDING_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/cluster/client.h"

namespace berth::host {

// Passes every call on to target(). Subclasses override the methods that they change.
class ForwardingClient : public Client {
 public:
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    return target().StartWatch(kind, sink);
  }
  void Bind(const PodName& pod, std::string_view node, StatusCallback done) override {
    target().Bind(pod, node, std::move(done));
  }
  void PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                      StatusCallback done) override {
    target().PatchPodStatus(pod, patch, std::move(done));
  }
  void DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                 StatusCallback done) override {
    target().DeletePod(pod, grace_seconds, std::move(done));
  }
  void CreateEvent(Event event, StatusCallback done) override {
    target().CreateEvent(std::move(event), std::move(done));
  }
  void GetLease(std::string_view ns, std::string_view name, ResultCallback<Lease> answer) override {
    target().GetLease(ns, name, std::move(answer));
  }
  void CreateLease(const Lease& lease, ResultCallback<Lease> answer) override {
    target().CreateLease(lease, std::move(answer));
  }
  void UpdateLease(const Lease& lease, ResultCallback<Lease> answer) override {
    target().UpdateLease(lease, std::move(answer));
  }
  void Request(ApiRequest request, ResponseCallback answer) override {
    target().Request(std::move(request), std::move(answer));
  }
  void Stop() override { target().Stop(); }

 protected:
  // Returns the client that receives the call. Called: once for each call that is passed on.
  virtual Client& target() = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_FORWARDING_CLIENT_H_

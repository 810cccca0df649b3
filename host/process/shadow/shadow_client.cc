#include "host/process/shadow/shadow_client.h"

#include <string>
#include <utility>

namespace berth::host {

// Receives the events of a watch of the cluster.
class ShadowClient::RoutedWatch final : public Watch, private WatchSink {
 public:
  RoutedWatch(const Receive& receive, WatchSink& sink)
      : receive_(receive), route_(std::make_shared<ShadowRoute>(ShadowRoute{&sink})) {}
  ~RoutedWatch() override { route_->sink = nullptr; }

  void Start(ObjectSource& source, std::string_view kind) {
    watch_ = source.StartWatch(kind, *this);
  }

 private:
  void OnEvents(std::span<WatchEvent> events) override {
    const std::shared_ptr<ShadowRoute> route = route_;  // The call may destroy this watch.
    receive_(route, events);
  }
  void OnWatchError(const Status& status) override {
    if (route_->sink != nullptr) route_->sink->OnWatchError(status);
  }

  const Receive& receive_;
  const std::shared_ptr<ShadowRoute> route_;
  std::unique_ptr<Watch> watch_;  // Destroyed first: no call follows.
};

ShadowClient::ShadowClient(Client cluster, Receive receive, std::function<void()> wake)
    : cluster_(cluster), receive_(std::move(receive)), wake_(std::move(wake)) {}

ShadowClient::~ShadowClient() = default;

std::unique_ptr<Watch> ShadowClient::StartWatch(std::string_view kind, WatchSink& sink) {
  auto watch = std::make_unique<RoutedWatch>(receive_, sink);
  watch->Start(cluster_.source, kind);
  return watch;
}

// ---- Requests -----------------------------------------------------------------------------------

void ShadowClient::Refuse(std::string_view what, std::function<void(Status)> answer) {
  bool is_first = false;
  {
    const std::scoped_lock lock(mutex_);
    ++refused_;
    if (!answer) return;
    is_first = refusals_.empty();
    refusals_.emplace_back([answer = std::move(answer), what = std::string(what)] {
      answer(Status::Unsupported("shadow mode writes nothing to the cluster: " + what +
                                 " was refused"));
    });
  }
  if (is_first && wake_) wake_();
}

size_t ShadowClient::Deliver() {
  std::vector<std::function<void()>> refusals;
  {
    const std::scoped_lock lock(mutex_);
    refusals.swap(refusals_);
  }
  for (const auto& refusal : refusals) refusal();
  return refusals.size();
}

size_t ShadowClient::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

void ShadowClient::Bind(const PodName& /*pod*/, std::string_view /*node*/, StatusCallback done) {
  Refuse("a binding", std::move(done));
}

void ShadowClient::PatchPodStatus(const PodName& /*pod*/, const PodStatusPatch& /*patch*/,
                                  StatusCallback done) {
  Refuse("a change of the status of a pod", std::move(done));
}

void ShadowClient::DeletePod(const PodName& /*pod*/, std::optional<int64_t> /*grace_seconds*/,
                             StatusCallback done) {
  Refuse("the deletion of a pod", std::move(done));
}

void ShadowClient::CreateEvent(Event /*event*/, StatusCallback done) {
  Refuse("an event", std::move(done));
}

void ShadowClient::Request(ApiRequest request, ResponseCallback answer) {
  if (request.verb == "GET") return cluster_.writer.Request(std::move(request), std::move(answer));
  const std::string what = request.verb + " " + request.path;
  if (!answer) return Refuse(what, {});
  Refuse(what, [answer = std::move(answer)](Status status) {
    answer(ApiResponse::None(std::move(status)));
  });
}

}  // namespace berth::host

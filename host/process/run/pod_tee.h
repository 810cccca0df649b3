// Gives the events of pods to a second receiver.
#ifndef BERTH_HOST_PROCESS_RUN_POD_TEE_H_
#define BERTH_HOST_PROCESS_RUN_POD_TEE_H_

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/cluster/client.h"

namespace berth::host {

// Watches another source. The events of each watch of pods are also delivered to `observer`, after
// the sink of the watch. A second watch would make the API server send every pod twice.
//
// Threading: as the other source. The observer is called on the thread of the watch.
// Lifetime:  the source and the observer must outlive it and its watches.
class PodTee final : public ObjectSource {
 public:
  PodTee(ObjectSource& source, WatchSink& observer) : source_(source), observer_(observer) {}

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    if (kind != kPodKind) return source_.StartWatch(kind, sink);
    auto both = std::make_unique<BothSinks>(sink, observer_);
    both->Start(source_);
    return both;
  }

 private:
  // A watch whose events two sinks receive.
  class BothSinks final : public Watch, private WatchSink {
   public:
    BothSinks(WatchSink& first, WatchSink& second) : first_(first), second_(second) {}

    void Start(ObjectSource& source) { watch_ = source.StartWatch(kPodKind, *this); }

   private:
    // The first sink may move from the events, and may end the watch.
    void OnEvents(std::span<WatchEvent> events) override {
      std::vector<WatchEvent> copy(events.begin(), events.end());
      WatchSink& second = second_;
      first_.OnEvents(events);
      second.OnEvents(copy);
    }
    void OnWatchError(const Status& status) override { first_.OnWatchError(status); }

    WatchSink& first_;
    WatchSink& second_;
    std::unique_ptr<Watch> watch_;
  };

  ObjectSource& source_;
  WatchSink& observer_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_RUN_POD_TEE_H_

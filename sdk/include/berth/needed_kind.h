// NeededKind: tells the host when a decision needs the objects of a kind that the plugin watches.
#ifndef BERTH_NEEDED_KIND_H_
#define BERTH_NEEDED_KIND_H_

#include <cstdint>
#include <string_view>

#include <berth/abi.h>
#include <berth/host.h>
#include <berth/services.h>

namespace berth {

// `berth simulate`, `explain` and `replay` name the kinds that a decision needed and that the files
// of their cluster lack. The host sees what a plugin looks up, but not what it reads of an index
// that it keeps by Objects::Watch(). It therefore names every kind that a plugin watches and never
// looks up. A plugin with an index has one NeededKind for each kind that it watches, and calls
// Note() in each cycle. The service gets at most two calls from one NeededKind.
class NeededKind {
 public:
  // `kind` must be a constant, and one of those that kKinds names.
  NeededKind(Host host, std::string_view kind) : host_(host), kind_(kind) {}

  // Returns whether Note(true) has still an effect: a plugin need not find out more if it is false.
  bool is_open() const { return state_ != kNeeded; }
  // States whether the decision in progress depends on the objects of the kind: whether it could be
  // another one if the cluster had other objects of the kind.
  // Threading: [event] [queue] [cycle].
  void Note(bool is_needed) {
    if (state_ >= (is_needed ? kNeeded : kSeen)) return;
    state_ = is_needed ? kNeeded : kSeen;
    const Objects objects = host_.objects();
    if (is_needed) {
      static_cast<void>(objects.List(kind_, {}, [](const berth_object&) { return false; }));
    } else {
      // No object has an empty name: the host takes it as a look-up that needs nothing.
      const berth_object* none = nullptr;
      static_cast<void>(objects.LookUp(kind_, {}, {}, &none));
    }
  }

 private:
  enum State : uint8_t { kUnknown, kSeen, kNeeded };

  Host host_;
  std::string_view kind_;
  State state_ = kUnknown;
};

}  // namespace berth

#endif  // BERTH_NEEDED_KIND_H_

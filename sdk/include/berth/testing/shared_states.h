// The service berth.shared/1 of the fake host: objects that all instances of a library share.
#ifndef BERTH_TESTING_SHARED_STATES_H_
#define BERTH_TESTING_SHARED_STATES_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <berth/abi.h>

namespace berth::testing {

// The objects of a library. Each PluginUnderTest has its own, as if it were the only instance of a
// host; tests give the same to those that share: see Scenario::shared.
class SharedObjects {
 private:
  friend class SharedStates;
  using Destroy = void (*)(void* object) noexcept;
  struct Object {
    void* object = nullptr;
    Destroy destroy = nullptr;
    int holders = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Object> objects_;
};

// The shared objects that one instance holds. An object is destroyed with the last instance that
// holds it, as in the host.
// Threading: any.
class SharedStates {
 public:
  SharedStates() = default;
  ~SharedStates() { Release(); }
  SharedStates(const SharedStates&) = delete;
  SharedStates& operator=(const SharedStates&) = delete;

  // Called: before create().
  void set_objects(std::shared_ptr<SharedObjects> objects) { objects_ = std::move(objects); }
  // Ends every hold, and destroys the objects that no other instance holds.
  // Called: after destroy().
  void Release();

  static const berth_shared kService;

 private:
  using Destroy = SharedObjects::Destroy;

  static berth_code Find(const berth_host* host, berth_str key, Destroy destroy,
                         void** object) noexcept;
  static berth_code Add(const berth_host* host, berth_str key, void* object,
                        Destroy destroy) noexcept;

  // REQUIRES: the mutex of the objects is held.
  void Hold(SharedObjects::Object& object, std::string key) {
    if (held_.insert(std::move(key)).second) ++object.holders;
  }

  std::shared_ptr<SharedObjects> objects_ = std::make_shared<SharedObjects>();
  std::set<std::string> held_;  // keys
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SHARED_STATES_H_

// The service berth.shared/1 of the fake host: objects that all instances of a library share.
#ifndef BERTH_TESTING_SHARED_STATES_H_
#define BERTH_TESTING_SHARED_STATES_H_

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <berth/abi.h>

namespace berth::testing {

// The shared objects that one instance holds. All instances of one library in the process share
// their objects, as in the host: an object is destroyed with the last of them.
// Threading: any.
class SharedStates {
 public:
  SharedStates() = default;
  ~SharedStates() { Release(); }
  SharedStates(const SharedStates&) = delete;
  SharedStates& operator=(const SharedStates&) = delete;

  // Called: before create().
  void set_library(const berth_entry* entry) { entry_ = entry; }
  // Ends every hold, and destroys the objects that no other instance holds.
  // Called: after destroy().
  void Release();

  static const berth_shared kService;

 private:
  using Destroy = void (*)(void* object) noexcept;
  struct Object {
    void* object = nullptr;
    Destroy destroy = nullptr;
    int holders = 0;
  };
  struct Registry {
    std::mutex mutex;
    std::map<std::pair<const berth_entry*, std::string>, Object> objects;
  };

  // It is never destroyed, because a PluginUnderTest may be static.
  static Registry& Objects();

  static berth_code Find(const berth_host* host, berth_str key, Destroy destroy,
                         void** object) noexcept;
  static berth_code Add(const berth_host* host, berth_str key, void* object,
                        Destroy destroy) noexcept;

  // REQUIRES: the mutex of the registry is held.
  void Hold(Object& object, std::string key) {
    if (held_.insert(std::move(key)).second) ++object.holders;
  }

  const berth_entry* entry_ = nullptr;
  std::set<std::string> held_;  // keys
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SHARED_STATES_H_

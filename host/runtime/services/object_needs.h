// Records which kinds of objects plugins need for decisions.
#ifndef BERTH_HOST_RUNTIME_SERVICES_OBJECT_NEEDS_H_
#define BERTH_HOST_RUNTIME_SERVICES_OBJECT_NEEDS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace berth::host {

// A command whose cluster comes from files names the kinds that a decision needed and that the
// files lack. Only the plugins know what they need, and what they look up in berth.objects/1 shows
// it: a plugin that looks up an object of a kind, or lists the kind, needs the kind. The host does
// not see reads of an index that a plugin keeps by a watch. Such a plugin looks the kind up as well
// when it needs it (berth::NeededKind), and must be assumed to need it if it never looks it up.
//
// Threading: the scheduling thread.
class ObjectNeeds {
 public:
  // What one plugin did with one kind.
  struct Use {
    bool watches = false;
    bool looks_up = false;  // It has looked the kind up, needed or not.
    bool needs = false;
    std::string pod = {};  // The first pod whose decision needed the kind; empty if none did.
  };
  template <class T>
  using ByName = std::map<std::string, T, std::less<>>;

  void OnWatch(std::string_view kind, std::string_view plugin) {
    UseOf(kind, plugin).watches = true;
  }
  // `is_need`: false for a look-up that can find nothing, which only shows that the plugin looks
  // the kind up when it needs it. Returns the use, in which the caller may set the pod.
  Use& OnLookUp(std::string_view kind, std::string_view plugin, bool is_need) {
    Use& use = UseOf(kind, plugin);
    use.looks_up = true;
    use.needs |= is_need;
    return use;
  }

  // The uses by kind, as the plugins declare it, and by plugin.
  const ByName<ByName<Use>>& uses() const { return uses_; }

 private:
  template <class T>
  static T& EntryOf(ByName<T>& map, std::string_view name) {
    const auto found = map.find(name);
    return found != map.end() ? found->second : map[std::string(name)];
  }
  Use& UseOf(std::string_view kind, std::string_view plugin) {
    return EntryOf(EntryOf(uses_, kind), plugin);
  }

  ByName<ByName<Use>> uses_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_OBJECT_NEEDS_H_

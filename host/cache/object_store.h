// Objects of the kinds that no view covers, as the cluster last said they are.
#ifndef BERTH_HOST_CACHE_OBJECT_STORE_H_
#define BERTH_HOST_CACHE_OBJECT_STORE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "host/api/objects.h"

namespace berth::host {

// By kind ("v1/PersistentVolumeClaim"), then by namespace and name.
// Threading: the scheduling thread.
class ObjectStore {
 public:
  // Adds the object, or replaces the one of that kind, namespace and name.
  void Set(ObjectRef object);
  void Remove(std::string_view kind, std::string_view ns, std::string_view name);
  // Null when there is none.
  ObjectRef Get(std::string_view kind, std::string_view ns, std::string_view name) const;
  // Calls `each` by namespace and name until it returns false. An empty `ns` means all of them.
  void List(std::string_view kind, std::string_view ns,
            const std::function<bool(const ObjectRef&)>& each) const;
  size_t size() const;

 private:
  using Key = std::pair<std::string, std::string>;
  using Objects = std::map<Key, ObjectRef>;

  std::map<std::string, Objects, std::less<>> kinds_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_OBJECT_STORE_H_

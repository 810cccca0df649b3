// Builds what a plugin receives from what a test specifies: the ABI's views of pods, nodes and
// other objects.
#ifndef BERTH_TESTING_VIEWS_H_
#define BERTH_TESTING_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/node_spec.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/values.h>

namespace berth::testing {

namespace internal {

// Owns the memory that a view points to. Every array has its own allocation of the exact size, so
// that a sanitizer detects reads past its end. Holds the ids in the view.
//
// Lifetime: the table of the ids must outlive it.
class ViewMemory {
 public:
  // `ids`: NULL if the view has no ids of its own.
  explicit ViewMemory(Ids* ids = nullptr) : ids_(ids) {}
  ~ViewMemory() {
    if (ids_ != nullptr) ids_->Release(uses_);
  }
  ViewMemory(const ViewMemory&) = delete;
  ViewMemory& operator=(const ViewMemory&) = delete;

  // REQUIRES: the view has ids of its own.
  const Ids& ids() const { return *ids_; }
  berth_id Intern(std::string_view text) { return uses_.emplace_back(ids_->Intern(text)); }
  template <class T>
  T* Copy(const T* items, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t size = count * sizeof(T);  // NOLINT(bugprone-sizeof-expression): pointers, too
    pieces_.push_back(std::make_unique<std::byte[]>(size));
    auto* at = reinterpret_cast<T*>(pieces_.back().get());
    if (count != 0) std::memcpy(static_cast<void*>(at), items, size);
    return at;
  }
  template <class T>
  const T* One(const T& item) {
    return Copy(&item, 1);
  }
  template <class T>
  berth_array Array(const std::vector<T>& items) {
    if (items.empty()) return {nullptr, 0, sizeof(T)};
    return {Copy(items.data(), items.size()), static_cast<uint32_t>(items.size()), sizeof(T)};
  }
  const berth_value* Value(ValueSpec value);
  berth_str Text(std::string_view text);

 private:
  std::vector<std::unique_ptr<std::byte[]>> pieces_;
  std::vector<std::unique_ptr<ValueSpec>> values_;
  Ids* const ids_;
  std::vector<berth_id> uses_;
};

}  // namespace internal

// A view and everything that it points to. Copies share one immutable object. Its ids belong to the
// table that it was built with, which must outlive it.
template <class View, class Spec>
class Handle {
 public:
  Handle(Spec spec, Ids& ids);

  // Returns the handle of a view that exists; std::nullopt for anything else, such as a copy.
  static std::optional<Handle> Find(const View* view, Ids& ids);

  const View* get() const { return &object_->view; }
  const View& operator*() const { return object_->view; }
  const View* operator->() const { return &object_->view; }
  const Spec& spec() const { return object_->spec; }
  const std::string& name() const { return object_->spec.name; }
  // Returns a number that no other object of the same Ids has.
  uint64_t version() const { return object_->version; }

 private:
  struct Object {
    Object(Spec given, Ids& table);
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    ~Object() { ids.views().Remove(&view); }
    Spec spec;
    Ids& ids;
    internal::ViewMemory memory;
    View view;
    uint64_t version;
  };

  explicit Handle(std::shared_ptr<const Object> object) : object_(std::move(object)) {}

  std::shared_ptr<const Object> object_;
};

using PodHandle = Handle<berth_pod, PodSpec>;
using NodeHandle = Handle<berth_node, NodeSpec>;
using ObjectHandle = Handle<berth_object, ObjectSpec>;

}  // namespace berth::testing

#endif  // BERTH_TESTING_VIEWS_H_

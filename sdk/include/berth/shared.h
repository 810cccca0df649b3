// Shared states: objects that the instances of one library share.
#ifndef BERTH_SHARED_H_
#define BERTH_SHARED_H_

#include <memory>
#include <string_view>

#include <berth/abi.h>
#include <berth/internal/services.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// The objects that the instances of this library share: those of other plugins and profiles, and an
// old instance and the one that replaces it at a reload.
//
// Threading: [load]: the constructor, Validate and Restore. The object itself is the plugin's own:
//            calls on the scheduling thread do not overlap, but what [block], [bind] and threads of
//            the plugin also use needs a lock.
// Lifetime:  an object lives until every instance that got it is destroyed; then the host destroys
//            it. A library with other content has objects of its own.
class Shared {
 public:
  explicit Shared(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->shared); }

  // Returns the object of this key, which the first caller makes: T(), or what `make()` returns.
  // Throws an Error if the object of this key is of another type, and outside of [load].
  // Must not: `make` and the destructor of T use the host.
  template <class T>
  T& Get(std::string_view key) const {
    return Get<T>(key, [] { return std::make_unique<T>(); });
  }
  template <class T, class Make>
  T& Get(std::string_view key, Make make) const {
    void* object = nullptr;
    const berth_code found =
        services_->shared->find(services_->host, Str(key), &Destroy<T>, &object);
    if (found == BERTH_SUCCESS) return *static_cast<T*>(object);
    if (found != BERTH_NOT_FOUND) Refuse(found);
    std::unique_ptr<T> made = make();
    const berth_code added =
        services_->shared->add(services_->host, Str(key), made.get(), &Destroy<T>);
    if (added != BERTH_SUCCESS) Refuse(added);
    return *made.release();
  }

 private:
  // Its address tells types apart.
  template <class T>
  static void Destroy(void* object) noexcept {
    delete static_cast<T*>(object);
  }
  [[noreturn]] static void Refuse(berth_code code) {
    internal::Fail(code == BERTH_BAD_ARGUMENT
                       ? "a shared state needs a key, and the type of the state with this key"
                       : "shared states are only available under [load]");
  }

  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_SHARED_H_

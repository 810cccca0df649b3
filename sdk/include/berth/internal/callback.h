// C callbacks that call a C++ callable. Exceptions do not pass through the host's frames.
#ifndef BERTH_INTERNAL_CALLBACK_H_
#define BERTH_INTERNAL_CALLBACK_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <berth/abi.h>
#include <berth/api_result.h>
#include <berth/http_result.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/span.h>
#include <berth/status.h>
#include <berth/value.h>

namespace berth {
namespace internal {

// For the host's `int32_t (*each)(void* to, const T*)`, which is called within the call that it was
// passed to. An exception of the callable stops the iteration; Rethrow() throws it again
// afterwards.
template <class F, class T>
class EachCall {
 public:
  explicit EachCall(F& each) : each_(each) {}

  static int32_t Call(void* to, const T* item) noexcept {
    EachCall& self = *static_cast<EachCall*>(to);
#if defined(__cpp_exceptions)
    try {
      return self.Each(*item);
    } catch (...) {
      self.error_ = std::current_exception();
      return 0;
    }
#else
    return self.Each(*item);
#endif
  }
  void Rethrow() {
#if defined(__cpp_exceptions)
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
#endif
  }

 private:
  int32_t Each(const T& item) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const T&>>) {
      each_(item);
      return 1;
    } else {
      return each_(item) ? 1 : 0;
    }
  }

  F& each_;
#if defined(__cpp_exceptions)
  std::exception_ptr error_;
#endif
};

// For the host's `int32_t (*each)(void* to, const T*, berth_str name)`: calls the callable with the
// item and the name.
template <class F, class T>
class EachNamedCall {
 public:
  explicit EachNamedCall(F& each) : each_(each), call_(pass_) {}
  EachNamedCall(const EachNamedCall&) = delete;
  EachNamedCall& operator=(const EachNamedCall&) = delete;

  static int32_t Call(void* to, const T* item, berth_str name) noexcept {
    EachNamedCall& self = *static_cast<EachNamedCall*>(to);
    self.pass_.name = Str(name);
    return EachCall<Pass, T>::Call(&self.call_, item);
  }
  void Rethrow() { call_.Rethrow(); }

 private:
  struct Pass {
    F& each;
    std::string_view name;

    decltype(auto) operator()(const T& item) { return each(item, name); }
  };

  F& each_;
  Pass pass_{each_, {}};
  EachCall<Pass, T> call_;
};

// For callbacks that run later, on the scheduling thread, and call a method of the plugin.
template <auto kMethod, class T>
class MethodCall final : public Kept {
 public:
  MethodCall(const Services& services, T* to) : services_(services), to_(to) {}

  static void Changed(void* to, const berth_object_change* change) noexcept {
    MethodCall& self = *static_cast<MethodCall*>(to);
    GuardVoid(self.services_, "a watch", [&] { (self.to_->*kMethod)(*change); });
  }

 private:
  const Services& services_;
  T* to_;
};

// For a callback that is called exactly once, later. The instance owns it until then.
template <class F>
class OnceCall final : public Kept {
 public:
  OnceCall(const Services& services, F call) : services_(services), call_(std::move(call)) {}

  // Passes a callback to the host: `send(void* to)` returns the host's code and must not throw. The
  // host may call the callback on another thread before `send` returns.
  template <class Send>
  static Status Pass(const Services& services, F call, Send&& send) {
    auto owned = std::make_unique<OnceCall>(services, std::move(call));
    OnceCall* const to = owned.get();
    const PendingCalls::Place place = services.pending.Add(std::move(owned));
    to->place_ = place;
    const Status status(send(to));
    if (!status.ok()) services.pending.Take(place);
    return status;
  }
  static void Answer(void* to, const berth_api_result* result) noexcept {
    OnceCall& self = *static_cast<OnceCall*>(to);
    const std::unique_ptr<Kept> owned = self.services_.pending.Take(self.place_);
    GuardVoid(self.services_, "an answer of the API server",
              [&] { self.call_(ApiResult(*result)); });
  }
  static void HttpAnswer(void* to, const berth_http_result* result) noexcept {
    OnceCall& self = *static_cast<OnceCall*>(to);
    const std::unique_ptr<Kept> owned = self.services_.pending.Take(self.place_);
    GuardVoid(self.services_, "the end of an HTTP request",
              [&] { self.call_(HttpResult(*result)); });
  }
  static void Run(void* to, berth_code code) noexcept {
    OnceCall& self = *static_cast<OnceCall*>(to);
    const std::unique_ptr<Kept> owned = self.services_.pending.Take(self.place_);
    GuardVoid(self.services_, "a posted function", [&] {
      if constexpr (std::is_invocable_v<F&, berth_code>) {
        self.call_(code);
      } else if (code == BERTH_SUCCESS) {
        self.call_();
      }
    });
  }

 private:
  const Services& services_;
  F call_;
  PendingCalls::Place place_;
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_INTERNAL_CALLBACK_H_

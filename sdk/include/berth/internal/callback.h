// C callbacks that call a C++ callable. Exceptions do not pass through the host's frames.
#ifndef BERTH_INTERNAL_CALLBACK_H_
#define BERTH_INTERNAL_CALLBACK_H_

#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include <berth/abi.h>
#include <berth/internal/guard.h>
#include <berth/internal/services.h>
#include <berth/span.h>

namespace berth::internal {

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

// For an answer that arrives exactly once, later. It deletes itself.
template <class F>
class AnswerCall {
 public:
  AnswerCall(const Services& services, F answer)
      : services_(services), answer_(std::move(answer)) {}

  static void Answer(void* to, berth_code code, berth_str body) noexcept {
    AnswerCall* self = static_cast<AnswerCall*>(to);
    GuardVoid(self->services_, "an answer of the API server",
              [&] { self->answer_(code, Str(body)); });
    delete self;
  }

 private:
  const Services& services_;
  F answer_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_CALLBACK_H_

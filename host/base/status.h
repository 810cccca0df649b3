// Errors as values. A function that can fail for a reason outside this process returns a Status, or
// a Result<T> if it also returns a value.
#ifndef BERTH_HOST_BASE_STATUS_H_
#define BERTH_HOST_BASE_STATUS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "host/base/assert.h"

namespace berth::host {

// Errors that callers handle differently have different codes. The message gives the details.
enum class ErrorCode : uint8_t {
  kOk = 0,
  kInvalidArgument,   // The input is malformed; a retry cannot succeed.
  kNotFound,          // The named object does not exist.
  kAlreadyExists,     // The object to create already exists.
  kConflict,          // The object was changed concurrently: read it again, then retry.
  kOutOfRange,        // The input is well-formed, but exceeds a limit.
  kUnsupported,       // The input is well-formed, but Berth does not support it.
  kPermissionDenied,  // The remote side denied the operation.
  kUnavailable,       // The remote side is unreachable or overloaded: retry later.
  kInternal,          // A defect in the host or in a plugin.
};

// Returns the name of a code, such as "NotFound", for messages and logs.
constexpr std::string_view ErrorCodeName(ErrorCode code) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Ok", "InvalidArgument", "NotFound", "AlreadyExists", "Conflict", "OutOfRange",
       "Unsupported", "PermissionDenied", "Unavailable", "Internal"});
  static_assert(kNames.size() == static_cast<size_t>(ErrorCode::kInternal) + 1);
  const auto i = static_cast<size_t>(code);
  return i < kNames.size() ? kNames[i] : "Unknown";
}

// Success, or an error code and a message for the user. A Status has the size of one pointer, which
// is null for success.
// Threading: a value type; distinct objects may be used on distinct threads.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // REQUIRES: `code` is not kOk.
  Status(ErrorCode code, std::string message)
      : error_(std::make_unique<Error>(Error{code, std::move(message)})) {
    BERTH_ASSERT(code != ErrorCode::kOk);
  }

  Status(const Status& other)
      : error_(other.error_ ? std::make_unique<Error>(*other.error_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status Ok() { return {}; }
  static Status InvalidArgument(std::string message) {
    return {ErrorCode::kInvalidArgument, std::move(message)};
  }
  static Status NotFound(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }
  static Status AlreadyExists(std::string message) {
    return {ErrorCode::kAlreadyExists, std::move(message)};
  }
  static Status Conflict(std::string message) { return {ErrorCode::kConflict, std::move(message)}; }
  static Status OutOfRange(std::string message) {
    return {ErrorCode::kOutOfRange, std::move(message)};
  }
  static Status Unsupported(std::string message) {
    return {ErrorCode::kUnsupported, std::move(message)};
  }
  static Status PermissionDenied(std::string message) {
    return {ErrorCode::kPermissionDenied, std::move(message)};
  }
  static Status Unavailable(std::string message) {
    return {ErrorCode::kUnavailable, std::move(message)};
  }
  static Status Internal(std::string message) { return {ErrorCode::kInternal, std::move(message)}; }

  bool ok() const { return error_ == nullptr; }
  ErrorCode code() const { return error_ ? error_->code : ErrorCode::kOk; }
  // Returns the message, which is empty for success.
  // Lifetime: until this object is assigned to, moved from or destroyed.
  std::string_view message() const {
    return error_ ? std::string_view(error_->message) : std::string_view();
  }

  // Returns the same error with "context: " in front of its message; returns success unchanged.
  Status Annotate(std::string_view context) const& { return Status(*this).Annotate(context); }
  Status Annotate(std::string_view context) && {
    if (error_) error_->message.insert(0, std::string(context).append(": "));
    return std::move(*this);
  }

  // Returns the code and the message, such as "NotFound: message"; "Ok" for success.
  std::string ToString() const {
    std::string text(ErrorCodeName(code()));
    if (error_) text.append(": ").append(error_->message);
    return text;
  }

  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }

 private:
  struct Error {
    ErrorCode code;
    std::string message;
  };
  std::unique_ptr<Error> error_;
};

// A T, or the error that explains why there is no T. Both convert to a Result implicitly, so that a
// function can return either.
// Must not: be read with value(), * or -> when it holds an error; an assertion fails.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<std::remove_cvref_t<T>, Status>,
                "T is Status: return the Status itself");
  static_assert(!std::is_reference_v<T>, "T is a reference: return a pointer or a span");

 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}
  // REQUIRES: `status` is an error.
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {
    BERTH_ASSERT(!std::get_if<0>(&state_)->ok());
  }

  bool ok() const { return state_.index() == 1; }
  // Returns the error; success if the result holds a value.
  Status status() const& { return ok() ? Status() : *std::get_if<0>(&state_); }
  Status status() && { return ok() ? Status() : std::move(*std::get_if<0>(&state_)); }

  T& value() & { return *Checked(); }
  const T& value() const& { return *Checked(); }
  T&& value() && { return std::move(*Checked()); }

  T& operator*() & { return *Checked(); }
  const T& operator*() const& { return *Checked(); }
  T&& operator*() && { return std::move(*Checked()); }
  T* operator->() { return Checked(); }
  const T* operator->() const { return Checked(); }

 private:
  const T* Checked() const {
    const T* value = std::get_if<1>(&state_);
    if (value == nullptr) [[unlikely]]
      FailNoValue();
    return value;
  }
  T* Checked() { return const_cast<T*>(std::as_const(*this).Checked()); }
  [[noreturn]] __attribute__((cold, noinline)) void FailNoValue() const {
    AssertFailed(__FILE__, __LINE__, "Result::ok()", "%s",
                 std::get_if<0>(&state_)->ToString().c_str());
  }

  std::variant<Status, T> state_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_STATUS_H_

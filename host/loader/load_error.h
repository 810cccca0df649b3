// Why a library, a plugin in it, or an instance of that plugin was refused. Every refusal has a
// code of its own, and says which file, which plugin, what was expected and what was found.
#ifndef BERTH_HOST_LOADER_LOAD_ERROR_H_
#define BERTH_HOST_LOADER_LOAD_ERROR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "host/base/assert.h"
#include "host/base/status.h"
#include "host/base/status_sink.h"

namespace berth::host {

// In the order in which they are looked for. Up to kDlopenFailed no code of the library has run.
enum class LoadErrorCode : uint8_t {
  // The file.
  kNotFound,
  kNotARegularFile,
  kWrongOwner,        // The file or a directory above it belongs to another than root or us.
  kWritableByOthers,  // The file or a directory above it can be changed by its group or by all.
  kUnreadable,
  kTooLarge,
  kPinMismatch,  // Its sha256 is not the one that the configuration pins.
  // What it says of itself.
  kNotElf,
  kWrongMachine,
  kNotSharedObject,
  kBadElf,  // An ELF file that contradicts itself or ends too early.
  kNoNote,
  kBadNote,
  kAbiMajor,
  kHostTooOld,  // Its min_host_minor is above ours.
  kSanitizerRuntime,
  kOriginRunPath,
  kRelativeRunPath,
  kExports,  // Not exactly the entry.
  // Loading it.
  kCopyFailed,  // The private copy could not be made.
  kDlopenFailed,
  kEntryMagic,
  kEntrySize,
  kEntryFunction,  // A function of the entry is missing, or lies in another library.
  kBadInfo,        // A berth_plugin_info lacks something.
  kNoteDiffersFromEntry,
  kUnknownPoint,
  // Choosing a plugin.
  kDuplicatePlugin,
  kUnknownPlugin,
  // Making an instance.
  kMissingService,
  kInitFailed,
  kBadArguments,
  kCreateFailed,
  kBadInstance,   // The berth_plugin lacks something.
  kMissingPoint,  // Declared, but get_point gives NULL.
  kBadPoint,      // The struct of an extension point lacks something.
  kUnknownColumn,
  kColumnType,
  kBadSlot,
  kTooManyReasons,
};
inline constexpr uint8_t kLoadErrorCodes = static_cast<uint8_t>(LoadErrorCode::kTooManyReasons) + 1;

// "writable-by-others" and the like: stable, for scripts, metrics and documentation.
std::string_view LoadErrorName(LoadErrorCode code);

struct LoadError {
  LoadErrorCode code = LoadErrorCode::kNotFound;
  std::string path;      // The library, as the caller named it; empty when no file is involved.
  std::string plugin;    // Empty when the whole library is refused.
  std::string expected;  // "a file of at most 1048576 bytes"
  std::string found;     // "more"
  std::vector<ArgumentError> argument_errors;  // Of kBadArguments.

  // `path: plugin "name": expected ..., found ... [code]`, in one line.
  std::string ToString() const;
  // The same as a Status, for a caller that only reports it.
  Status ToStatus() const;
};

// A T, or the LoadError that says why there is none: Result<T> with a structured error.
// Must not: value(), * and -> on an error, or error() on a value; this is an assertion.
template <class T>
class [[nodiscard]] LoadResult {
  static_assert(!std::is_reference_v<T>, "borrow with a pointer or a span");

 public:
  LoadResult(T value) : state_(std::in_place_index<1>, std::move(value)) {}
  LoadResult(LoadError error) : state_(std::in_place_index<0>, std::move(error)) {}

  bool ok() const { return state_.index() == 1; }
  const LoadError& error() const& {
    BERTH_ASSERT(!ok());
    return *std::get_if<0>(&state_);
  }
  LoadError&& error() && {
    BERTH_ASSERT(!ok());
    return std::move(*std::get_if<0>(&state_));
  }

  T& value() & { return *Checked(this); }
  const T& value() const& { return *Checked(this); }
  T&& value() && { return std::move(*Checked(this)); }
  T& operator*() & { return *Checked(this); }
  const T& operator*() const& { return *Checked(this); }
  T&& operator*() && { return std::move(*Checked(this)); }
  T* operator->() { return Checked(this); }
  const T* operator->() const { return Checked(this); }

 private:
  template <class Self>
  static auto Checked(Self* self) {
    auto* value = std::get_if<1>(&self->state_);
    BERTH_ASSERT_MSG(value != nullptr, "%s", std::get_if<0>(&self->state_)->ToString().c_str());
    return value;
  }

  std::variant<LoadError, T> state_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_LOAD_ERROR_H_

// The error for a library, a plugin in it, or a plugin instance that was rejected. Every cause has
// its own code, and the error names the file, the plugin, what was expected and what was found.
#ifndef BERTH_HOST_LOADER_LOAD_ERROR_H_
#define BERTH_HOST_LOADER_LOAD_ERROR_H_

#include <cstdint>
#include <optional>
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

// Codes are in the order in which the causes are checked. Errors up to kDlopenFailed are found
// before any code of the library has run in this process. For kProbeFailed, it ran in a child.
enum class LoadErrorCode : uint8_t {
  // Errors of the file.
  kNotFound,
  kNotARegularFile,
  kWrongOwner,        // The owner of the file or of a directory above it is not trusted.
  kWritableByOthers,  // The file or a directory above it is writable by its group or by others.
  kUnreadable,
  kTooLarge,
  kPinMismatch,  // The sha256 differs from the one in the configuration.
  // Errors of the ELF file and its note.
  kNotElf,
  kWrongMachine,
  kNotSharedObject,
  kBadElf,  // An inconsistent or truncated ELF file.
  kNoNote,
  kBadNote,
  kAbiMajor,
  kHostTooOld,       // The plugin's min_host_minor is above this host's ABI minor version.
  kOtherLibc,        // The library is linked against another C library than glibc.
  kExecutableStack,  // The library requests an executable stack.
  kSanitizerRuntime,
  kRunPathToken,  // A run path contains $LIB or $PLATFORM, or $ORIGIN that cannot be replaced.
  kRelativeRunPath,
  kExports,  // The exported symbols are not exactly the entry.
  // Errors while loading.
  kCopyFailed,       // The private copy could not be made.
  kLibraryConflict,  // A library beside the plugin needs one whose name another library has.
  kProbeFailed,  // The library ends the process in which it is loaded, or does not finish loading.
  kDlopenFailed,
  kEntryMagic,
  kEntrySize,
  kAbiDraft,       // The plugin was built with another draft of <berth/abi.h>.
  kEntryFunction,  // A function of the entry is missing, or belongs to another library.
  kBadInfo,        // A berth_plugin_info lacks a required member, or has an unknown flag.
  kBadKind,        // A berth_plugin_info declares a kind that berth.objects/1 does not serve.
  kNoteDiffersFromEntry,
  kUnknownPoint,
  // Errors when choosing a plugin.
  kDuplicatePlugin,
  kUnknownPlugin,
  // Errors when creating an instance.
  kMissingService,
  kInitFailed,
  kBadArguments,
  kCreateFailed,
  kBadInstance,   // The berth_plugin lacks a required member, or has an unknown flag.
  kMissingPoint,  // The point is declared, but get_point returns NULL.
  kBadPoint,  // The struct of an extension point lacks a required member, or has an unknown flag.
  kUnknownColumn,
  kColumnType,
  kBadSlot,
  kTooManyReasons,
};
inline constexpr uint8_t kLoadErrorCodes = static_cast<uint8_t>(LoadErrorCode::kTooManyReasons) + 1;

// Returns the name of the code, such as "writable-by-others". Names are stable, for scripts,
// metrics and documentation.
std::string_view LoadErrorName(LoadErrorCode code);

struct LoadError {
  LoadErrorCode code = LoadErrorCode::kNotFound;
  std::string path = {};    // The library, as named by the caller; empty if no file is involved.
  std::string plugin = {};  // Empty if the whole library is rejected.
  // For example "a file of at most 1048576 bytes". Empty if `found` is a complete sentence.
  std::string expected = {};
  std::string found = {};                           // For example "a larger file".
  std::vector<ArgumentError> argument_errors = {};  // For kBadArguments.

  // Returns one line: `path: plugin "name": expected ..., found ... [code]`; without the words
  // `expected` and `found` if `expected` is empty.
  std::string ToString() const;
  // Returns a Status with ToString() as its message, for callers that only report the error.
  Status ToStatus() const;
};

// Returns an error that names no file yet, and no plugin if `plugin` is empty.
LoadError MakeLoadError(LoadErrorCode code, std::string expected, std::string found,
                        std::string plugin = {});

// Returns the error for a bit of `flags` that is not in `known`, the flags of this host: "expected
// slot 1 with flags within 0x3, found 0x4". `of` is what has the flags, or empty. Returns nothing
// if every bit is in `known`.
std::optional<LoadError> UnknownFlags(LoadErrorCode code, const std::string& of, uint32_t flags,
                                      uint32_t known);

// A T, or the LoadError that is the reason why there is none: a Result<T> with a structured error.
// Must not: call value(), * or -> on an error, or error() on a value; both fail an assertion.
template <class T>
class [[nodiscard]] LoadResult {
  static_assert(!std::is_reference_v<T>, "T is a reference: return a pointer or a span");

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

#include "host/loader/load_error.h"

#include <array>
#include <cstdio>

namespace berth::host {
namespace {

// The names of the codes, in their order.
constexpr auto kNames = std::to_array<std::string_view>(
    {"not-found",        "not-a-regular-file", "wrong-owner",      "writable-by-others",
     "unreadable",       "too-large",          "pin-mismatch",     "not-elf",
     "wrong-machine",    "not-shared-object",  "bad-elf",          "no-note",
     "bad-note",         "abi-major",          "host-too-old",     "other-libc",
     "executable-stack", "sanitizer-runtime",  "run-path-token",   "relative-run-path",
     "exports",          "copy-failed",        "library-conflict", "probe-failed",
     "dlopen-failed",    "entry-magic",        "entry-size",       "abi-draft",
     "entry-function",   "bad-info",           "bad-kind",         "note-differs-from-entry",
     "unknown-point",    "duplicate-plugin",   "unknown-plugin",   "missing-service",
     "init-failed",      "bad-arguments",      "create-failed",    "bad-instance",
     "missing-point",    "bad-point",          "unknown-column",   "column-type",
     "bad-slot",         "too-many-reasons"});
static_assert(kNames.size() == kLoadErrorCodes);

std::string Hex(uint32_t number) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "0x%x", number);
  return text.data();
}

}  // namespace

std::string_view LoadErrorName(LoadErrorCode code) {
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "unknown";
}

LoadError MakeLoadError(LoadErrorCode code, std::string expected, std::string found,
                        std::string plugin) {
  return {.code = code,
          .plugin = std::move(plugin),
          .expected = std::move(expected),
          .found = std::move(found)};
}

std::optional<LoadError> UnknownFlags(LoadErrorCode code, const std::string& of, uint32_t flags,
                                      uint32_t known) {
  if ((flags & ~known) == 0) return std::nullopt;
  std::string expected = of.empty() ? "" : of + " with ";
  expected.append(known == 0 ? "no flags" : "flags within " + Hex(known));
  return MakeLoadError(code, std::move(expected), Hex(flags));
}

std::string LoadError::ToString() const {
  std::string text;
  if (!path.empty()) text.append(path).append(": ");
  if (!plugin.empty()) text.append("plugin \"").append(plugin).append("\": ");
  if (argument_errors.empty()) {
    if (!expected.empty()) text.append("expected ").append(expected).append(", found ");
    text.append(found);
  }
  std::string_view separator;
  for (const ArgumentError& error : argument_errors) {
    text.append(separator);
    if (!error.path.empty()) text.append(error.path).append(": ");
    text.append(error.text);
    separator = "; ";
  }
  return text.append(" [").append(LoadErrorName(code)).append("]");
}

Status LoadError::ToStatus() const {
  switch (code) {
    case LoadErrorCode::kNotFound:
    case LoadErrorCode::kUnknownPlugin: return Status::NotFound(ToString());
    case LoadErrorCode::kWrongOwner:
    case LoadErrorCode::kWritableByOthers:
    case LoadErrorCode::kPinMismatch:
    case LoadErrorCode::kUnreadable: return Status::PermissionDenied(ToString());
    case LoadErrorCode::kDuplicatePlugin: return Status::AlreadyExists(ToString());
    case LoadErrorCode::kTooLarge: return Status::OutOfRange(ToString());
    case LoadErrorCode::kAbiMajor:
    case LoadErrorCode::kHostTooOld:
    case LoadErrorCode::kMissingService: return Status::Unsupported(ToString());
    case LoadErrorCode::kCopyFailed:
    case LoadErrorCode::kProbeFailed:
    case LoadErrorCode::kInitFailed:
    case LoadErrorCode::kCreateFailed: return Status::Internal(ToString());
    default: return Status::InvalidArgument(ToString());
  }
}

}  // namespace berth::host

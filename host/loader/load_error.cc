#include "host/loader/load_error.h"

#include <array>
#include <cstdio>

namespace berth::host {
namespace {

std::string Hex(uint32_t number) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "0x%x", number);
  return text.data();
}

}  // namespace

std::string_view LoadErrorName(LoadErrorCode code) {
  switch (code) {
    case LoadErrorCode::kNotFound: return "not-found";
    case LoadErrorCode::kNotARegularFile: return "not-a-regular-file";
    case LoadErrorCode::kWrongOwner: return "wrong-owner";
    case LoadErrorCode::kWritableByOthers: return "writable-by-others";
    case LoadErrorCode::kUnreadable: return "unreadable";
    case LoadErrorCode::kTooLarge: return "too-large";
    case LoadErrorCode::kPinMismatch: return "pin-mismatch";
    case LoadErrorCode::kNotElf: return "not-elf";
    case LoadErrorCode::kWrongMachine: return "wrong-machine";
    case LoadErrorCode::kNotSharedObject: return "not-shared-object";
    case LoadErrorCode::kBadElf: return "bad-elf";
    case LoadErrorCode::kNoNote: return "no-note";
    case LoadErrorCode::kBadNote: return "bad-note";
    case LoadErrorCode::kAbiMajor: return "abi-major";
    case LoadErrorCode::kHostTooOld: return "host-too-old";
    case LoadErrorCode::kSanitizerRuntime: return "sanitizer-runtime";
    case LoadErrorCode::kOriginRunPath: return "origin-run-path";
    case LoadErrorCode::kRelativeRunPath: return "relative-run-path";
    case LoadErrorCode::kExports: return "exports";
    case LoadErrorCode::kCopyFailed: return "copy-failed";
    case LoadErrorCode::kProbeFailed: return "probe-failed";
    case LoadErrorCode::kDlopenFailed: return "dlopen-failed";
    case LoadErrorCode::kEntryMagic: return "entry-magic";
    case LoadErrorCode::kEntrySize: return "entry-size";
    case LoadErrorCode::kEntryFunction: return "entry-function";
    case LoadErrorCode::kBadInfo: return "bad-info";
    case LoadErrorCode::kBadKind: return "bad-kind";
    case LoadErrorCode::kNoteDiffersFromEntry: return "note-differs-from-entry";
    case LoadErrorCode::kUnknownPoint: return "unknown-point";
    case LoadErrorCode::kDuplicatePlugin: return "duplicate-plugin";
    case LoadErrorCode::kUnknownPlugin: return "unknown-plugin";
    case LoadErrorCode::kMissingService: return "missing-service";
    case LoadErrorCode::kInitFailed: return "init-failed";
    case LoadErrorCode::kBadArguments: return "bad-arguments";
    case LoadErrorCode::kCreateFailed: return "create-failed";
    case LoadErrorCode::kBadInstance: return "bad-instance";
    case LoadErrorCode::kMissingPoint: return "missing-point";
    case LoadErrorCode::kBadPoint: return "bad-point";
    case LoadErrorCode::kUnknownColumn: return "unknown-column";
    case LoadErrorCode::kColumnType: return "column-type";
    case LoadErrorCode::kBadSlot: return "bad-slot";
    case LoadErrorCode::kTooManyReasons: return "too-many-reasons";
  }
  return "unknown";
}

LoadError MakeLoadError(LoadErrorCode code, std::string expected, std::string found) {
  LoadError error;
  error.code = code;
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
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

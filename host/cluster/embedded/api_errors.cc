#include "host/cluster/embedded/api_errors.h"

#include <initializer_list>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kUnknownFormat =
    "the body of the request was in an unknown format - accepted media types include: ";

std::string Concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

// Returns the kind without its group and version: "Pod" for "v1/Pod".
std::string_view ShortKind(std::string_view kind) {
  return kind.substr(kind.find_last_of('/') + 1);
}

}  // namespace

std::string ResourceOf(std::string_view kind) {
  std::string resource = ToLower(ShortKind(kind));
  if (resource.ends_with('s')) {
    resource.append("es");
  } else if (resource.ends_with('y')) {
    resource.replace(resource.size() - 1, 1, "ies");
  } else {
    resource.append("s");
  }
  const size_t first = kind.find('/');
  const bool has_group = first != std::string_view::npos && first != kind.find_last_of('/');
  if (has_group) resource.append(1, '.').append(kind.substr(0, first));
  return resource;
}

Status NoResourceError() {
  return Status::NotFound("the server could not find the requested resource");
}

Status NotFoundError(std::string_view kind, std::string_view name) {
  return Status::NotFound(Concat({ResourceOf(kind), " \"", name, "\" not found"}));
}

Status AlreadyExistsError(std::string_view kind, std::string_view name) {
  return Status::AlreadyExists(Concat({ResourceOf(kind), " \"", name, "\" already exists"}));
}

Status ConflictError(std::string_view resource, std::string_view name, std::string_view why) {
  return Status::Conflict(
      Concat({"Operation cannot be fulfilled on ", resource, " \"", name, "\": ", why}));
}

Status UidConflictError(std::string_view resource, std::string_view name, std::string_view expected,
                        std::string_view found) {
  return ConflictError(resource, name,
                       Concat({"Precondition failed: UID in precondition: ", expected,
                               ", UID in object meta: ", found}));
}

Status VersionConflictError(std::string_view resource, std::string_view name,
                            std::string_view expected, std::string_view found) {
  return ConflictError(resource, name,
                       Concat({"Precondition failed: ResourceVersion in precondition: ", expected,
                               ", ResourceVersion in object meta: ", found}));
}

Status StaleError(std::string_view kind, std::string_view name) {
  return ConflictError(ResourceOf(kind), name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

Status InvalidError(std::string_view kind, std::string_view name, std::string_view field,
                    std::string_view why) {
  return Status::InvalidArgument(
      Concat({ShortKind(kind), " \"", name, "\" is invalid: ", field, ": ", why}));
}

Status MediaTypeError(std::string_view accepted) {
  return Status::Unsupported(Concat({kUnknownFormat, accepted}));
}

bool IsMediaTypeError(const Status& error) {
  return error.code() == ErrorCode::kUnsupported && error.message().starts_with(kUnknownFormat);
}

bool IsInvalidError(const Status& error) {
  const std::string_view message = error.message();
  const size_t space = message.find(' ');
  return error.code() == ErrorCode::kInvalidArgument && space != std::string_view::npos &&
         IsUpper(message[0]) && message.substr(space + 1).starts_with('"') &&
         message.find("\" is invalid: ") != std::string_view::npos;
}

}  // namespace berth::host

#include "host/cluster/embedded/api_path.h"

#include <utility>
#include <vector>

#include "host/cluster/embedded/api_errors.h"

namespace berth::host {
namespace {

// Splits "/a/b/c" into a, b and c. Returns an empty list if a part is empty.
std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t end = path.find('/');
    parts.emplace_back(path.substr(0, end));
    if (parts.back().empty()) return {};
    path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  }
  return parts;
}

}  // namespace

Result<ApiPath> ApiPath::Parse(std::string_view path) {
  ApiPath parsed;
  const size_t query = path.find('?');
  if (query != std::string_view::npos) parsed.query = path.substr(query + 1);
  const std::vector<std::string> parts = Split(path.substr(0, query));
  size_t next = 0;
  const auto take = [&]() -> std::string {
    return next < parts.size() ? parts[next++] : std::string();
  };
  const std::string root = take();
  if (root == "api") {
    parsed.group_version = take();
  } else if (root == "apis") {
    parsed.group_version = take() + "/";
    parsed.group_version += take();
  } else {
    return NoResourceError();
  }
  // "namespaces/a/pods" is a path of pods; "namespaces/a" and "namespaces/a/status" are paths of a
  // namespace.
  const size_t left = parts.size() - next;
  const bool is_namespaced = left >= 3 && parts[next] == "namespaces" &&
                             parts[next + 2] != "status" && parts[next + 2] != "finalize";
  if (is_namespaced) {
    take();
    parsed.ns = take();
  }
  parsed.resource = take();
  parsed.name = take();
  parsed.subresource = take();
  if (parsed.resource.empty() || next != parts.size()) return NoResourceError();
  return parsed;
}

bool ApiPath::IsPathOf(std::string_view kind) const {
  if (kind.substr(0, kind.rfind('/')) != group_version) return false;
  const std::string plural = ResourceOf(kind);
  return plural.substr(0, plural.find('.')) == resource;
}

}  // namespace berth::host

// The names of kinds, as plugins declare them in berth_plugin_info.kinds. The host and the test kit
// share these functions.
#ifndef BERTH_INTERNAL_KINDS_H_
#define BERTH_INTERNAL_KINDS_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/names.h>

namespace berth::internal {

constexpr bool IsApiVersion(std::string_view text) {
  return IsBounded(text, IsLowerOrDigit, "") && (text.front() < '0' || text.front() > '9');
}

constexpr bool IsKindName(std::string_view text) {
  return IsBounded(text, IsLetterOrDigit, "") && text.front() >= 'A' && text.front() <= 'Z';
}

// Returns whether a declared kind may name more than one version.
constexpr bool HasSeveralVersions(std::string_view declared) {
  return declared.find('|') != std::string_view::npos;
}

// Returns the kinds that a declared kind stands for, in the order of preference:
// "storage.k8s.io/v1/CSINode" for itself, and "resource.k8s.io/v1/ResourceClaim" and
// "resource.k8s.io/v1beta1/ResourceClaim" for "resource.k8s.io/v1|v1beta1/ResourceClaim". Returns
// an empty list if the text is not "group/version/Kind", or "version/Kind" for the core group.
inline std::vector<std::string> KindsOf(std::string_view declared) {
  const std::size_t last = declared.rfind('/');
  if (last == std::string_view::npos || !IsKindName(declared.substr(last + 1))) return {};
  std::string_view versions = declared.substr(0, last);
  std::string_view group;
  if (const std::size_t first = versions.find('/'); first != std::string_view::npos) {
    group = versions.substr(0, first + 1);
    versions.remove_prefix(first + 1);
    if (!IsDnsSubdomain(group.substr(0, first))) return {};
  }
  std::vector<std::string> kinds;
  while (true) {
    const std::size_t bar = versions.find('|');
    const std::string_view version = versions.substr(0, bar);
    if (!IsApiVersion(version)) return {};
    std::string kind(group);
    kind.append(version).append(declared.substr(last));
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return {};
    kinds.push_back(std::move(kind));
    if (bar == std::string_view::npos) return kinds;
    versions.remove_prefix(bar + 1);
  }
}

// Returns what a plugin that declares the kind must do instead, as a part of an error after
// "expected": for v1/Pod and v1/Node, which berth.objects/1 does not serve, and for a text that is
// no kind. Returns an empty text for a kind that a plugin may declare.
inline std::string WhyNotDeclarable(std::string_view declared) {
  const std::vector<std::string> kinds = KindsOf(declared);
  const auto has = [&kinds](std::string_view kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  if (kinds.empty()) {
    return "a kind such as \"v1/Namespace\" or \"resource.k8s.io/v1|v1beta1/ResourceClaim\"";
  }
  if (has("v1/Pod")) {
    return "a kind other than v1/Pod: berth_block.pods and berth.changes/1 have the pods, with "
           "BERTH_CHANGES_FLAG_PENDING also those without a node";
  }
  if (has("v1/Node")) {
    return "a kind other than v1/Node: berth_block.nodes and berth.changes/1 have the nodes";
  }
  return "";
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_KINDS_H_

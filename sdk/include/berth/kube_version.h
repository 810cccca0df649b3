// KubeVersion: a version of Kubernetes. A host decides as the kube-scheduler of one version, which
// Kubernetes calls the emulated version. Where two versions decide differently, a plugin does what
// Host::emulated_version() does:
//
//   // Image volumes count since 1.37.
//   if (host.emulated_version() >= berth::KubeVersion{1, 37}) ...
#ifndef BERTH_KUBE_VERSION_H_
#define BERTH_KUBE_VERSION_H_

#include <compare>
#include <cstdint>

#include <berth/abi.h>

namespace berth {

struct KubeVersion {
  uint32_t major = 0;
  uint32_t minor = 0;

  // Converts berth_instance_request.emulated_version.
  static constexpr KubeVersion FromAbi(uint32_t version);
  // Converts into berth_instance_request.emulated_version.
  constexpr uint32_t ToAbi() const { return BERTH_KUBE_VERSION(major, minor); }

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the generated 0 for a pointer.
  friend constexpr auto operator<=>(const KubeVersion&, const KubeVersion&) = default;
};

// The newest version that Berth decides as.
inline constexpr KubeVersion kNewestKubeVersion{.major = 1, .minor = 37};

constexpr KubeVersion KubeVersion::FromAbi(uint32_t version) {
  if (version == 0) return kNewestKubeVersion;
  return {.major = version >> 16U, .minor = version & 0xFFFFU};
}

}  // namespace berth

#endif  // BERTH_KUBE_VERSION_H_

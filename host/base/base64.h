// Base64 (RFC 4648, section 4), in which kubeconfigs and API objects contain bytes.
#ifndef BERTH_HOST_BASE_BASE64_H_
#define BERTH_HOST_BASE_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace berth::host {

// Returns the text with padding and without line ends. REQUIRES: less than a gigabyte.
std::string EncodeBase64(std::string_view bytes);

// Returns the bytes, or nullopt for a text that is not base64 with padding, or that has more than a
// gigabyte. Skips line ends, as Go's encoding/base64 does, which the JSON decoder of Kubernetes
// uses.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_BASE64_H_

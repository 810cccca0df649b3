#ifndef BERTH_HOST_LOADER_SHA256_H_
#define BERTH_HOST_LOADER_SHA256_H_

#include <cstddef>
#include <span>
#include <string>

namespace berth::host {

// Returns the SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace berth::host

#endif  // BERTH_HOST_LOADER_SHA256_H_

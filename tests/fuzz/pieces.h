// Passes an input in pieces, as a network delivers it.
#ifndef BERTH_TESTS_FUZZ_PIECES_H_
#define BERTH_TESTS_FUZZ_PIECES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

// Calls `append`, which returns a Status, with each piece of `size` bytes; the last one may be
// shorter. Each is in memory of exactly its size, so that a sanitizer finds a read behind its end.
// Returns the first error, after which no piece follows.
template <typename Append>
Status AppendPieces(std::string_view text, size_t size, const Append& append) {
  for (size_t at = 0; at < text.size(); at += size) {
    const std::string_view part = text.substr(at, size);
    const std::vector<char> copy(part.begin(), part.end());
    if (Status status = append(std::string_view(copy.data(), copy.size())); !status.ok()) {
      return status;
    }
  }
  return {};
}

}  // namespace berth::host

#endif  // BERTH_TESTS_FUZZ_PIECES_H_

#include "host/base/secret.h"

#include <string.h>  // explicit_bzero() is not in <cstring>.

#include <algorithm>

namespace berth::host {
namespace {

std::unique_ptr<char[]> CopyBytes(std::string_view text) {
  if (text.empty()) return nullptr;
  auto bytes = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), bytes.get());
  return bytes;
}

}  // namespace

Secret::Secret(std::string text) : bytes_(CopyBytes(text)), size_(text.size()) {
  ::explicit_bzero(text.data(), text.size());
}

Secret::Secret(const Secret& other) : bytes_(CopyBytes(other.Reveal())), size_(other.size_) {}

Secret::~Secret() {
  if (bytes_ != nullptr) ::explicit_bzero(bytes_.get(), size_);
}

}  // namespace berth::host

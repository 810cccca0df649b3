// Names that are generated: those of metadata.generateName, and those that controllers choose.
#ifndef BERTH_HOST_API_GENERATED_NAME_H_
#define BERTH_HOST_API_GENERATED_NAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::host {

// Returns `size` characters that depend only on the number. The alphabet is that of Kubernetes:
// without vowels, so that no text is a word, and without characters that look like others.
// Kubernetes: apimachinery/pkg/util/rand.
std::string NameSuffix(uint64_t number, size_t size);

// Names objects by their metadata.generateName.
// Kubernetes: apiserver/pkg/storage/names/generate.go, whose suffixes are random.
class NameGenerator {
 public:
  // metadata.generateName of the current object, if it was read; else empty.
  std::string_view base;
  // Returns the base with a suffix of five characters, which differs from those of earlier calls.
  std::string Next();

 private:
  uint64_t count_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_GENERATED_NAME_H_

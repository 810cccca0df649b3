// Reads selectors for the service berth.selectors/1 of the fake host.
#ifndef BERTH_TESTING_SELECTOR_READER_H_
#define BERTH_TESTING_SELECTOR_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/selector_text.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing::internal {

// Each function returns NULL for anything that the API server would reject; error() then has the
// reason.
class SelectorReader {
 public:
  // `memory` keeps the selector, and the ids in it.
  explicit SelectorReader(ViewMemory& memory) : memory_(memory) {}

  const berth_selector* FromValue(const ValueSpec* label_selector);
  const berth_selector* FromMap(const ValueSpec* labels);
  const berth_selector* FromText(std::string_view text);
  const berth_node_selector* FromNodeSelector(const ValueSpec* node_selector);
  const std::string& error() const { return error_; }

 private:
  using Requirements = std::vector<berth::internal::TextRequirement>;
  enum class Place { kLabels, kText, kNodeLabels, kNodeFields };

  bool Fail(std::string why);
  bool AddLabels(const ValueSpec* labels, Requirements* requirements);
  bool AddExpressions(const ValueSpec* expressions, Requirements* requirements);
  // Checks the requirements and copies them to the memory.
  bool Keep(const Requirements& requirements, Place place, berth_array* out);
  bool Check(const berth::internal::TextRequirement& requirement, Place place);
  const berth_selector* Make(const Requirements& requirements, Place place);

  ViewMemory& memory_;
  std::string error_;
};

}  // namespace berth::testing::internal

#endif  // BERTH_TESTING_SELECTOR_READER_H_

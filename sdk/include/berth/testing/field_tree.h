// The further parts of an object that plugins name in kFields, with the meaning that the host gives
// to their paths: see Plugin::kFields.
#ifndef BERTH_TESTING_FIELD_TREE_H_
#define BERTH_TESTING_FIELD_TREE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/testing/values.h>

namespace berth::testing {

// The parts of one object that a test sets with Field(), as one tree.
class FieldTree {
 public:
  // `fields`: paths and JSON. A later field replaces what an earlier one set at its path; a field
  // without JSON is ignored.
  explicit FieldTree(const std::vector<std::pair<std::string, std::string>>& fields);

  // Returns the part at a path; NULL if it is absent or null.
  const ValueSpec* Find(std::string_view path) const;
  // Returns the paths of all parts, also of objects and arrays and of what is in them.
  std::vector<std::string> Paths() const;

 private:
  ValueSpec root_ = ValueSpec::Object();
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_FIELD_TREE_H_

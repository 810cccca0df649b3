// The fake host's side of what a plugin parses: values (berth.values/1) and selectors
// (berth.selectors/1), which the plugin owns until it releases them.
#ifndef BERTH_TESTING_PARSED_DATA_H_
#define BERTH_TESTING_PARSED_DATA_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include <berth/abi.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Reports wrong releases. The host releases the values and selectors that an instance leaves.
//
// Threading: any.
class ParsedData {
 public:
  ParsedData(Reporter* reporter, Ids* ids) : reporter_(*reporter), ids_(*ids) {}
  ParsedData(const ParsedData&) = delete;
  ParsedData& operator=(const ParsedData&) = delete;

  // berth_values.parse and release.
  const berth_value* ParseValue(berth_str json, berth_status* status);
  void ReleaseValue(const berth_value* value);

  // The numbers of values and selectors that are not released.
  size_t values() const;
  size_t selectors() const;

  // The service berth.selectors/1.
  static const berth_selectors kSelectors;

 private:
  static ParsedData& Of(const berth_host* host);

  template <class T, class Read>
  static berth_code ReadSelector(const berth_host* host, const T** out, berth_status* status,
                                 const Read& read);
  static berth_code FromValue(const berth_host* host, const berth_value* value,
                              const berth_selector** out, berth_status* status) noexcept;
  static berth_code FromMap(const berth_host* host, const berth_value* labels,
                            const berth_selector** out, berth_status* status) noexcept;
  static berth_code FromText(const berth_host* host, berth_str text, const berth_selector** out,
                             berth_status* status) noexcept;
  static berth_code FromNodeSelector(const berth_host* host, const berth_value* value,
                                     const berth_node_selector** out,
                                     berth_status* status) noexcept;
  static int32_t MatchesLabels(const berth_host* host, const berth_selector* selector,
                               berth_array labels) noexcept;
  static int32_t MatchesNode(const berth_host* host, const berth_node_selector* selector,
                             const berth_node* node) noexcept;
  static void Release(const berth_host* host, const berth_selector* selector) noexcept;
  static void ReleaseNode(const berth_host* host, const berth_node_selector* selector) noexcept;
  void ReleaseSelector(const void* selector);

  Reporter& reporter_;
  Ids& ids_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<const berth_value*, std::unique_ptr<ValueSpec>> values_;
  std::map<const void*, std::unique_ptr<internal::ViewMemory>> selectors_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_PARSED_DATA_H_

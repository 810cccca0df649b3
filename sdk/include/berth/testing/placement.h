// The points after a node was found: Reserve, Permit, PreBind, Bind; also normalisation, and
// PostFilter when no node was found.
#ifndef BERTH_TESTING_PLACEMENT_H_
#define BERTH_TESTING_PLACEMENT_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/cycle.h>
#include <berth/testing/instance.h>
#include <berth/testing/promises.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Normalises the raw scores of `rows` into 0..100, in the plugin's mode.
Answer Normalize(Cycle& cycle, const std::vector<uint32_t>& rows, std::vector<int64_t>* scores);

// One pod from its cycle to a node. The test calls the points one by one, in the host's order. The
// cycle state lives as long as this object. The constructor runs PreFilter and ignores its result.
//
//   Placement placement = plugin.Place(pod);
//   EXPECT_EQ(placement.Reserve("a"), Success());
//   placement.Unreserve("a");
class Placement {
 public:
  Placement(Instance* instance, const Table* table, PodHandle pod);

  const Answer& pre_filter() const { return pre_filter_; }

  // Runs PostFilter. `verdicts`: the code of each node; nodes that are not named were rejected with
  // Unschedulable.
  PostFilterResult PostFilter(const std::map<std::string, berth_code>& verdicts = {});

  Answer Reserve(const std::string& node);
  // May be called without Reserve, and more than once.
  void Unreserve(const std::string& node);

  PermitResult Permit(const std::string& node);

  // Returns Success if the plugin has no PreBindPreFlight.
  Answer PreFlight(const std::string& node);
  // Pending means that the result arrives later, in completion().
  Answer PreBind(const std::string& node);
  Answer Bind(const std::string& node);
  void PostBind(const std::string& node);

  // The completion of the last PreBind or Bind.
  Completion& completion() { return *dones_.back(); }

 private:
  class TargetView;

  void Need(bool has, const char* what) const;
  const Row& RowOf(const std::string& node) const;
  berth_binding Binding(const std::string& node) const;

  template <class Call>
  Answer Checked(const char* point, Word word, std::initializer_list<berth_code> codes, Call call);
  // Calls PreBind or Bind with a promise, which is closed unless the call returns Pending.
  template <class Call>
  Answer CheckedWithDone(const char* point, Promises::Call of, Call call);

  Instance& instance_;
  std::unique_ptr<Cycle> cycle_;
  Answer pre_filter_;
  std::vector<std::shared_ptr<Completion>> dones_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_PLACEMENT_H_

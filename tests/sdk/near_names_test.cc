// The names that authors write by mistake for a method that the host calls.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <berth/internal/near_names.h>

namespace berth {
namespace {

// Returns the wrong names by the right one.
std::map<std::string, std::set<std::string>> NearNames() {
  std::map<std::string, std::set<std::string>> names;
#define BERTH_TEST_ADD(wrong, right) names[#right].insert(#wrong);
  BERTH_INTERNAL_NEAR_NAMES(BERTH_TEST_ADD)
  BERTH_INTERNAL_NEAR_METHODS(BERTH_TEST_ADD)
#undef BERTH_TEST_ADD
  return names;
}

TEST(NearNames, EveryMethodHasSome) {
  const auto names = NearNames();
  const std::map<std::string, std::set<std::string>> some = {
      {"PreEnqueue", {"PreEnqueu", "Preenqueue", "PreQueue"}},
      {"EventsToRegister", {"EventToRegister", "eventsToRegister"}},
      {"Hint", {"Hnt"}},
      {"Key", {"SortKey"}},
      {"Less", {"Lss"}},
      {"Lane", {"Lnae"}},
      {"NextLane", {"Nextlane"}},
      {"Entity", {"Enity", "Entiy", "entity"}},
      {"PreFilter", {"Prefilter", "preFilter", "pre_filter", "PreFiltr"}},
      {"AddPod", {"Addpod"}},
      {"RemovePod", {"RemovPod"}},
      {"Filter", {"Filtr", "Fliter", "Filterr", "filter"}},
      {"PostFilter", {"Postfilter"}},
      {"PreScore", {"Prescore", "PreScor"}},
      {"Score", {"Scor", "Socre", "score"}},
      {"NormalizeScore", {"NormaliseScore", "NormalizeScores"}},
      {"Reserve", {"Resrve", "Reseve"}},
      {"Unreserve", {"UnReserve", "Unresrve"}},
      {"Permit", {"Permt", "Premit"}},
      {"PreBindPreFlight", {"PreBindPreflight"}},
      {"PreBind", {"Prebind"}},
      {"Bind", {"Bnd"}},
      {"PostBind", {"PostBnd", "Postbind"}},
      {"AttemptFailed", {"AttemptFail", "Attemptfailed"}},
      {"OnChange", {"OnChanged", "OnChanges", "Onchange", "OnChnage"}},
      {"Save", {"Saev", "save"}},
      {"Restore", {"Restor", "Restores"}},
      {"FilterDependence", {"FilterDependance"}},
      {"ScoreDependence", {"ScoreDependance"}},
      {"SignFilter", {"Signfilter"}},
      {"SignScore", {"Signscore"}},
      {"FilterChanged", {"Filterchanged"}},
      {"ScoreChanged", {"Scorechanged"}},
      {"Validate", {"Valdate"}},
      {"Quiesce", {"Quisce"}}};
  for (const auto& [right, wrong] : some) {
    ASSERT_TRUE(names.contains(right)) << right;
    for (const std::string& name : wrong) {
      EXPECT_TRUE(names.at(right).contains(name)) << name << " for " << right;
    }
  }
  EXPECT_EQ(names.size(), some.size());
}

}  // namespace
}  // namespace berth

// Tests that the kit reports violations of the rules for cycle state and declared dependence.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WhatIf, ReportsStateWithoutAddPod) {
  Parts parts = CorrectState();
  parts.pre_filter.add_pod = nullptr;
  parts.pre_filter.remove_pod = nullptr;
  const auto findings = Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) {
    plugin.AddPod(MakePod("second").Priority(1), "b");
    plugin.Filter(SmallPod());
  });
  EXPECT_THAT(findings,
              Contains(AllOf(HasSubstr("after RemovePod of second"), HasSubstr("kWhatIf"))));
}

TEST(WhatIf, ReportsAnAddPodThatDoesNothing) {
  Parts parts = CorrectState();
  parts.pre_filter.add_pod = [](void*, const berth_cycle*, const berth_pod*, const berth_block*,
                                uint32_t,
                                berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; };
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(findings,
              Contains(HasSubstr(
                  "node \"a\": after AddPod of web-copy it returns Success, but in a cluster with "
                  "this change it returns Unschedulable: \"no room\"")));
}

TEST(Dependence, ReportsUndeclaredLabels) {
  const auto parts = WithFilter(
      [](void*, const berth_cycle* cycle, const berth_block* block, berth_filter_out* out,
         berth_status*) noexcept -> berth_code {
        EachSelected(block,
                     [&](uint32_t i) { Reject(out, i, cycle->pod->meta->labels.count > 1); });
        return BERTH_SUCCESS;
      },
      &kOnNodePods);
  EXPECT_THAT(
      FilterFindings(parts),
      ElementsAre(
          AllOf(HasSubstr("depends on the pod's LABELS, which dependence.pod_parts does not name"),
                HasSubstr("node \"a\": Success, then Unschedulable: \"no room\""))));
}

TEST(Dependence, ReportsAPartThatOnlyAnotherPodHas) {
  const auto parts = WithFilter(
      [](void*, const berth_cycle* cycle, const berth_block* block, berth_filter_out* out,
         berth_status*) noexcept -> berth_code {
        const berth_array& gates = cycle->pod->scheduling_gates;
        const bool held = gates.count != 0 && FromAbi(*BERTH_AT(berth_str, gates, 0)) == "hold";
        EachSelected(block, [&](uint32_t i) { Reject(out, i, held); });
        return BERTH_SUCCESS;
      },
      &kOnNodePods);
  EXPECT_THAT(FilterFindings(parts), IsEmpty());
  const auto findings = Findings(parts, ThreeNodes(), [](PluginUnderTest& plugin) {
    plugin.Filter(MakePod("held").Gate("hold"));
    plugin.Filter(SmallPod());
  });
  EXPECT_THAT(findings, Contains(AllOf(HasSubstr("pod default/web depends on the pod's GATES"),
                                       HasSubstr("as in pod default/held"))));
}

TEST(Dependence, ReportsPodsWhenOnlyTheNodeIsDeclared) {
  Parts parts = CorrectFilter();
  parts.filter.dependence = &kOnNode;
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("depends on the pods on nodes, which "
                                                              "dependence.cluster does not name"),
                                                    HasSubstr("kDependence"))));
}

TEST(Dependence, ReportsPodsOfOtherNodes) {
  Parts parts = CorrectState();
  parts.filter.dependence = &kOnNodePods;
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(findings, Contains(HasSubstr("depends on the pods on other nodes")));
}

TEST(Dependence, IsCheckedForScore) {
  const auto parts = WithScore(
      [](void*, const berth_cycle* cycle, const berth_block* block, berth_score_out* out,
         berth_status*) noexcept -> berth_code {
        EachSelected(block, [&](uint32_t i) {
          out->scores[i] = static_cast<int64_t>(cycle->pod->meta->name.len);
        });
        return BERTH_SUCCESS;
      },
      &kOnNode);
  EXPECT_THAT(ScoreFindings(parts),
              ElementsAre(HasSubstr("Score of pod default/web depends on the pod's IDENTITY")));
}

TEST(Dependence, AcceptsWhatTheSignatureCovers) {
  constexpr auto kNameLength = [](void*, const berth_cycle* cycle, const berth_block* block,
                                  berth_score_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      out->scores[i] = static_cast<int64_t>(cycle->pod->meta->name.len);
    });
    return BERTH_SUCCESS;
  };
  static constexpr berth_dependence kSigned{
      sizeof(berth_dependence), BERTH_DEPENDS_NODE, 0,
      [](void*, const berth_cycle* cycle, berth_signature* signature) noexcept -> berth_code {
        *signature = {0, cycle->pod->meta->name.len};
        return BERTH_SUCCESS;
      },
      nullptr};
  EXPECT_THAT(ScoreFindings(WithScore(kNameLength, &kSigned)), IsEmpty());
}

TEST(Dependence, AcceptsASignatureOfThePreFilterState) {
  static constexpr berth_dependence kSigned{
      sizeof(berth_dependence), BERTH_DEPENDS_NODE, 0,
      [](void*, const berth_cycle* cycle, berth_signature* signature) noexcept -> berth_code {
        *signature = {static_cast<uint64_t>(**static_cast<int64_t**>(cycle->slots[0])), 0};
        return BERTH_SUCCESS;
      },
      nullptr};
  Parts parts = CorrectState();
  parts.filter.dependence = &kSigned;
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(findings, IsEmpty());
}

TEST(Slots, ReportsAWriteInFilter) {
  Parts parts = CorrectState();
  parts.slots = {{sizeof(berth_slot), 8, 8, 0, "sample.counter/1", nullptr, nullptr, nullptr}};
  parts.pre_filter = {};
  parts.filter.flags = BERTH_FILTER_SERIAL;
  parts.filter.filter = [](void*, const berth_cycle* cycle, const berth_block* block,
                           berth_filter_out* out, berth_status*) noexcept -> berth_code {
    ++*static_cast<int64_t*>(cycle->slots[0]);
    EachSelected(block, [&](uint32_t i) { Reject(out, i, false); });
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(FilterFindings(parts),
              Contains(HasSubstr(
                  "slot \"sample.counter/1\": Filter changes it, but cycle state is read-only")));
}

TEST(Slots, ReportsAWriteOutsideTheSlot) {
  Parts parts = CorrectState();
  parts.slots[0] = {sizeof(berth_slot),
                    8,
                    8,
                    0,
                    "sample.small/1",
                    [](void* at) noexcept { static_cast<int64_t*>(at)[1] = 0; },
                    nullptr,
                    nullptr};
  parts.pre_filter = {};
  parts.filter = CorrectFilter().filter;
  parts.columns = CorrectFilter().columns;
  EXPECT_THAT(FilterFindings(parts), Contains(AllOf(HasSubstr("slot \"sample.small/1\""),
                                                    HasSubstr("writes outside its 8 bytes"))));
}

TEST(Slots, ReportsAShallowClone) {
  using Shared = std::shared_ptr<int64_t>;
  Parts parts = CorrectState();
  parts.slots[0].size = sizeof(Shared);
  parts.slots[0].construct = [](void* at) noexcept { new (at) Shared(new int64_t(0)); };
  parts.slots[0].clone = [](void* to, const void* from) noexcept -> berth_code {
    new (to) Shared(*static_cast<const Shared*>(from));
    return BERTH_SUCCESS;
  };
  parts.slots[0].destroy = [](void* at) noexcept { static_cast<Shared*>(at)->~Shared(); };
  const auto findings = Findings(
      parts, ThreeNodes(), [](PluginUnderTest& plugin) { plugin.Filter(SmallPod().Priority(1)); });
  EXPECT_THAT(
      findings,
      Contains(AllOf(
          HasSubstr("AddPod of web-copy on cloned slots changes the verdict of the original slots"),
          HasSubstr("kSlots"))));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Leaks, ReportsASlotThatIsNotFreed) {
  Parts parts = CorrectState();
  parts.slots[0].destroy = [](void*) noexcept {};
  EXPECT_THAT(FilterFindings(parts),
              Contains(AllOf(
                  HasSubstr("construct, clone and destroy of slot \"sample.count/1\" leaks about"),
                  HasSubstr("kLeaks"))));
}

TEST(Leaks, ReportsAnInstanceThatIsNotFreed) {
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host*, const berth_value*, berth_status*) {
    static std::vector<std::unique_ptr<int64_t>> kept;
    kept.push_back(std::make_unique<int64_t>(0));
    return berth_code{BERTH_SUCCESS};
  };
  EXPECT_THAT(FilterFindings(parts), Contains(HasSubstr("create and destroy leaks about")));
}

TEST(Leaks, IgnoresKitRecordsAndWhatIsDueLater) {
  static const berth_log* log = nullptr;
  static const berth_api* api = nullptr;
  static const berth_timer* timer = nullptr;
  static berth_code (*pre_filter)(void*, const berth_cycle*, const berth_nodes*,
                                  berth_pre_filter_out*, berth_status*) noexcept = nullptr;
  Parts parts = CorrectState();
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    host->get_service(host, BERTH_SERVICE_LOG, &service);
    log = static_cast<const berth_log*>(service);
    host->get_service(host, BERTH_SERVICE_API, &service);
    api = static_cast<const berth_api*>(service);
    host->get_service(host, BERTH_SERVICE_TIMER, &service);
    timer = static_cast<const berth_timer*>(service);
    return berth_code{BERTH_SUCCESS};
  };
  pre_filter = parts.pre_filter.pre_filter;
  parts.pre_filter.pre_filter = [](void* self, const berth_cycle* cycle, const berth_nodes* all,
                                   berth_pre_filter_out* out,
                                   berth_status* status) noexcept -> berth_code {
    const berth_host* host = static_cast<const ColumnBinder*>(cycle->host)->owner->host();
    log->log(host, BERTH_LOG_INFO, ToAbi("a text that needs memory of its own"), nullptr, 0);
    const berth_api_request request = {
        sizeof request, 0, ToAbi("GET"), ToAbi("/api/v1/namespaces/default/pods"), {}, {}, 0};
    api->request(
        host, &request, [](void*, const berth_api_result*) noexcept {}, nullptr);
    timer->post(
        host, [](void*, berth_code) noexcept {}, nullptr);
    return pre_filter(self, cycle, all, out, status);
  };
  EXPECT_THAT(FilterFindings(parts), IsEmpty());
}
#endif

}  // namespace
}  // namespace berth::testing

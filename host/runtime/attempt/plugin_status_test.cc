#include "host/runtime/attempt/plugin_status.h"

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(PluginStatus, MessageJoinsReasons) {
  EXPECT_EQ(PluginStatus().Message(), "");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, 1, {"a"}}.Message()), "a");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, 1, {"a", "b"}}.Message()), "a, b");
}

TEST(PluginStatus, RejectedMeansARejectionAndNoError) {
  for (const berth_code code :
       {BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, BERTH_PENDING}) {
    EXPECT_TRUE((PluginStatus{code, {}, {}}.rejected())) << code;
  }
  for (const berth_code code : {BERTH_SUCCESS, BERTH_ERROR, BERTH_WAIT, BERTH_SKIP, BERTH_BUG}) {
    EXPECT_FALSE((PluginStatus{code, {}, {}}.rejected())) << code;
  }
}

}  // namespace
}  // namespace berth::host

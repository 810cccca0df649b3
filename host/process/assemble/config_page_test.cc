// ConfigPage() and ProfileJson().
#include "host/process/assemble/config_page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/config/config_errors.h"

namespace berth::host {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

HostConfig HostOf(std::string_view text) {
  ConfigErrors errors;
  HostConfig host = ReadHostConfig(text, "berth.toml", errors);
  EXPECT_TRUE(errors.errors().empty());
  return host;
}

// A profile with one plugin that scores, and one that is disabled.
ProfileSet TwoPlugins() {
  Profile profile;
  profile.file = "acme.toml";
  profile.scheduler_name.value = "acme";
  ProfilePlugin rack;
  rack.name.value = "acme.Rack";
  rack.weight = {3, {}};
  rack.deadline_ns = {1'500'000'000, {}};
  rack.library = {"/opt/librack.so", {}};
  rack.points = {{{"Score", {}}}};
  rack.args.value = {{"token", "not-to-be-shown"}};
  ProfilePlugin off;
  off.name.value = "ImageLocality";
  off.enabled = {false, {}};
  profile.plugins = {rack, off};
  PlanSpec spec;
  spec.points[static_cast<size_t>(Point::kScore)] = {{"acme.Rack", 3}};
  ProfileSet set;
  set.profiles = {profile};
  set.specs = {spec};
  return set;
}

TEST(ConfigPageTest, ShowsDefaultsOfAnEmptyHostFile) {
  const ConfigFacts facts = {.version = "0.1.0", .elects = true, .http_address = "127.0.0.1:1"};
  const Json page = Json::parse(ConfigPage(facts, HostOf(""), ProfileSet()));
  EXPECT_EQ(page, Json::parse(R"({"berth":{
      "version": "0.1.0", "emulatedVersion": "1.37",
      "podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 10,
      "deadlines": {"call": "1s", "postFilter": "10s", "bind": "10m0s"},
      "quarantine": {"faults": 10, "window": "1m0s"},
      "leaderElection": {"leaderElect": true, "leaseDuration": "15s", "renewDeadline": "10s",
          "retryPeriod": "2s", "resourceName": "kube-scheduler",
          "resourceNamespace": "kube-system", "stallLimit": "2m0s"},
      "clientConnection": {"qps": 0.0, "burst": 0, "connections": 64},
      "serving": {"address": "127.0.0.1:1"},
      "profiles": []}})"));
}

TEST(ConfigPageTest, ShowsWhatTheHostFileSets) {
  const HostConfig host = HostOf(R"(
      emulatedVersion = "1.36"
      podInitialBackoffSeconds = 3
      podMaxBackoffSeconds = 30
      [deadlines]
      call = "2s"
      [quarantine]
      faults = 0
      [leaderElection]
      resourceName = "other"
      [clientConnection]
      qps = 50
      burst = 100)");
  const Json page =
      Json::parse(ConfigPage({.kubeconfig = "/etc/kubeconfig"}, host, ProfileSet()))["berth"];
  EXPECT_EQ(page["emulatedVersion"], "1.36");
  EXPECT_EQ(page["podInitialBackoffSeconds"], 3);
  EXPECT_EQ(page["podMaxBackoffSeconds"], 30);
  EXPECT_EQ(page["deadlines"]["call"], "2s");
  EXPECT_EQ(page["quarantine"]["faults"], 0);
  EXPECT_EQ(page["leaderElection"]["leaderElect"], false);
  EXPECT_EQ(page["leaderElection"]["resourceName"], "other");
  EXPECT_EQ(page["clientConnection"]["kubeconfig"], "/etc/kubeconfig");
  EXPECT_EQ(page["clientConnection"]["burst"], 100);
}

TEST(ConfigPageTest, ShowsProfilesWithoutArguments) {
  const std::string page = ConfigPage({}, HostOf(""), TwoPlugins());
  EXPECT_EQ(Json::parse(page)["berth"]["profiles"], Json::parse(R"([{
      "file": "acme.toml", "schedulerName": "acme",
      "points": {"Score": [{"name": "acme.Rack", "weight": 3}]},
      "plugins": [
          {"name": "acme.Rack", "enabled": true, "weight": 3, "deadline": "1.5s",
           "library": "/opt/librack.so", "points": ["Score"]},
          {"name": "ImageLocality", "enabled": false}]}])"));
  EXPECT_THAT(page, Not(HasSubstr("not-to-be-shown")));
}

}  // namespace
}  // namespace berth::host

#include <string>

#include <gtest/gtest.h>

#include "host/cli/commands.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string Explained(const Json& report, TerminalWidth width = std::nullopt) {
  std::string out;
  AppendExplanation(report, width, out);
  return out;
}

Json PlacedReport() {
  return Json::parse(R"({
    "code": "Success",
    "nodes": {"c": {"plugin": "NodeName", "code": "UnschedulableAndUnresolvable",
                    "reasons": ["node(s) didn't match the requested node name"]}},
    "feasible": ["a", "b"],
    "scores": {"a": {"total": 120, "plugins": {"Fit": 40, "Taint": 20}},
               "b": {"total": 250, "plugins": {"Fit": 50, "Taint": 50}}},
    "weights": {"Fit": 2, "Taint": 3},
    "selected": ["b"],
    "chosen": "b",
    "raw": {"a": {"Fit": 40, "Taint": 1}, "b": {"Fit": 50, "Taint": 0}},
    "pod": "default/web-0", "nodeCount": 3, "seed": 1})");
}

TEST(ExplainTableTest, ListsTheBestNodeFirst) {
  EXPECT_EQ(
      Explained(PlacedReport()),
      "default/web-0 is placed on b: its total score, 250, is the highest of the 2 nodes that fit "
      "(of 3).\n"
      "\n"
      "Fits on 2 nodes, * chosen; raw score -> normalised x weight:\n"
      "    NODE   TOTAL   Fit            Taint\n"
      "*   b      250     50 -> 50 x 2   0 -> 50 x 3\n"
      "    a      120     40 -> 40 x 2   1 -> 20 x 3\n"
      "\n"
      "Does not fit on 1 node:\n"
      "  1  NodeName (UnschedulableAndUnresolvable): node(s) didn't match the requested node "
      "name\n"
      "     c\n");
}

TEST(ExplainTableTest, UsesOneColumnForScoresOnNarrowTerminal) {
  const std::string out = Explained(PlacedReport(), 44);
  EXPECT_NE(out.find("*   b      250     Fit 50 -> 50 x 2, Taint 0\n"
                     "                   -> 50 x 3\n"),
            std::string::npos)
      << out;
}

TEST(ExplainTableTest, MarksNodesWithTheSameTotal) {
  Json report = PlacedReport();
  report["scores"]["a"]["total"] = 250;
  report["selected"] = {"a", "b"};
  const std::string out = Explained(report);
  EXPECT_NE(
      out.find("it is one of 2 nodes with the highest total score, 250, of the 2 nodes that fit "
               "(of 3); it was selected at random with seed 1."),
      std::string::npos)
      << out;
  EXPECT_NE(out.find("=   a      250"), std::string::npos) << out;
  EXPECT_NE(out.find("*   b      250"), std::string::npos) << out;
}

TEST(ExplainTableTest, ReportsThatOnlyOneNodeFits) {
  const std::string out = Explained(Json::parse(R"({"code":"Success","feasible":["a"],
      "selected":["a"],"chosen":"a","pod":"x/p","nodeCount":7,"seed":1})"));
  EXPECT_EQ(out,
            "x/p is placed on a: it is the only one of 7 nodes that fits.\n"
            "\nFits on 1 node, * chosen:\n    NODE\n*   a\n");
}

TEST(ExplainTableTest, ReportsThatTheNominatedNodeWasTaken) {
  const std::string out = Explained(Json::parse(R"({"code":"Success","feasible":["a"],
      "nominatedNodeOnly":true,"selected":["a"],"chosen":"a","pod":"x/p","nodeCount":7,
      "seed":1})"));
  EXPECT_TRUE(
      out.starts_with("x/p is placed on a: it is the nominated node of the pod and still fits"))
      << out;
}

TEST(ExplainTableTest, ReportsThatPermitRejectedTheNode) {
  const std::string out = Explained(Json::parse(R"({"code":"Unschedulable","feasible":["a"],
      "message":"0/1 nodes are available: the quota is used up.","rejectedAt":"Permit",
      "rejectors":["acme.Quota"],"selected":["a"],"chosen":"a","pod":"x/p","nodeCount":1,
      "seed":1})"));
  EXPECT_EQ(out,
            "x/p cannot be scheduled: a was chosen, but Permit did not accept it: 0/1 nodes are "
            "available: the quota is used up.\n"
            "\nFits on 1 node, * chosen:\n    NODE\n*   a\n"
            "\nThe pod is tried again when a change in the cluster concerns acme.Quota.\n");
}

TEST(ExplainTableTest, ReportsThatThePodWaitsOnPermit) {
  const std::string out = Explained(Json::parse(R"({"code":"Wait","feasible":["a"],
      "waits":{"acme.Gang":"1m0s","acme.Quota":"5s"},"selected":["a"],"chosen":"a","pod":"x/p",
      "nodeCount":1,"seed":1})"));
  EXPECT_TRUE(
      out.starts_with("x/p gets a place on a, and waits on Permit for acme.Gang (up to 1m0s) "
                      "and acme.Quota (up to 5s) before it is bound.\n"))
      << out;
}

TEST(ExplainTableTest, ReportsThatThePodAwaitsAPlugin) {
  const std::string before = Explained(Json::parse(R"({"code":"Pending",
      "message":"pod is waiting for the plugin acme.Rater: asked","awaits":["acme.Rater"],
      "awaitsAt":"PreFilter","pod":"x/p","nodeCount":2,"seed":1})"));
  const std::string until =
      "\nThe pod is tried again when acme.Rater activates it, when the pod changes, and after five "
      "minutes.\n";
  EXPECT_EQ(before,
            "x/p has no node yet: pod is waiting for the plugin acme.Rater: asked.\n" + until);
  const std::string after = Explained(Json::parse(R"({"code":"Pending",
      "message":"pod is waiting for the plugin acme.Rater","awaits":["acme.Rater"],
      "awaitsAt":"PreScore","feasible":["a","b"],
      "nodes":{"c":{"plugin":"Fit","code":"Unschedulable","reasons":["no room"]}},
      "pod":"x/p","nodeCount":3,"seed":1})"));
  EXPECT_EQ(after,
            "x/p has no node yet: pod is waiting for the plugin acme.Rater.\n"
            "\nFits on 2 nodes, not scored yet:\n  a, b\n"
            "\nDoes not fit on 1 node:\n  1  Fit (Unschedulable): no room\n     c\n" +
                until);
}

TEST(ExplainTableTest, GroupsNodesWithTheSameReasons) {
  const std::string out = Explained(Json::parse(R"({"code":"Unschedulable",
      "message":"0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.",
      "nodes":{"a":{"plugin":"Fit","code":"Unschedulable","reasons":["Insufficient cpu"]},
               "b":{"plugin":"Fit","code":"Unschedulable","reasons":["Too many pods"]},
               "c":{"plugin":"Fit","code":"Unschedulable","reasons":["Insufficient cpu"]},
               "d":{"plugin":"","code":"UnschedulableAndUnresolvable","reasons":["absent"]}},
      "rejectors":["Fit","Other"],"pod":"x/p","nodeCount":4,"seed":1})"));
  EXPECT_EQ(out,
            "x/p cannot be scheduled: 0/4 nodes are available: 1 Too many pods, 3 Insufficient "
            "cpu.\n"
            "\n"
            "Does not fit on 4 nodes:\n"
            "  2  Fit (Unschedulable): Insufficient cpu\n"
            "     a, c\n"
            "  1  Fit (Unschedulable): Too many pods\n"
            "     b\n"
            "  1  excluded by PreFilter (UnschedulableAndUnresolvable): absent\n"
            "     d\n"
            "\n"
            "The pod is tried again when a change in the cluster concerns Fit, Other.\n");
}

TEST(ExplainTableTest, ShowsARejectionForAllNodes) {
  const std::string out = Explained(Json::parse(R"({"code":"Unschedulable",
      "message":"0/4 nodes are available: pod affinity terms conflict.",
      "preFilter":{"plugin":"NodeAffinity","code":"UnschedulableAndUnresolvable",
                   "reasons":["pod affinity terms conflict"]},
      "rejectors":["NodeAffinity"],"pod":"x/p","nodeCount":4,"seed":1})"));
  EXPECT_NE(
      out.find("Rejected for all nodes by PreFilter:\n"
               "  NodeAffinity (UnschedulableAndUnresolvable): pod affinity terms conflict\n"),
      std::string::npos)
      << out;
}

TEST(ExplainTableTest, ReplacesControlCharactersInMessagesOfPlugins) {
  const std::string out = Explained(Json::parse(
      R"({"code":"Error","message":"boom \u001b[2J","pod":"x/p","nodeCount":1,"seed":1})"));
  EXPECT_EQ(out, "x/p could not be scheduled because of an error: boom ?[2J\n");
}

}  // namespace
}  // namespace berth::host

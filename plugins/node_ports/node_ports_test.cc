#include <string>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

namespace berth::testing {
namespace {

constexpr const char* kReason = "node(s) didn't have free ports for the requested pod ports";
constexpr uint32_t kTcp = BERTH_PROTOCOL_TCP;
constexpr uint32_t kUdp = BERTH_PROTOCOL_UDP;
constexpr uint32_t kSctp = BERTH_PROTOCOL_SCTP;

PodSpec Wants(int32_t port, uint32_t protocol = kTcp, const std::string& ip = "") {
  return MakePod("p").HostPort(port, protocol, ip);
}
NodeSpec Used(const std::string& node, int32_t port, uint32_t protocol, const std::string& ip) {
  return MakeNode(node).Pod(MakePod("on-" + node).HostPort(port, protocol, ip));
}

TEST(NodePorts, Filter) {
  PluginUnderTest plugin(
      {.nodes = {MakeNode("free"), MakeNode("plain").Pod(MakePod("old").Port({80, 0})),
                 Used("all", 80, kTcp, ""), Used("zero", 80, kTcp, "0.0.0.0"),
                 Used("one", 80, kTcp, "10.0.0.1"), Used("six", 80, kTcp, "::"),
                 Used("udp", 80, kUdp, ""), Used("sctp", 80, kSctp, "")}});
  const Answer yes = Success();
  const Answer no = Unschedulable(kReason);
  const struct {
    const char* name;
    PodSpec pod;
    Answer on_all;  // and on zero
    Answer on_one;
    Answer on_six;
    Answer on_udp;
    Answer on_sctp;
  } cases[] = {
      {"on all addresses", Wants(80), no, no, no, yes, yes},
      {"on 0.0.0.0, which means all addresses", Wants(80, kTcp, "0.0.0.0"), no, no, no, yes, yes},
      {"on the address that is in use", Wants(80, kTcp, "10.0.0.1"), no, no, yes, yes, yes},
      {"on another address", Wants(80, kTcp, "10.0.0.2"), no, yes, yes, yes, yes},
      {":: is a single address", Wants(80, kTcp, "::"), no, yes, no, yes, yes},
      {"another port number", Wants(81), yes, yes, yes, yes, yes},
      {"a UDP port", Wants(80, kUdp), yes, yes, yes, no, yes},
      {"an SCTP port", Wants(80, kSctp, "10.0.0.1"), yes, yes, yes, yes, no},
      {"one conflict of two ports is enough", Wants(81).HostPort(80, kUdp), yes, yes, yes, no, yes},
      {"a pod does not conflict with itself", Wants(81).HostPort(81), yes, yes, yes, yes, yes},
      {"sidecars count", MakePod("p").Container("c").Sidecar("s").HostPort(80), no, no, no, yes,
       yes},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const FilterResult result = plugin.Filter(c.pod);
    EXPECT_EQ(result.pre_filter, Success());
    EXPECT_EQ(result.On("free"), yes);
    EXPECT_EQ(result.On("plain"), yes) << "a container port without hostPort does not count";
    EXPECT_EQ(result.On("all"), c.on_all);
    EXPECT_EQ(result.On("zero"), c.on_all);
    EXPECT_EQ(result.On("one"), c.on_one);
    EXPECT_EQ(result.On("six"), c.on_six);
    EXPECT_EQ(result.On("udp"), c.on_udp);
    EXPECT_EQ(result.On("sctp"), c.on_sctp);
  }
}

TEST(NodePorts, APodWithoutHostPortsIsSkipped) {
  PluginUnderTest plugin({.nodes = {Used("a", 80, kTcp, "")}});
  EXPECT_EQ(plugin.Filter(MakePod("p").Port({80, 0})).pre_filter, Answer{BERTH_SKIP});
  EXPECT_EQ(plugin.Filter(MakePod("p").Container("c").InitContainer("i").HostPort(80)).pre_filter,
            Answer{BERTH_SKIP})
      << "an init container ends before the containers start";
}

TEST(NodePorts, AnUnknownProtocolIsAnError) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}});
  EXPECT_EQ(plugin.Filter(Wants(80, 77)).pre_filter,
            Error("the host has no column \"hostport:an unknown protocol/80\" of this type"));
}

TEST(NodePorts, FilterNeedsPreFilter) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}});
  const PodHandle pod(Wants(80), plugin.ids());
  Cycle cycle(&plugin.instance(), &plugin.table(), pod);
  EXPECT_EQ(EvaluateTable(cycle, Step::kFilter).call,
            Error("Filter requires the State of the plugin, which no method has emplaced in "
                  "this cycle: PreFilter was not called (the profile must run the plugin at "
                  "PreFilter), or it did not call Emplace"));
}

TEST(NodePorts, PodEvents) {
  PluginUnderTest plugin({.nodes = {}});
  const PodSpec pod = Wants(80, kTcp, "10.0.0.1").HostPort(443);
  const auto hint = [&](const PodSpec& gone) {
    return plugin.Hint(
        pod,
        {.resource = BERTH_RESOURCE_POD_ANY, .action = BERTH_ACTION_DELETE, .old_pod = {gone}});
  };
  const auto old = [](int32_t port, const std::string& ip = "") {
    return MakePod("old").HostPort(port, kTcp, ip);
  };
  EXPECT_EQ(hint(old(80).NodeName("a")), uint32_t{BERTH_HINT_QUEUE}) << "it used the port";
  EXPECT_EQ(hint(old(443).NodeName("a")), uint32_t{BERTH_HINT_QUEUE}) << "it used the other port";
  EXPECT_EQ(hint(old(80).Nominated("a")), uint32_t{BERTH_HINT_QUEUE})
      << "it was nominated to a node";
  EXPECT_EQ(hint(old(80)), uint32_t{BERTH_HINT_SKIP}) << "it was pending";
  EXPECT_EQ(hint(old(80, "10.0.0.2").NodeName("a")), uint32_t{BERTH_HINT_SKIP})
      << "another address";
  EXPECT_EQ(hint(old(8080).NodeName("a")), uint32_t{BERTH_HINT_SKIP}) << "another port";
  EXPECT_EQ(hint(MakePod("old").NodeName("a")), uint32_t{BERTH_HINT_SKIP}) << "no port";
}

TEST(NodePorts, ManyPortsConflictAsFewDo) {
  PluginUnderTest plugin({.nodes = {MakeNode("a")}});
  const struct {
    const char* name;
    PortSpec wanted;
    PortSpec used;
    bool conflict;
  } cases[] = {
      {"both on all addresses", {.host_port = 80}, {.host_port = 80}, true},
      {"all addresses are written out",
       {.host_port = 80},
       {.host_port = 80, .host_ip = "0.0.0.0"},
       true},
      {"one was on all addresses",
       {.host_port = 80, .host_ip = "10.0.0.1"},
       {.host_port = 80},
       true},
      {"one is on all addresses",
       {.host_port = 80},
       {.host_port = 80, .host_ip = "10.0.0.1"},
       true},
      {"the same address",
       {.host_port = 80, .host_ip = "10.0.0.1"},
       {.host_port = 80, .host_ip = "10.0.0.1"},
       true},
      {"another address",
       {.host_port = 80, .host_ip = "10.0.0.1"},
       {.host_port = 80, .host_ip = "10.0.0.2"},
       false},
      {"another protocol",
       {.host_port = 80},
       {.host_port = 80, .protocol = BERTH_PROTOCOL_UDP},
       false},
      {"another port", {.host_port = 80}, {.host_port = 81}, false},
      {"a port above all others", {.host_port = 9000}, {.host_port = 81}, false},
  };
  for (const auto& c : cases) {
    for (const int others : {0, 15, 16}) {
      PodSpec pod = MakePod("p").Container("c");
      PodSpec gone = MakePod("gone").NodeName("a").Container("c");
      for (int i = 0; i < others; ++i) pod.HostPort(1000 + i), gone.HostPort(2000 + i);
      const uint32_t hint = plugin.Hint(pod.Port(c.wanted), {.resource = BERTH_RESOURCE_POD_ANY,
                                                             .action = BERTH_ACTION_DELETE,
                                                             .old_pod = {gone.Port(c.used)}});
      EXPECT_EQ(hint, uint32_t{c.conflict ? BERTH_HINT_QUEUE : BERTH_HINT_SKIP})
          << c.name << " beside " << others << " ports";
    }
  }
}

TEST(NodePorts, AnAddedNodeRequeuesThePod) {
  PluginUnderTest plugin({.nodes = {}});
  EXPECT_EQ(plugin.Hint(Wants(80), {.resource = BERTH_RESOURCE_NODE,
                                    .action = BERTH_ACTION_ADD,
                                    .new_node = {MakeNode("a")}}),
            uint32_t{BERTH_HINT_QUEUE});
}

}  // namespace
}  // namespace berth::testing

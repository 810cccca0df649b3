// A test without a test framework: a contract violation prints its text and aborts.
#include <cstdio>

#include <berth/testing/fake_host.h>

namespace {

using namespace berth::testing;

bool FitsOn(PluginUnderTest& plugin, const char* watts) {
  return plugin.Filter(MakePod("p").Request("acme.com/watts", watts)).On("a").ok();
}

}  // namespace

int main() {
  const NodeSpec node = MakeNode("a").Label("acme.com/rack", "r1").Used("acme.com/watts", "300");
  PluginUnderTest plugin({.nodes = {node}, .args = {{"wattsPerRack", 1000}}});
  const bool passes = FitsOn(plugin, "700") && !FitsOn(plugin, "701");
  std::puts(passes ? "passes" : "the rack does not keep its budget");
  return passes ? 0 : 1;
}

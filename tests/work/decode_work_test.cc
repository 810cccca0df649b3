// Decoding takes steps in proportion to the size of an object. Steps are basic blocks of a counted
// copy of host/api and of the headers that it includes, as those of plugins in steps.h. What
// memmove moves, host/base and the libraries are not counted.
#include <cstdint>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "host/api/decode_testing.h"
#include "tests/work/linear.h"

namespace {
uint64_t g_steps = 0;
}  // namespace

// Called by every basic block of the counted copy.
extern "C" void __sanitizer_cov_trace_pc() { ++g_steps; }

namespace berth::host {
namespace {

// A part of an object that has any number of elements.
struct Field {
  const char* name;
  bool is_node;
  const char* part;     // "metadata", "spec" or "status".
  const char* open;     // The text before the elements.
  const char* element;  // The text of each; # stands for its number, from 1 on.
  const char* close;    // The text after them.
};

void PrintTo(const Field& field, std::ostream* out) { *out << field.name; }

const Field kFields[] = {
    {"Labels", false, "metadata", "'labels':{", "'k#':'v#'", "}"},
    {"Annotations", false, "metadata", "'annotations':{", "'k#':'v#'", "}"},
    {"Owners", false, "metadata", "'ownerReferences':[", "{'kind':'K','name':'o#','uid':'u#'}",
     "]"},
    {"Containers", false, "spec", "'containers':[",
     "{'name':'c#','image':'i#','resources':{'requests':{'example.com/r#':'1','cpu':'1m'}}}", "]"},
    {"InitContainers", false, "spec", "'initContainers':[",
     "{'name':'c#','resources':{'requests':{'example.com/r#':'1','cpu':'1m'}}}", "]"},
    {"Sidecars", false, "spec", "'initContainers':[",
     "{'name':'c#','restartPolicy':'Always',"
     "'resources':{'requests':{'example.com/r#':'1','cpu':'1m'}}}",
     "]"},
    {"SidecarsBeforeInitContainers", false, "spec", "'initContainers':[",
     "{'name':'s#','restartPolicy':'Always','resources':{'requests':{'example.com/r#':'1'}}},"
     "{'name':'i#','resources':{'requests':{'example.com/r#':'2','cpu':'1m'}}}",
     "]"},
    {"ContainersWithoutRequests", false, "spec", "'containers':[", "{'name':'c#'}", "]"},
    {"Requests", false, "spec", "'containers':[{'name':'c','resources':{'requests':{",
     "'example.com/r#':'1'", "}}}]"},
    {"HugePages", false, "spec", "'resources':{'requests':{", "'hugepages-#Mi':'1'", "}}"},
    {"Overhead", false, "spec", "'overhead':{", "'example.com/r#':'1'", "}"},
    {"HostPorts", false, "spec", "'containers':[{'name':'c','ports':[",
     "{'containerPort':1,'hostPort':#}", "]}]"},
    {"VolumeMounts", false, "spec", "'containers':[{'name':'c','volumeMounts':[",
     "{'name':'v#','mountPath':'/v#','bindMountOptions':['noexec']}", "]}]"},
    {"Tolerations", false, "spec", "'tolerations':[", "{'key':'k#','operator':'Exists'}", "]"},
    {"NodeSelector", false, "spec", "'nodeSelector':{", "'k#':'v#'", "}"},
    {"NodeTerms", false, "spec",
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
     "{'nodeSelectorTerms':[",
     "{'matchExpressions':[{'key':'k#','operator':'Exists'}]}", "]}}}"},
    {"SelectorValues", false, "spec",
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
     "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k','operator':'In','values':[",
     "'v#'", "]}]}]}}}"},
    {"AntiAffinity", false, "spec",
     "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[",
     "{'topologyKey':'k#','labelSelector':{'matchLabels':{'l#':'v'}},'namespaces':['n#']}", "]}}"},
    {"SpreadConstraints", false, "spec", "'topologySpreadConstraints':[",
     "{'maxSkew':1,'topologyKey':'k#','whenUnsatisfiable':'DoNotSchedule',"
     "'labelSelector':{'matchLabels':{'l#':'v'}},'matchLabelKeys':['m#']}",
     "]"},
    {"Volumes", false, "spec", "'volumes':[",
     "{'name':'v#','persistentVolumeClaim':{'claimName':'c#'}}", "]"},
    {"ResourceClaims", false, "spec", "'resourceClaims':[",
     "{'name':'c#','resourceClaimName':'r#'}", "]"},
    {"Gates", false, "spec", "'schedulingGates':[", "{'name':'example.com/g#'}", "]"},
    {"Statuses", false, "status", "'containerStatuses':[",
     "{'name':'c#','resources':{'requests':{'example.com/r#':'1'}}}", "]"},
    {"Conditions", false, "status", "'conditions':[", "{'type':'T#','status':'True'}", "]"},
    {"Taints", true, "spec", "'taints':[", "{'key':'k#','value':'v#','effect':'NoSchedule'}", "]"},
    {"Images", true, "status", "'images':[", "{'names':['i#:1','i#:2'],'sizeBytes':#}", "]"},
    {"Allocatable", true, "status", "'allocatable':{", "'example.com/r#':'1'", "}"},
    {"Features", true, "status", "'declaredFeatures':[", "'F#'", "]"},
};

// Returns an object with `size` elements.
std::string TextOf(const Field& field, int size) {
  std::string list = field.open;
  for (int i = 1; i <= size; ++i) {
    if (i > 1) list += ',';
    for (const char* at = field.element; *at != '\0'; ++at) {
      *at == '#' ? list += std::to_string(i) : list += *at;
    }
  }
  list += field.close;
  const std::string part = field.part;
  std::string text = "{'metadata':{'name':'o'";
  if (part == "metadata") text += "," + list;
  return Json(text + "},'spec':{" + (part == "spec" ? list : "") + "},'status':{" +
              (part == "status" ? list : "") + "}}");
}

class DecodeWorkTest : public ::testing::TestWithParam<Field> {
 protected:
  uint64_t StepsOf(int size) {
    const std::string text = TextOf(GetParam(), size);
    const uint64_t before = g_steps;
    const Status status =
        GetParam().is_node ? decoder_.DecodeNode(text).status() : decoder_.DecodePod(text).status();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return g_steps - before;
  }

 private:
  Interner interner_;
  Decoder decoder_{interner_};
};

TEST_P(DecodeWorkTest, IsLinear) {
  testing::ExpectLinear(10'000, [this](int size) { return StepsOf(size); });
}

INSTANTIATE_TEST_SUITE_P(Fields, DecodeWorkTest, ::testing::ValuesIn(kFields),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace berth::host

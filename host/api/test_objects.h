// Decodes objects for tests of the host from short descriptions.
#ifndef BERTH_HOST_API_TEST_OBJECTS_H_
#define BERTH_HOST_API_TEST_OBJECTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/assert.h"
#include "host/base/interner.h"

namespace berth::host {

// A pod default/<name> with uid "uid-<name>".
struct TestPod {
  std::string name;
  std::string node = {};      // spec.nodeName; empty for a pending pod.
  std::string requests = {};  // The requests of its only container, such as "\"cpu\":\"100m\"".
  std::string spec = {};      // Further fields of its spec, such as "\"priority\":7".
  std::string meta = {};      // Further fields of its metadata.
  std::string status = {};    // The fields of its status.
  std::string ns = "default";
};

struct TestNode {
  std::string name;
  std::string allocatable = "\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"";
  std::string labels = {};  // "\"zone\":\"a\""
  std::string spec = {};
};

// Threading: one thread.
class TestObjects {
 public:
  TestObjects() : decoder_(interner_) {}

  Interner& interner() { return interner_; }

  PodRef Pod(const TestPod& pod) { return PodFrom(Json(pod)); }
  NodeRef Node(const TestNode& node) { return NodeFrom(Json(node)); }
  PodRef PodFrom(const std::string& json) { return Checked(decoder_.DecodePod(json), json); }
  NodeRef NodeFrom(const std::string& json) { return Checked(decoder_.DecodeNode(json), json); }
  ObjectRef ObjectFrom(const std::string& json) {
    return Checked(decoder_.DecodeObject(json), json);
  }

  static std::string Json(const TestPod& pod) {
    const std::string node = pod.node.empty() ? "" : ",\"nodeName\":\"" + pod.node + '"';
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + pod.name +
           R"(","namespace":")" + pod.ns + R"(","uid":"uid-)" + pod.name + '"' + More(pod.meta) +
           R"(},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{)" +
           pod.requests + "}}}]" + node + More(pod.spec) + R"(},"status":{)" + pod.status + "}}";
  }
  static std::string Json(const TestNode& node) {
    return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + node.name +
           R"(","uid":"uid-)" + node.name + R"(","labels":{)" + node.labels + R"(}},"spec":{)" +
           node.spec + R"(},"status":{"allocatable":{)" + node.allocatable + "}}}";
  }

 private:
  static std::string More(const std::string& fields) { return fields.empty() ? "" : "," + fields; }

  template <class T>
  static T Checked(Result<T> object, const std::string& json) {
    BERTH_ASSERT_MSG(object.ok(), "%s: %s", json.c_str(), object.status().ToString().c_str());
    return std::move(object).value();
  }

  Interner interner_;
  Decoder decoder_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_TEST_OBJECTS_H_

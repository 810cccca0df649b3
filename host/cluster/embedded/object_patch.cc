#include "host/cluster/embedded/object_patch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/strategic_merge.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

constexpr size_t kMaxErrorBytes = 256;

// The depth of the recursion is at most kMaxBodyDepth.
size_t DepthOf(const Json& value) {
  size_t depth = 0;
  for (const Json& member : value) {
    if (member.is_structured()) depth = std::max(depth, DepthOf(member));
  }
  return value.is_structured() ? depth + 1 : 0;
}

// Applies the operations of one JSON patch. The library applies each operation except tests, for
// which it compares the order of members too. This class refuses before what the library does not
// check: a parent that is no container, and the size and the depth of the result.
class JsonPatch {
 public:
  explicit JsonPatch(Json& object) : object_(object) {}

  Status Apply(const Json& operation) {
    for (const char* member : {"op", "path", "from"}) {
      const auto found = operation.find(member);
      if (found != operation.end() && !found->is_string()) {
        return Status::InvalidArgument(std::string("/") + member + ": expected a string, found " +
                                       QuotedJson(*found));
      }
    }
    // The library throws what is not a JSON pointer, and what it does not find.
    try {
      if (Status status = Check(operation); !status.ok()) return status;
      if (TextMember(operation, "op") == "test") return Test(operation);
      if (TextMember(operation, "op") == "move") return Move(operation);
      object_.patch_inplace(Json::array({operation}));
    } catch (const Json::exception& error) {
      return UnprocessableError(Truncate(error.what(), kMaxErrorBytes, " ..."));
    }
    return {};
  }

 private:
  Status Check(const Json& operation) {
    const std::string op = TextMember(operation, "op");
    const std::string path = TextMember(operation, "path");
    const bool adds = op == "add" || op == "copy" || op == "move";
    const Pointer to(path);
    if (adds ? !HasPlaceFor(to) : !object_.contains(to)) return NoPlace(path);
    if (op == "remove" && to.empty()) return UnprocessableError("the whole object is removed");
    const Json* value = nullptr;
    if (op == "copy" || op == "move") {
      const std::string from = TextMember(operation, "from");
      if (!object_.contains(Pointer(from))) return NoPlace(from);
      if (op == "move" && path.starts_with(from + "/")) {
        return UnprocessableError(Quoted(from) + " is moved into itself");
      }
      value = &object_.at(Pointer(from));
      copied_ += DumpJson(*value).size();
      if (copied_ > kMaxBodyBytes) {
        return Status::OutOfRange("the patch copies more than " + std::to_string(kMaxBodyBytes) +
                                  " bytes");
      }
    } else if (const auto found = operation.find("value"); found != operation.end()) {
      value = &*found;
    }
    const auto depth = static_cast<size_t>(std::ranges::count(path, '/'));
    if (op != "test" && value != nullptr && depth + DepthOf(*value) > kMaxBodyDepth) {
      return UnprocessableError("the result has more than " + std::to_string(kMaxBodyDepth) +
                                " levels of nested arrays and objects");
    }
    return {};
  }

  // A removal from an array moves the elements that follow, so that the target may be gone then.
  Status Move(const Json& operation) {
    const std::string from = TextMember(operation, "from");
    const std::string path = TextMember(operation, "path");
    const Json value = object_.at(Pointer(from));
    object_.patch_inplace(Json::array({{{"op", "remove"}, {"path", from}}}));
    if (!HasPlaceFor(Pointer(path))) return NoPlace(path);
    object_.patch_inplace(Json::array({{{"op", "add"}, {"path", path}, {"value", value}}}));
    return {};
  }

  // REQUIRES: the object has the place.
  Status Test(const Json& operation) const {
    const std::string path = TextMember(operation, "path");
    const auto value = operation.find("value");
    if (value == operation.end()) return UnprocessableError("a test has no value");
    if (AreEqual(object_.at(Pointer(path)), *value)) return {};
    return UnprocessableError("the test of " + Quoted(path) + " failed: expected " +
                              QuotedJson(*value) + ", found " +
                              QuotedJson(object_.at(Pointer(path))));
  }

  // Returns whether a value can be added there: the parent is an object or an array.
  bool HasPlaceFor(const Pointer& to) const {
    if (to.empty()) return true;
    const Pointer parent = to.parent_pointer();
    return object_.contains(parent) && object_.at(parent).is_structured();
  }

  static Status NoPlace(const std::string& path) {
    return UnprocessableError("the object has no " + Quoted(path));
  }

  Json& object_;
  size_t copied_ = 0;
};

Result<Json> ApplyJsonPatch(Json object, std::string_view body) {
  const Result<Json> operations = ParseArrayBody(body);
  if (!operations.ok()) return operations.status();
  if (operations->size() > kMaxPatchOperations) {
    return Status::OutOfRange("The allowed maximum operations in a JSON patch is " +
                              std::to_string(kMaxPatchOperations) + ", got " +
                              std::to_string(operations->size()));
  }
  for (const Json& operation : *operations) {
    if (!operation.is_object()) {
      return Status::InvalidArgument("/: expected operations, found " + QuotedJson(operation));
    }
  }
  JsonPatch patch(object);
  for (const Json& operation : *operations) {
    if (Status status = patch.Apply(operation); !status.ok()) return status;
  }
  if (!object.is_object()) return UnprocessableError("the result is not an object");
  return object;
}

}  // namespace

Result<Json> ApplyPatch(PatchType type, std::string_view kind, Json object, std::string_view body) {
  if (type == PatchType::kJson) return ApplyJsonPatch(std::move(object), body);
  Result<Json> patch = ParseBody(body);
  if (!patch.ok()) return patch;
  if (type == PatchType::kStrategicMerge) {
    return StrategicMerge(kind, std::move(object), *std::move(patch));
  }
  object.merge_patch(*patch);
  return object;
}

}  // namespace berth::host

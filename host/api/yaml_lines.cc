#include <cstddef>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>

#include "host/api/json_syntax.h"
#include "host/api/yaml.h"
#include "host/api/yaml_text.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

// Follows the events of the parser and records the lines of the nodes on the way to each place.
class LineFinder : public YAML::EventHandler {
 public:
  explicit LineFinder(std::span<const YamlPlace> places) {
    targets_.reserve(places.size());
    for (const YamlPlace& place : places) {
      targets_.push_back({place.document_line, SegmentsOf(place.pointer), place.document_line});
    }
  }

  std::vector<int32_t> Lines() const {
    std::vector<int32_t> lines;
    lines.reserve(targets_.size());
    for (const Target& target : targets_) lines.push_back(target.line);
    return lines;
  }

  void OnDocumentStart(const YAML::Mark&) override { collections_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Visit(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Visit(mark, ""); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    Visit(mark, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Begin(mark);
    collections_.push_back({});
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Begin(mark);
    collections_.push_back({.is_mapping = true, .expects_key = true, .index = 0, .key = ""});
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Target {
    int32_t document_line;
    std::vector<std::string> segments;
    int32_t line;
  };
  // An open mapping or sequence.
  struct Collection {
    bool is_mapping = false;
    bool expects_key = false;
    size_t index = 0;  // The index of the current element of a sequence.
    std::string key;   // The key of the current value of a mapping.

    std::string Segment() const { return is_mapping ? key : std::to_string(index); }
  };

  // Visits a node that is no collection: a key, an element or a value.
  void Visit(const YAML::Mark& mark, const std::string& text) {
    if (!collections_.empty() && collections_.back().expects_key) {
      collections_.back().key = text;
      collections_.back().expects_key = false;
      return;
    }
    Begin(mark);
    End();
  }

  void Begin(const YAML::Mark& mark) {
    const int32_t line = mark.line + 1;
    if (collections_.empty()) document_line_ = line;
    for (Target& target : targets_) {
      if (target.document_line == document_line_ && IsOnTheWay(target)) target.line = line;
    }
  }

  // Returns true if the path to the current node is a prefix of the path to the target.
  bool IsOnTheWay(const Target& target) const {
    if (collections_.size() > target.segments.size()) return false;
    for (size_t i = collections_.size(); i > 0; --i) {
      if (collections_[i - 1].Segment() != target.segments[i - 1]) return false;
    }
    return true;
  }

  void End() {
    if (collections_.empty()) return;
    Collection& parent = collections_.back();
    parent.expects_key = parent.is_mapping;
    ++parent.index;
  }

  void Close() {
    collections_.pop_back();
    End();
  }

  std::vector<Target> targets_;
  std::vector<Collection> collections_;
  int32_t document_line_ = 0;
};

}  // namespace

std::vector<int32_t> FindYamlLines(std::string_view text, std::span<const YamlPlace> places) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  LineFinder finder(places);
  try {
    ParseYaml(text, finder);
  } catch (const YAML::Exception& error) {
    BERTH_ASSERT_MSG(false, "the text was converted before: %s", error.what());
  }
  return finder.Lines();
}

}  // namespace berth::host

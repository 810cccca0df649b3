#include "host/api/yaml.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <unordered_set>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>

#include "host/api/json_syntax.h"
#include "host/api/yaml_text.h"
#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

// Carries an error out of the parser's callbacks. YamlToJson() catches it.
class ConversionError : public std::exception {
 public:
  explicit ConversionError(Status status) : status_(std::move(status)) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return "the YAML text was rejected"; }

 private:
  Status status_;
};

[[noreturn]] void Reject(ErrorCode code, const YAML::Mark& mark, std::string_view message) {
  throw ConversionError(AtPlace(code, int64_t{mark.line} + 1, int64_t{mark.column} + 1, message));
}

bool IsCoreTag(std::string_view tag, std::string_view name) {
  return tag.starts_with(kTagPrefix) && tag.substr(kTagPrefix.size()) == name;
}

// Writes the events of the parser as JSON. It stores the JSON text of anchored nodes for aliases.
class JsonWriter : public YAML::EventHandler {
 public:
  JsonWriter(std::string_view text, const YamlLimits& limits) : text_(text), limits_(limits) {}

  std::vector<JsonDocument> TakeDocuments() { return std::move(documents_); }

  // Called after the last document. yaml-cpp accepts the end of the text as the end of a quoted
  // scalar if there is a line break before it, but a truncated manifest must not be accepted.
  void CheckEnd() const {
    constexpr std::string_view kBlanks = " \t\r\n";
    size_t at = static_cast<size_t>(last_scalar_.pos);
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
      at = text_.find_first_not_of(kBlanks, text_.find_first_of(kBlanks, at));
    }
    const char quote = at < text_.size() ? text_[at] : '\0';
    if (quote != '"' && quote != '\'') return;
    for (++at; at < text_.size(); ++at) {
      const bool escape = quote == '"' ? text_[at] == '\\' : text_.substr(at, 2) == "''";
      if (escape) {
        ++at;
      } else if (text_[at] == quote) {
        return;
      }
    }
    Reject(ErrorCode::kInvalidArgument, last_scalar_, "the quoted scalar has no closing quote");
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    CheckDocumentStart(mark);
    json_.clear();
    anchors_.clear();
    root_line_ = 0;
  }

  void OnDocumentEnd() override {
    BERTH_ASSERT(frames_.empty());
    json_bytes_ += json_.size();
    if (json_ != "null") documents_.push_back({std::move(json_), root_line_});
    json_.clear();
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (ExpectsKey()) Reject(ErrorCode::kInvalidArgument, mark, "the key is null");
    const size_t begin = BeginValue(mark);
    json_ += "null";
    EndValue({mark, begin, anchor, 1, 0});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    last_scalar_ = mark;
    if (ExpectsKey()) return AddKey(mark, tag, anchor, value);
    const size_t begin = BeginValue(mark);
    AppendScalar(mark, tag, value);
    EndValue({mark, begin, anchor, 1, 0});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t id) override {
    const Anchor* anchor = id < anchors_.size() ? &anchors_[id] : nullptr;
    if (anchor == nullptr || anchor->json.empty()) {
      Reject(ErrorCode::kInvalidArgument, mark, "the alias refers to the node that contains it");
    }
    ++aliases_;
    alias_nodes_ += anchor->nodes;
    CheckExpansion(mark, anchor->json.size());
    if (ExpectsKey()) return AddAliasKey(mark, *anchor);
    CheckDepth(mark, anchor->height);
    const size_t begin = BeginValue(mark);
    json_ += anchor->json;
    EndValue({mark, begin, 0, 0, anchor->height});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, "seq", anchor);
    json_ += '[';
  }

  void OnSequenceEnd() override {
    json_ += ']';
    Close();
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, "map", anchor);
    frames_.back().mapping = true;
    frames_.back().expects_key = true;
    json_ += '{';
  }

  void OnMapEnd() override {
    for (const std::string& merge : std::exchange(frames_.back().merges, {})) AppendMerge(merge);
    json_ += '}';
    Close();
  }

 private:
  struct Anchor {
    std::string json;  // Empty until its node is complete.
    uint64_t nodes = 0;
    uint32_t height = 0;
  };

  // A complete node: the offset of its JSON text, and its size in nodes.
  struct Value {
    YAML::Mark mark;
    size_t begin = 0;
    YAML::anchor_t anchor = 0;
    uint64_t nodes = 0;   // Includes the node itself; 0 for an alias, see alias_nodes_.
    uint32_t height = 0;  // The levels of nested collections, including the node itself.
  };

  // An open mapping or sequence.
  struct Frame {
    YAML::Mark mark;
    size_t begin = 0;
    YAML::anchor_t anchor = 0;
    uint64_t nodes_before = 0;
    uint32_t height = 0;  // The largest height of a child.
    bool mapping = false;
    bool expects_key = false;
    bool merging = false;  // Whether the next value is the value of "<<".
    size_t first_key = 0;  // The index of the first key of this mapping in keys_.
    std::unordered_set<std::string> many_keys;
    std::vector<std::string> merges;
  };

  // A key of an open mapping: its position in json_, including the quotes.
  struct Key {
    uint64_t hash;
    size_t begin;
    size_t size;
  };

  // Up to this many keys of a mapping are searched one by one; more keys are stored in a set.
  static constexpr size_t kFewKeys = 32;

  bool ExpectsKey() const { return !frames_.empty() && frames_.back().expects_key; }

  // yaml-cpp begins a new document after the end of the previous one. YAML requires "---" there,
  // unless the previous document was ended by "...".
  void CheckDocumentStart(const YAML::Mark& mark) {
    const bool first = !std::exchange(seen_document_, true);
    const size_t at = static_cast<size_t>(mark.pos);
    if (first || text_.substr(at, 3) == "---") return;
    std::string_view before = text_.substr(0, std::min(at, text_.size()));
    while (!before.empty()) {
      const size_t line_begin = before.rfind('\n', before.size() - 1) + 1;
      std::string_view line = before.substr(line_begin);
      if (line.starts_with("...")) return;
      line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
      if (!line.empty() && line[0] != '#') break;
      before = before.substr(0, line_begin == 0 ? 0 : line_begin - 1);
    }
    Reject(ErrorCode::kInvalidArgument, mark,
           "expected the end of the document, or --- before the next document");
  }

  void CheckDepth(const YAML::Mark& mark, uint32_t more) const {
    if (frames_.size() + more <= limits_.max_depth) return;
    Reject(ErrorCode::kOutOfRange, mark,
           "expected at most " + std::to_string(limits_.max_depth) +
               " levels of nested mappings and sequences");
  }

  void CheckNodes(const YAML::Mark& mark) const {
    if (nodes_ + alias_nodes_ <= limits_.max_nodes) return;
    Reject(ErrorCode::kOutOfRange, mark,
           "expected at most " + std::to_string(limits_.max_nodes) + " nodes");
  }

  // Called before `bytes` are copied for an alias or an anchor.
  void CheckExpansion(const YAML::Mark& mark, size_t bytes) {
    CheckNodes(mark);
    if (alias_nodes_ > limits_.free_alias_nodes &&
        alias_nodes_ / limits_.max_alias_ratio > nodes_ + aliases_) {
      Reject(ErrorCode::kOutOfRange, mark,
             "expected fewer aliases: they expand to more than " +
                 std::to_string(limits_.max_alias_ratio) + " times the nodes of the text");
    }
    copied_bytes_ += bytes;
    if (copied_bytes_ + json_bytes_ + json_.size() > limits_.max_json_bytes) {
      Reject(ErrorCode::kOutOfRange, mark,
             "expected at most " + std::to_string(limits_.max_json_bytes) +
                 " bytes of JSON after expanding aliases");
    }
  }

  size_t BeginValue(const YAML::Mark& mark) {
    if (frames_.empty()) {
      root_line_ = mark.line + 1;
    } else if (!frames_.back().mapping && json_.back() != '[') {
      json_ += ',';
    }
    return json_.size();
  }

  void EndValue(const Value& value) {
    nodes_ += value.nodes;
    CheckNodes(value.mark);
    if (value.anchor != 0) StoreAnchor(value, json_.substr(value.begin));
    FinishInParent(value);
  }

  void FinishInParent(const Value& value) {
    if (frames_.empty()) return;
    Frame& parent = frames_.back();
    parent.height = std::max(parent.height, value.height);
    if (!parent.mapping) return;
    if (std::exchange(parent.merging, false)) TakeMerge(parent, value);
    parent.expects_key = true;
  }

  void StoreAnchor(const Value& value, std::string json) {
    CheckExpansion(value.mark, json.size());
    if (anchors_.size() <= value.anchor) anchors_.resize(value.anchor + 1);
    anchors_[value.anchor] = {std::move(json), value.nodes, value.height};
  }

  void Open(const YAML::Mark& mark, const std::string& tag, std::string_view kind,
            YAML::anchor_t anchor) {
    if (ExpectsKey()) Reject(ErrorCode::kUnsupported, mark, "expected a scalar as the key");
    const bool plain = tag.empty() || tag == "?" || tag == "!";
    if (!plain && !IsCoreTag(tag, kind)) RejectTag(mark, tag);
    CheckDepth(mark, 1);
    Frame frame;
    frame.mark = mark;
    frame.begin = BeginValue(mark);
    frame.anchor = anchor;
    frame.nodes_before = nodes_ + alias_nodes_;
    frame.first_key = keys_.size();
    frames_.push_back(std::move(frame));
  }

  void Close() {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    keys_.resize(frame.first_key);
    ++nodes_;
    CheckNodes(frame.mark);
    const uint64_t nodes = nodes_ + alias_nodes_ - frame.nodes_before;
    const Value value = {frame.mark, frame.begin, frame.anchor, nodes, frame.height + 1};
    if (frame.anchor != 0) StoreAnchor(value, json_.substr(frame.begin));
    FinishInParent(value);
  }

  [[noreturn]] static void RejectTag(const YAML::Mark& mark, const std::string& tag) {
    Reject(ErrorCode::kUnsupported, mark, "the tag " + Quoted(tag) + " is not supported here");
  }

  ScalarKind Resolve(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    if (tag == "!") return ScalarKind::kString;
    const bool plain = tag.empty() || tag == "?";
    if (!plain && !tag.starts_with(kTagPrefix)) RejectTag(mark, tag);
    const std::string_view name =
        plain ? std::string_view() : std::string_view(tag).substr(kTagPrefix.size());
    if (name == "str" || name == "timestamp") return ScalarKind::kString;
    const ScalarKind kind = ResolvePlainScalar(value, scalar_);
    if (kind == ScalarKind::kNotFinite) {
      Reject(ErrorCode::kInvalidArgument, mark, "JSON cannot represent " + Quoted(value));
    }
    if (kind == ScalarKind::kTooLarge) {
      Reject(ErrorCode::kInvalidArgument, mark, Quoted(value) + " does not fit in 64 bits");
    }
    if (plain) return kind;
    const std::optional<bool> fits = FitsTag(name, kind);
    if (!fits) RejectTag(mark, tag);
    if (!*fits) {
      Reject(
          ErrorCode::kInvalidArgument, mark,
          "expected a value of the tag's type " + std::string(name) + ", found " + Quoted(value));
    }
    return kind;
  }

  static std::optional<bool> FitsTag(std::string_view name, ScalarKind kind) {
    if (name == "null") return kind == ScalarKind::kNull;
    if (name == "bool") return kind == ScalarKind::kBool;
    if (name == "int") return kind == ScalarKind::kInt;
    if (name == "float") return kind == ScalarKind::kFloat || kind == ScalarKind::kInt;
    return std::nullopt;
  }

  void AppendScalar(const YAML::Mark& mark, const std::string& tag, const std::string& value) {
    if (Resolve(mark, tag, value) == ScalarKind::kString) {
      AppendJsonString(value, json_);
    } else {
      json_ += scalar_;
    }
  }

  void AddKey(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              const std::string& value) {
    if (value == "<<" && (tag == "?" || IsCoreTag(tag, "merge"))) return BeginMerge();
    const ScalarKind kind = Resolve(mark, tag, value);
    if (kind == ScalarKind::kNull) Reject(ErrorCode::kInvalidArgument, mark, "the key is null");
    ++nodes_;
    std::string text;
    AppendJsonString(kind == ScalarKind::kString ? value : scalar_, text);
    if (anchor != 0) {
      const std::string& json = kind == ScalarKind::kString ? text : scalar_;
      StoreAnchor({mark, 0, anchor, 1, 0}, json);
    }
    WriteKey(mark, text);
  }

  void AddAliasKey(const YAML::Mark& mark, const Anchor& anchor) {
    if (anchor.height != 0) Reject(ErrorCode::kUnsupported, mark, "expected a scalar as the key");
    if (anchor.json == "null") Reject(ErrorCode::kInvalidArgument, mark, "the key is null");
    WriteKey(mark, anchor.json[0] == '"' ? anchor.json : '"' + anchor.json + '"');
  }

  void WriteKey(const YAML::Mark& mark, const std::string& key) {
    if (!AddDistinctKey(key)) {
      Reject(ErrorCode::kInvalidArgument, mark,
             "the key " + key.substr(0, 80) + " occurs twice in this mapping");
    }
    frames_.back().expects_key = false;
  }

  // Appends `"key":`, or returns false if the mapping contains `key`, which includes its quotes.
  bool AddDistinctKey(const std::string& key) {
    Frame& frame = frames_.back();
    const uint64_t hash = HashBytes(key);
    if (HasKey(frame, key, hash)) return false;
    if (json_.back() != '{') json_ += ',';
    keys_.push_back({hash, json_.size(), key.size()});
    json_.append(key).append(1, ':');
    if (!frame.many_keys.empty()) {
      frame.many_keys.insert(key);
    } else if (keys_.size() - frame.first_key > kFewKeys) {
      for (size_t i = frame.first_key; i < keys_.size(); ++i) {
        frame.many_keys.emplace(json_, keys_[i].begin, keys_[i].size);
      }
    }
    return true;
  }

  bool HasKey(const Frame& frame, const std::string& key, uint64_t hash) const {
    if (!frame.many_keys.empty()) return frame.many_keys.contains(key);
    for (size_t i = frame.first_key; i < keys_.size(); ++i) {
      const Key& known = keys_[i];
      if (known.hash == hash && json_.compare(known.begin, known.size, key) == 0) return true;
    }
    return false;
  }

  void BeginMerge() {
    frames_.back().merging = true;
    frames_.back().expects_key = false;
  }

  // Moves the value of "<<" out of the JSON text, to write it after the mapping's own keys.
  void TakeMerge(Frame& frame, const Value& value) {
    std::string merge = json_.substr(value.begin);
    json_.resize(value.begin);
    bool mappings = merge[0] == '{';
    if (merge[0] == '[') {
      mappings = true;
      for (size_t at = 1; merge[at] != ']';) {
        mappings = mappings && merge[at] == '{';
        at = SkipValue(merge, at);
        at += merge[at] == ',';
      }
    }
    if (!mappings) {
      Reject(ErrorCode::kInvalidArgument, value.mark,
             "expected a mapping, or a sequence of mappings, after <<");
    }
    frame.merges.push_back(std::move(merge));
  }

  void AppendMerge(std::string_view merge) {
    if (merge[0] == '{') return AppendMissingPairs(merge);
    for (size_t at = 1; merge[at] != ']';) {
      const size_t end = SkipValue(merge, at);
      AppendMissingPairs(merge.substr(at, end - at));
      at = end + (merge[end] == ',');
    }
  }

  void AppendMissingPairs(std::string_view mapping) {
    for (size_t at = 1; mapping[at] != '}';) {
      const size_t key_end = SkipValue(mapping, at);
      const size_t value_end = SkipValue(mapping, key_end + 1);
      if (AddDistinctKey(std::string(mapping.substr(at, key_end - at)))) {
        json_.append(mapping, key_end + 1, value_end - key_end - 1);
      }
      at = value_end + (mapping[value_end] == ',');
    }
  }

  std::string_view text_;
  const YamlLimits& limits_;
  std::vector<JsonDocument> documents_;
  std::string json_;
  std::string scalar_;
  YAML::Mark last_scalar_;
  std::vector<Frame> frames_;
  std::vector<Key> keys_;
  std::vector<Anchor> anchors_;  // Indexed by yaml-cpp's anchor id, which starts at 1 per document.
  int32_t root_line_ = 0;
  bool seen_document_ = false;
  uint64_t nodes_ = 0;
  uint64_t aliases_ = 0;
  uint64_t alias_nodes_ = 0;
  size_t json_bytes_ = 0;
  size_t copied_bytes_ = 0;
};

}  // namespace

Result<std::vector<JsonDocument>> YamlToJson(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return AtPlace(ErrorCode::kOutOfRange, 1, 1,
                   "expected at most " + std::to_string(limits.max_bytes) + " bytes, found " +
                       std::to_string(text.size()));
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (Status status = CheckCharacters(text); !status.ok()) return status;
  JsonWriter writer(text, limits);
  try {
    ParseYaml(text, writer);
    writer.CheckEnd();
  } catch (const ConversionError& error) {
    return error.status();
  } catch (const YAML::Exception& e) {
    return AtPlace(ErrorCode::kInvalidArgument, int64_t{e.mark.line} + 1,
                   int64_t{e.mark.column} + 1, e.msg);
  }
  return writer.TakeDocuments();
}

}  // namespace berth::host

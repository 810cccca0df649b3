#include "tests/harness/api_server/api_model.h"

#include <algorithm>
#include <charconv>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/stored_objects.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "tests/harness/api_server/model_answers.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxServed = 10'000;
constexpr size_t kMaxRevisions = 20'000;

bool HasNotedText(std::string_view kind) { return kind == kPodKind || kind == kNodeKind; }

// Returns the text of an object with its kind and apiVersion.
std::string WithKind(std::string_view text, std::string_view kind) {
  std::string object = R"({"kind":")";
  object.append(ShortKindOf(kind)).append(R"(","apiVersion":")").append(GroupVersionOf(kind));
  return object.append("\",").append(text.substr(1));
}

std::string WatchLineOf(std::string_view type, std::string_view object) {
  return std::string(R"({"type":")").append(type).append(R"(","object":)").append(object) + "}\n";
}

const char* TypeName(WatchType type) {
  switch (type) {
    case WatchType::kAdded: return "ADDED";
    case WatchType::kDeleted: return "DELETED";
    default: return "MODIFIED";
  }
}

Json ConditionsOf(const Pod& pod, std::string_view scheduled_message) {
  Json conditions = Json::array();
  for (const auto& condition : Elements<berth_condition>(pod.view().conditions)) {
    Json json = {{"type", pod.Name(condition.type)},
                 {"status", ConditionStatusName(condition.status)},
                 {"reason", pod.Name(condition.reason)}};
    if (pod.Name(condition.type) == "PodScheduled") json["message"] = scheduled_message;
    if (condition.transition_ns != 0) {
      json["lastTransitionTime"] = FormatTime(condition.transition_ns / kSecond * kSecond);
    }
    conditions.push_back(std::move(json));
  }
  return conditions;
}

void SetText(Json& json, const char* key, std::string_view value) {
  if (value.empty()) {
    json.erase(key);
  } else {
    json[key] = value;
  }
}

// Writes the fields of a pod that the cluster determines.
void WritePod(const Pod& pod, std::string_view scheduled_message, Json& json) {
  if (!json["spec"].is_object()) json["spec"] = Json::object();
  SetText(json["spec"], "nodeName", pod.node_name());
  Json& status = json["status"];
  if (!status.is_object()) status = Json::object();
  SetText(status, "nominatedNodeName", pod.nominated_node());
  status["conditions"] = ConditionsOf(pod, scheduled_message);
}

HttpResponse TooLargeAnswer(uint64_t wanted, uint64_t found) {
  return StatusAnswer(504, "Timeout",
                      "Too large resource version: " + std::to_string(wanted) +
                          ", current: " + std::to_string(found),
                      "ResourceVersionTooLarge");
}

std::string ExpiredText(uint64_t wanted, uint64_t found) {
  return StatusText(
      410, "Expired",
      "too old resource version: " + std::to_string(wanted) + " (" + std::to_string(found) + ")");
}

// Splits a token such as "12:default/web-0" into the revision and the last key of the page.
std::pair<uint64_t, std::string> ReadToken(std::string_view token) {
  uint64_t revision = 0;
  std::from_chars(token.data(), token.data() + token.size(), revision);
  const size_t colon = token.find(':');
  return {revision, colon == token.npos ? "" : std::string(token.substr(colon + 1))};
}

// Returns the parameter that the model does not serve; empty if there is none.
std::string UnsupportedSelector(const ModelQuery& query, std::string_view kind) {
  if (query.Has("labelSelector")) return "labelSelector";
  const std::string& fields = query.Get("fieldSelector");
  const bool may_be = fields.empty() || (kind == kPodKind && fields == kActivePods);
  return may_be ? "" : "fieldSelector";
}

HttpResponse SelectorAnswer(const std::string& name) {
  return StatusAnswer(400, "BadRequest", "the model does not serve this " + name);
}

}  // namespace

ApiModel::ApiModel(EmbeddedCluster& cluster, Decoder& decoder, Options options)
    : cluster_(cluster),
      api_(cluster, decoder),
      options_(std::move(options)),
      access_(options_.user, options_.allows),
      events_(cluster),
      leases_(cluster) {
  for (const ServedKind& kind : options_.kinds) {
    histories_[kind.kind] = std::make_unique<ObjectHistory>(
        cluster, cluster.clock(), kind.kind, options_.watch_window,
        [this](const AnyObject& object) { return Compose(object); });
  }
  Sync();
}

ApiModel::~ApiModel() = default;

// ---- Changes that a test makes ------------------------------------------------------------------

void ApiModel::Note(const Json& object) {
  Sync();
  NoteText(object.value("apiVersion", "") + "/" + object.value("kind", ""), object);
}

void ApiModel::NoteText(std::string_view kind, const Json& object) {
  if (!HasNotedText(kind)) return;
  const Json& metadata = object.at("metadata");
  const std::string ns = kind == kPodKind ? metadata.value("namespace", "default") : "";
  std::string key(kind);
  key.append(" ").append(ObjectKey(ns, metadata.value("name", "")));
  Json& noted = texts_[std::move(key)] = object;
  noted.erase("kind");
  noted.erase("apiVersion");
}

std::string ApiModel::Compose(const AnyObject& object) {
  if (const ObjectRef* other = std::get_if<ObjectRef>(&object)) {
    Json json = ToJson(**other);
    json.erase("kind");
    json.erase("apiVersion");
    return DumpJson(json);
  }
  const ObjectBase& base = Base(object);
  const auto noted = texts_.find(std::string(KindOf(object)) + " " + base.Key());
  BERTH_ASSERT_MSG(noted != texts_.end(), "the text of %s was not noted", base.Key().c_str());
  Json json = noted->second;
  WriteServerMeta(base, json);
  if (const PodRef* pod = std::get_if<PodRef>(&object)) {
    WritePod(**pod, cluster_.PodScheduledMessage(base.ns(), base.name()), json);
  }
  return DumpJson(json);
}

void ApiModel::Sync() {
  cluster_.Deliver();
  const uint64_t revision = cluster_.resource_version();
  if (!revisions_.empty() && revisions_.back().second == revision) return;
  revisions_.emplace_back(NowNs(), revision);
  if (revisions_.size() > kMaxRevisions) revisions_.pop_front();
  // A listener may end itself.
  const auto listeners = listeners_;
  for (const auto& [id, listener] : listeners) listener();
}

std::function<void()> ApiModel::Listen(std::function<void()> listener) {
  const uint64_t id = ++last_listener_;
  listeners_[id] = std::move(listener);
  return [this, id] { listeners_.erase(id); };
}

void ApiModel::Compact() {
  Sync();
  for (const auto& [kind, history] : histories_) history->Compact(cluster_.resource_version());
}

uint64_t ApiModel::ViewAfter(int64_t lag_ns) const {
  if (lag_ns <= 0) return kCurrent;
  const auto at = std::ranges::upper_bound(revisions_, NowNs() - lag_ns, {},
                                           [](const auto& entry) { return entry.first; });
  return at == revisions_.begin() ? 0 : std::prev(at)->second;
}

// ---- Requests -----------------------------------------------------------------------------------

HttpResponse ApiModel::Serve(const HttpRequest& request, uint64_t view) {
  Sync();
  HttpResponse response = Route(request, view);
  Sync();
  served_.push_back({request.verb, request.target, response.head.http_status, NowNs()});
  if (served_.size() > kMaxServed) served_.pop_front();
  response.head.date_ns = NowNs() / kSecond * kSecond;
  return response;
}

HttpResponse ApiModel::Route(const HttpRequest& request, uint64_t view) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (request.verb == "GET") {
    if (std::optional<HttpResponse> answer = ServeDiscovery(path)) return *std::move(answer);
  }
  const Result<ApiPath> parsed = ApiPath::Parse(request.target);
  if (!parsed.ok()) return ErrorAnswer(parsed.status(), {});
  if (parsed->group_version == "authorization.k8s.io/v1" ||
      parsed->group_version == "authentication.k8s.io/v1") {
    return access_.Review(request, *parsed);
  }
  if (std::optional<HttpResponse> refusal = access_.Refusal(request, *parsed))
    return *std::move(refusal);
  if (parsed->IsPathOf(ModelEvents::kKind)) return events_.Serve(request, *parsed);
  if (parsed->IsPathOf(ModelLeases::kKind)) return leases_.Serve(request, *parsed);
  return ServeResource(request, *parsed, view);
}

HttpResponse ApiModel::ServeResource(const HttpRequest& request, const ApiPath& path,
                                     uint64_t view) {
  const ServedKind* kind = KindAt(path);
  if (kind == nullptr) return ErrorAnswer(NoResourceError(), path);
  const bool is_pod = kind->kind == kPodKind;
  if (request.verb == "GET" && path.name.empty()) {
    const ModelQuery query(path.query);
    const std::string unsupported = UnsupportedSelector(query, kind->kind);
    if (!unsupported.empty()) return SelectorAnswer(unsupported);
    return is_pod && !query.Has("fieldSelector") ? AllPods(path) : ListOf(path, *kind, view);
  }
  if (request.verb == "GET") return GetOne(path, *kind);
  if (is_pod && request.verb == "POST" && path.subresource == "binding") return Bind(request, path);
  return Write(request, path, *kind);
}

std::optional<HttpResponse> ApiModel::ServeDiscovery(std::string_view path) const {
  if (path == "/livez" || path == "/readyz" || path == "/healthz") return JsonAnswer(200, "ok");
  if (path == "/version") {
    return JsonAnswer(200, DumpJson(Json{{"major", "1"},
                                         {"minor", options_.version.substr(3, 2)},
                                         {"gitVersion", options_.version}}));
  }
  const bool is_core = path == "/api/v1";
  if (!is_core && !path.starts_with("/apis/")) return std::nullopt;
  const std::string_view group_version = path.substr(is_core ? 5 : 6);
  if (!is_core && std::ranges::count(group_version, '/') != 1) return std::nullopt;
  std::vector<ServedKind> kinds;
  for (const ServedKind& kind : options_.kinds) {
    if (HistoryOf(kind).is_served()) kinds.push_back(kind);
  }
  std::optional<std::string> text = ResourceListText(kinds, group_version);
  if (!text) return std::nullopt;
  return JsonAnswer(200, *std::move(text));
}

// ---- Lists --------------------------------------------------------------------------------------

HttpResponse ApiModel::ListOf(const ApiPath& path, const ServedKind& kind, uint64_t view) {
  const ModelQuery query(path.query);
  const ObjectHistory& history = HistoryOf(kind);
  const uint64_t current = cluster_.resource_version();
  const auto [token_revision, after] = ReadToken(query.Get("continue"));
  const uint64_t wanted = query.Number("resourceVersion").value_or(0);
  uint64_t revision = current;
  if (query.Has("continue") || query.Get("resourceVersionMatch") == "Exact") {
    revision = query.Has("continue") ? token_revision : wanted;
    if (revision < history.oldest()) {
      return JsonAnswer(410, ExpiredText(revision, history.oldest()));
    }
  } else if (query.Has("resourceVersion")) {
    revision = std::clamp(view, history.oldest(), current);
    if (wanted > revision) return TooLargeAnswer(wanted, revision);
  }
  const ObjectHistory::State state = history.At(revision);
  const size_t limit = query.Number("limit").value_or(0);
  const std::string prefix = path.ns.empty() ? "" : path.ns + "/";
  std::string items;
  std::string last;
  size_t count = 0;
  bool has_more = false;
  for (auto at = after.empty() ? state.begin() : state.upper_bound(after); at != state.end();
       ++at) {
    if (!at->first.starts_with(prefix)) continue;
    has_more = limit > 0 && count == limit;
    if (has_more) break;
    if (count++ > 0) items.push_back(',');
    items.append(*at->second);
    last = at->first;
  }
  Json metadata = {{"resourceVersion", std::to_string(revision)}};
  if (has_more) metadata["continue"] = std::to_string(revision) + ":" + last;
  std::string body = R"({"kind":")";
  body.append(ShortKindOf(kind.kind)).append(R"(List","apiVersion":")");
  body.append(path.group_version).append(R"(","metadata":)").append(DumpJson(metadata));
  return JsonAnswer(200, body.append(R"(,"items":[)").append(items).append("]}"));
}

HttpResponse ApiModel::AllPods(const ApiPath& path) {
  std::string items;
  for (const AnyObject& object : cluster_.List(kPodKind)) {
    if (!path.ns.empty() && Base(object).ns() != path.ns) continue;
    if (!items.empty()) items.push_back(',');
    items.append(Compose(object));
  }
  const std::string revision = std::to_string(cluster_.resource_version());
  return JsonAnswer(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                             revision + R"("},"items":[)" + items + "]}");
}

HttpResponse ApiModel::GetOne(const ApiPath& path, const ServedKind& kind) {
  if (!path.subresource.empty() && path.subresource != "status") {
    return ErrorAnswer(NoResourceError(), path);
  }
  const std::optional<AnyObject> object = cluster_.Find(kind.kind, path.ns, path.name);
  if (!object) return ErrorAnswer(NotFoundError(kind.kind, path.name), path);
  return JsonAnswer(200, WithKind(Compose(*object), kind.kind));
}

// ---- Writes -------------------------------------------------------------------------------------

HttpResponse ApiModel::Bind(const HttpRequest& request, const ApiPath& path) {
  const Result<Json> body = ParseBody(request.body);
  if (!body.ok()) return ErrorAnswer(body.status(), path);
  const auto text_at = [&body](const char* object, const char* key) -> std::string {
    const auto found = body->find(object);
    if (found == body->end() || !found->is_object()) return "";
    const auto value = found->find(key);
    return value != found->end() && value->is_string() ? value->get<std::string>() : "";
  };
  const std::string uid = text_at("metadata", "uid");
  const std::string node = text_at("target", "name");
  const auto status = AnswerNow<Status>(cluster_, [&](StatusCallback done) {
    cluster_.Bind({path.ns, path.name, uid}, node, std::move(done));
  });
  if (!status.ok()) return ErrorAnswer(status, path);
  return JsonAnswer(201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success",)"
                         R"("code":201})");
}

HttpResponse ApiModel::Write(const HttpRequest& request, const ApiPath& path,
                             const ServedKind& kind) {
  const ApiResponse answer = api_.Serve({.verb = request.verb,
                                         .path = request.target,
                                         .body = request.body,
                                         .content_type = std::string(request.content_type)});
  const bool is_object = request.verb == "POST" || request.verb == "PUT";
  if (answer.status.ok() && is_object && path.subresource.empty()) {
    NoteText(kind.kind, ParseOrderedJson(answer.body));
  }
  return JsonAnswer(answer.http_status, answer.body);
}

// ---- Watches ------------------------------------------------------------------------------------

bool ApiModel::IsWatch(const HttpRequest& request) {
  const size_t query = request.target.find('?');
  if (request.verb != "GET" || query == std::string::npos) return false;
  return ModelQuery(std::string_view(request.target).substr(query + 1)).IsTrue("watch");
}

std::unique_ptr<ApiModel::OpenWatch> ApiModel::StartWatch(const HttpRequest& request, uint64_t view,
                                                          HttpResponse& refusal) {
  Sync();
  const Result<ApiPath> path = ApiPath::Parse(request.target);
  const ServedKind* kind = path.ok() ? KindAt(*path) : nullptr;
  const auto refuse = [&](HttpResponse answer) -> std::unique_ptr<OpenWatch> {
    served_.push_back({request.verb, request.target, answer.head.http_status, NowNs()});
    refusal = std::move(answer);
    return nullptr;
  };
  if (kind == nullptr) return refuse(ErrorAnswer(NoResourceError(), {}));
  if (std::optional<HttpResponse> denied = access_.Refusal(request, *path)) return refuse(*denied);
  const ModelQuery query(path->query);
  const std::string unsupported = UnsupportedSelector(query, kind->kind);
  if (!unsupported.empty()) return refuse(SelectorAnswer(unsupported));
  const ObjectHistory& history = HistoryOf(*kind);
  const uint64_t current = cluster_.resource_version();
  const uint64_t wanted = query.Number("resourceVersion").value_or(0);
  const bool collects = query.IsTrue("sendInitialEvents");
  if (collects && !options_.serves_initial_events) {
    return refuse(StatusAnswer(422, "Invalid",
                               "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for "
                               "watch unless the WatchList feature gate is enabled"));
  }
  auto watch = std::make_unique<OpenWatch>();
  watch->history_ = &history;
  watch->kind_ = kind->kind;
  watch->revision_ = wanted;
  watch->has_bookmarks_ = query.IsTrue("allowWatchBookmarks");
  watch->bookmark_ns_ = NowNs() + options_.bookmark_ns;
  if (const auto seconds = query.Number("timeoutSeconds")) {
    watch->end_ns_ = NowNs() + static_cast<int64_t>(*seconds) * kSecond;
  }
  if (collects || wanted == 0) {
    const bool is_consistent = !query.Has("resourceVersion");
    const uint64_t revision = is_consistent ? current : std::clamp(view, history.oldest(), current);
    if (wanted > revision) return refuse(TooLargeAnswer(wanted, revision));
    // The order of initial events is not defined: a client must not depend on it.
    const ObjectHistory::State state = history.At(revision);
    for (auto at = state.rbegin(); at != state.rend(); ++at) {
      watch->initial_.append(WatchLineOf("ADDED", WithKind(*at->second, kind->kind)));
    }
    watch->revision_ = revision;
    if (collects) watch->initial_.append(BookmarkLine(*watch, revision, /*ends_initial=*/true));
  } else if (wanted < history.oldest()) {
    watch->initial_ = WatchLineOf("ERROR", ExpiredText(wanted, history.oldest()));
    watch->has_ended_ = true;
  }
  served_.push_back({request.verb, request.target, 200, NowNs()});
  if (served_.size() > kMaxServed) served_.pop_front();
  return watch;
}

std::string ApiModel::BookmarkLine(const OpenWatch& watch, uint64_t revision,
                                   bool ends_initial) const {
  std::string text = R"({"metadata":{"resourceVersion":")" + std::to_string(revision) + "\"";
  if (ends_initial) text.append(R"(,"annotations":{"k8s.io/initial-events-end":"true"})");
  return WatchLineOf("BOOKMARK", WithKind(text + "}}", watch.kind_));
}

std::string ApiModel::TakeLines(OpenWatch& watch, uint64_t view) {
  Sync();
  std::string lines = std::exchange(watch.initial_, {});
  if (watch.has_ended_) return lines;
  const ObjectHistory& history = *watch.history_;
  if (history.HasLost(watch.revision_)) {
    watch.has_ended_ = true;
    return lines + WatchLineOf("ERROR", ExpiredText(watch.revision_, history.oldest()));
  }
  const auto& changes = history.changes();
  for (size_t i = history.FirstAfter(watch.revision_); i < changes.size(); ++i) {
    if (changes[i].revision > view) break;
    lines.append(WatchLineOf(TypeName(changes[i].type), WithKind(*changes[i].text, watch.kind_)));
    watch.revision_ = changes[i].revision;
  }
  if (watch.has_bookmarks_ && NowNs() >= watch.bookmark_ns_) {
    watch.revision_ =
        std::max(watch.revision_, std::min(view, uint64_t{cluster_.resource_version()}));
    watch.bookmark_ns_ = NowNs() + options_.bookmark_ns;
    lines.append(BookmarkLine(watch, watch.revision_, /*ends_initial=*/false));
  }
  watch.has_ended_ = NowNs() >= watch.end_ns_ || !history.is_served();
  return lines;
}

std::optional<int64_t> ApiModel::NextNs(const OpenWatch& watch, int64_t lag_ns) const {
  if (watch.has_ended_ || !watch.initial_.empty()) return NowNs();
  int64_t next = watch.end_ns_;
  if (watch.has_bookmarks_) next = std::min(next, watch.bookmark_ns_);
  const size_t first = watch.history_->FirstAfter(watch.revision_);
  if (first < watch.history_->changes().size()) {
    next = std::min(next, watch.history_->changes()[first].time_ns + std::max<int64_t>(lag_ns, 0));
  }
  if (next == INT64_MAX) return std::nullopt;
  return std::max(next, NowNs());
}

// ---- Kinds --------------------------------------------------------------------------------------

const ServedKind* ApiModel::KindAt(const ApiPath& path) const {
  for (const ServedKind& kind : options_.kinds) {
    if (path.IsPathOf(kind.kind)) return HistoryOf(kind).is_served() ? &kind : nullptr;
  }
  return nullptr;
}

ObjectHistory& ApiModel::HistoryOf(const ServedKind& kind) const {
  return *histories_.find(kind.kind)->second;
}

}  // namespace berth::host

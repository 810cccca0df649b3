#include "tests/harness/harness.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/loader/library_store.h"
#include "host/loader/private_copy.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

void AddDirectory(PluginCatalog& catalog, const std::string& directory) {
  LoadOptions options;
  options.trust.check_owner = false;  // Files of a build tree may have any owner.
  auto found = catalog.AddDirectory(directory, options);
  if (!found.ok()) {
    ADD_FAILURE() << found.error().ToString();
    return;
  }
  for (const auto& library : *found) {
    if (!library.ok()) {
      ADD_FAILURE() << library.error().ToString();
    }
  }
}

}  // namespace

const PluginCatalog& TestCatalog() {
  // Never destroyed: libraries are never unloaded either.
  static const PluginCatalog& catalog = *[] {
    auto* store = new LibraryStore(CopyToMemory());
    auto* made = new PluginCatalog(*store);
    AddDirectory(*made, TestPluginDirectory());
    AddDirectory(*made, DefaultPluginDirectory());
    return made;
  }();
  return catalog;
}

// --- profiles -----------------------------------------------------------------------------------

TestProfile& TestProfile::Use(const std::string& name, std::initializer_list<Point> points,
                              const char* args, int64_t weight) {
  PluginSpec& plugin =
      spec_.plugins.emplace_back(PluginSpec{.name = name, .args = {}, .where = ""});
  if (args != nullptr) {
    plugin.args = std::make_shared<const nlohmann::json>(nlohmann::json::parse(args));
  }
  for (const Point point : points) {
    spec_.points[static_cast<size_t>(point)].push_back({name, weight});
  }
  return *this;
}

PlanSpec TestProfile::Spec() const {
  TestProfile whole = *this;
  const auto none = [&](Point point) { return spec_.points[static_cast<size_t>(point)].empty(); };
  if (none(Point::kQueueSort)) whole.Use("cpp.ByKey", {Point::kQueueSort});
  if (none(Point::kBind)) whole.Use("cpp.ApiBinder", {Point::kBind});
  return whole.spec_;
}

// --- the harness --------------------------------------------------------------------------------

// Decisions are in results().
Harness::Harness()
    : decoder_(objects_.interner()),
      cluster_({.clock = clock_, .max_events = 1000, .serve = [this](const ApiRequest& request) {
                  return api_.Serve(request);
                }}) {
  options_.logs_decisions = false;
}

Harness::~Harness() { Stop(); }

void Harness::AddNode(const TestNode& node) { AddObject(TestObjects::Json(node)); }

void Harness::AddNodes(std::initializer_list<const char*> names) {
  for (const char* name : names) AddNode({.name = name});
}

void Harness::RemoveNode(const std::string& name) {
  EXPECT_TRUE(cluster_.Delete(kNodeKind, "", name).ok()) << name;
  cluster_.Deliver();
}

void Harness::AddPod(const TestPod& pod) { AddObject(TestObjects::Json(pod)); }

void Harness::AddObject(const std::string& json) {
  auto object = decoder_.Decode(json);
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  const auto created = cluster_.Create(*std::move(object));
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  cluster_.Deliver();
}

Status Harness::Start(const TestProfile& profile, uint64_t seed) {
  return Start(profile.Spec(), seed);
}

Status Harness::Start(const PlanSpec& spec, uint64_t seed) {
  return Start(std::span(&spec, 1), TestCatalog(), seed);
}

Status Harness::Start(const PlanSpec& spec, const PluginCatalog& catalog) {
  return Start(std::span(&spec, 1), catalog, 1);
}

Status Harness::Start(std::span<const PlanSpec> specs, const PluginCatalog& catalog,
                      uint64_t seed) {
  Stop();
  SchedulingLoop::Options options = options_;
  options.seed = seed;
  options.clock = &clock_;
  options.sink = this;
  options.waker = &waker_;
  options.log = &log_;
  auto loop =
      SchedulingLoop::Create(objects_.interner(), client_, catalog, specs, std::move(options));
  if (!loop.ok()) return loop.status();
  loop_ = std::move(loop).value();
  client_.Deliver();
  return {};
}

// --- attempts -----------------------------------------------------------------------------------

AttemptResult Harness::Next() {
  Settle();
  BERTH_ASSERT_MSG(loop_->queue().has_ready(), "no pod is ready");
  results_.clear();
  loop_->Step();
  Settle();
  // A thread of a plugin may still have to answer.
  constexpr int64_t kPatienceNs = 10'000'000;
  for (int i = 0; i < 1000 && (results_.empty() || IsBinding()); ++i) {
    waker_.Wait(kPatienceNs);
    Settle();
  }
  BERTH_ASSERT_MSG(!results_.empty(), "the attempt does not end");
  const auto last = results_.back();
  return last;
}

bool Harness::IsBinding() const {
  return std::ranges::any_of(loop_->bindings(),
                             [](const auto& binding) { return !binding.second->is_waiting(); });
}

void Harness::Settle() {
  while (client_.Deliver() > 0 || loop_->Settle()) {
  }
}

void Harness::Run() {
  while (client_.Deliver() > 0 || loop_->Step()) {
  }
}

void Harness::Advance(int64_t ns) {
  const int64_t end = clock_.NowNs() + ns;
  for (;;) {
    Run();
    const auto next = loop_->NextStepNs();
    if (!next.has_value() || *next > end) break;
    clock_.AdvanceTo(std::max(*next, clock_.NowNs()));
  }
  clock_.AdvanceTo(end);
  Run();
}

std::optional<QueuePlace> Harness::PlaceOf(const std::string& pod) const {
  const PodRef found = cluster_.FindPod("default", pod);
  if (found == nullptr) return std::nullopt;
  const QueuedEntity* entity = loop_->queue().Find(found->uid());
  return entity != nullptr ? std::optional(entity->place) : std::nullopt;
}

// --- decisions ----------------------------------------------------------------------------------

void Harness::Note(const PodRef& pod, Failure failure, std::string_view node) {
  std::erase_if(results_, [&](const auto& result) { return result.pod->name() == pod->name(); });
  results_.push_back({pod, std::move(failure), std::string(node)});
}

void Harness::OnAssumed(const PodRef& pod, std::string_view) {
  Failure waiting;
  waiting.code = BERTH_WAIT;
  Note(pod, std::move(waiting), "");
}

void Harness::OnBound(const PodRef& pod, std::string_view node) {
  Failure none;
  none.code = BERTH_SUCCESS;
  Note(pod, std::move(none), node);
}

void Harness::OnFailed(const PodRef& pod, std::string_view, const Failure& failure) {
  Note(pod, failure, "");
}

void Harness::OnSkipped(const PodRef& pod, std::string_view message) {
  Failure skipped;
  skipped.code = BERTH_SKIP;
  skipped.message = message;
  Note(pod, std::move(skipped), "");
}

AttemptResult Harness::Schedule(const TestPod& pod) {
  AddPod(pod);
  return Next();
}

std::string Harness::Outcome(const AttemptResult& result) {
  std::string text(CodeName(result.failure.code));
  if (!result.failure.message.empty()) text += ": " + result.failure.message;
  return text;
}

std::string Harness::OutcomeOf(const TestProfile& profile) {
  const Status status = Start(profile);
  if (!status.ok()) return status.ToString();
  if (cluster_.FindPod("default", "p") == nullptr) AddPod({.name = "p"});
  return Outcome(Next());
}

int64_t Harness::Column(const char* column, std::string_view node) {
  NodeTable& table = loop_->cache().table();
  const Row row = table.FindNode(node);
  BERTH_ASSERT(row != kNoRow);
  return static_cast<const int64_t*>(table.column_data(*table.ColumnFor(column)))[row];
}

std::vector<std::string> Harness::Names(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row row : rows) names.emplace_back(loop_->cache().table().node(row)->name());
  return names;
}

}  // namespace berth::host

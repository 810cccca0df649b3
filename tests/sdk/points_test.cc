#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

// Controls the plugins below.
struct Behavior {
  Status answer;
  bool keep_done = false;
  bool fail_void = false;
  Done kept;
  std::vector<std::string> calls;
};
Behavior g_behavior;

Status Called(std::string call) {
  g_behavior.calls.push_back(std::move(call));
  return g_behavior.answer;
}

struct CopiedState {
  std::vector<int> rows;
};

class Everything : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Everything";
  static constexpr std::string_view kVersion = "2.3.4";
  static constexpr std::string_view kAbout = "Has every extension point.";
  static constexpr Reasons kReasons{"one", "two"};
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS, BERTH_SERVICE_COMPLETION};
  static constexpr std::array kKinds{"v1/PersistentVolumeClaim"};
  static constexpr std::array kFields{"Pod:/spec/hostIPC"};
  static constexpr std::array kPodFields{"/spec/tolerations"};
  static constexpr bool kBlocksInBind = true;
  static constexpr bool kPreBindParallel = true;
  static constexpr bool kFilterSerial = true;
  static constexpr Dependence kFilterDependence{.cluster = kNodePods,
                                                .pod_parts = BERTH_PART(REQUESTS)};
  using Columns = berth::Columns<AllocCpu>;
  using Node = NodeRow<Columns>;
  using State = CopiedState;

  explicit Everything(const Host& host) : host_(host) {}

  Status PreEnqueue(const Pod& pod) { return Called("PreEnqueue " + std::string(pod.name())); }
  std::vector<EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD},
            {.resource = BERTH_RESOURCE_POD_ANY, .actions = BERTH_ACTION_DELETE, .always = true}};
  }
  QueueingHint Hint(const Queued& queued, const Event& event) {
    if (g_behavior.fail_void) throw std::runtime_error("no hint");
    return PodIn(event.after) == nullptr && queued.priority == 0 ? QueueingHint::kSkip
                                                                 : QueueingHint::kQueue;
  }
  SortKey Key(const Queued& queued) const { return SortKey().Descending(queued.priority); }
  Status PreFilter(Cycle& cycle, const Nodes& all, PreFilterOut& out) {
    cycle.Emplace<State>().rows.push_back(out.AddReason("three"));
    return Called("PreFilter " + std::to_string(all.size()));
  }
  Status AddPod(Cycle& cycle, const Pod& /*pod*/, const Node& node) {
    cycle.State<State>().rows.push_back(static_cast<int>(node.row()));
    return Called("AddPod");
  }
  Status RemovePod(Cycle& /*cycle*/, const Pod& /*pod*/, const Node& node) {
    return Called("RemovePod " + std::to_string(node.row()));
  }
  Status Filter(const Cycle& cycle, const Block<Columns>& block, FilterOut& out) const {
    const int bit = cycle.State<State>().rows.front();
    block.ForEach([&](const Node& node) {
      out.Set(node.index(), UnschedulableIf(node[AllocCpu{}] < 200, bit));
    });
    return g_behavior.answer;
  }
  Status PostFilter(Cycle& /*cycle*/, const Nodes& /*all*/, const Verdicts& verdicts,
                    PostFilterOut& out) {
    out.Nominate(verdicts.Absent(1) ? "a" : "b");
    return Called("PostFilter " + std::to_string(verdicts.Code(0)));
  }
  Status PreScore(Cycle& /*cycle*/, const Nodes& feasible, const Nodes& all) {
    return Called("PreScore " + std::to_string(feasible.size()) + " of " +
                  std::to_string(all.size()));
  }
  int64_t Score(const Cycle& /*cycle*/, const Node& node) const { return node[AllocCpu{}] / 10; }
  Status NormalizeScore(Cycle& /*cycle*/, Scores& scores) {
    for (int64_t& score : scores.values()) score += 1;
    return g_behavior.answer;
  }
  Dependence ScoreDependence() const { return {.cluster = kNode | kOther, .pod_parts = 0}; }
  std::optional<Signature> SignFilter(const Cycle& cycle) const {
    return cycle.id() == 1 ? std::optional(Signature{77, 78}) : std::nullopt;
  }
  std::optional<Signature> SignScore(const Cycle& /*cycle*/) const { return Signature{79, 80}; }
  Stale ScoreChanged(const Cycle& /*cycle*/, uint64_t& token, RowSink& rows) const {
    if (token == 9) throw std::runtime_error("no state");
    rows.Put(static_cast<uint32_t>(token++));
    const uint32_t more[] = {8, 9};
    rows.Put(more);
    return Stale::kRows;
  }
  Status Reserve(Cycle& /*cycle*/, const Target& target) {
    return Called("Reserve " + std::to_string(target.row()) + " with " +
                  std::to_string(target.Node<Columns>()[AllocCpu{}]));
  }
  void Unreserve(const Binding& binding) {
    static_cast<void>(Called("Unreserve " + std::string(binding.node_name())));
    if (g_behavior.fail_void) throw std::runtime_error("no way back");
  }
  Status Permit(Cycle& /*cycle*/, const Target& /*target*/, std::chrono::nanoseconds& timeout) {
    timeout = std::chrono::seconds(5);
    return Called("Permit");
  }
  Status PreBindPreFlight(const Binding& /*binding*/) { return Called("PreBindPreFlight"); }
  Status PreBind(const Binding& binding, Done& done) {
    if (g_behavior.keep_done) g_behavior.kept = std::move(done);
    return Called("PreBind " + std::string(binding.node_uid()));
  }
  Status Bind(const Binding& binding, Done& done) { return host_.api().Bind(binding, done); }
  void PostBind(const Binding& binding) {
    static_cast<void>(Called("PostBind " + std::string(binding.pod().uid())));
  }
  void AttemptFailed(const FailedAttempt& attempt) {
    std::string text = "AttemptFailed " + std::string(attempt.pod().uid()) + " on '" +
                       std::string(attempt.node()) + "': " + std::string(attempt.message()) + ";";
    for (const berth_str& plugin : attempt.plugins()) text += " " + std::string(Str(plugin));
    if (attempt.rejected()) text += " rejected";
    if (attempt.parked()) text += " parked";
    if (attempt.final()) text += " final";
    static_cast<void>(Called(text));
  }
  void OnChange(const Change& change) {
    static_cast<void>(Called("OnChange " + std::to_string(change.sequence)));
    if (g_behavior.fail_void) throw std::runtime_error("index lost");
  }
  void Save(HandOver& out) const {
    if (g_behavior.fail_void) throw std::runtime_error("no memory left");
    if (g_behavior.answer.code() == BERTH_SKIP) return;
    out.SetVersion(3);
    out.Write("one ");
    out.Write("state");
  }
  Status Restore(uint32_t version, std::string_view bytes) {
    return Called("Restore " + std::to_string(version) + " " + std::string(bytes));
  }
  void Quiesce() { static_cast<void>(Called("Quiesce")); }

 private:
  Host host_;
};

class PointsTest : public ::testing::Test {
 protected:
  PointsTest() {
    g_behavior = {};
    for (uint32_t i = 0; i < 3; ++i) cpu_[i] = 100 * (i + 1);
    column_ = {cpu_, BERTH_TYPE_I64, sizeof(int64_t)};
    block_ = {sizeof(block_), 3, 3, 1, nullptr, rows_, &column_, views_, nullptr, nullptr};
    nodes_ = {sizeof(nodes_), 1, 3, &block_, [](const berth_nodes* self, uint32_t) noexcept {
                return static_cast<const berth_block*>(self->impl);
              }};
    cycle_.state.Emplace().rows = {1};
  }
  const std::string& Last() { return g_behavior.calls.back(); }
  berth_code PreBind() {
    const auto* point = plugin_.Point<berth_pre_bind>(BERTH_POINT_PRE_BIND);
    return point->pre_bind(plugin_.self(), &cycle_.binding, completion_.abi(), recorded_.abi());
  }

  testing::SmallHost host_;
  testing::SmallInstance plugin_{kEntryOf<Everything>, host_};
  testing::SmallCycle<CopiedState> cycle_;
  testing::RecordedStatus recorded_;
  testing::RecordedCompletion completion_;
  int64_t cpu_[3];
  uint32_t rows_[3] = {10, 11, 12};
  berth_node node_ = {};
  const berth_node* views_[3] = {&node_, &node_, &node_};
  berth_column column_ = {};
  berth_block block_ = {};
  berth_nodes nodes_ = {};
};

TEST_F(PointsTest, AreDeclaredByTheirMethods) {
  std::vector<std::string> points;
  for (const char* const* id = plugin_.info().points; *id != nullptr; ++id) {
    points.emplace_back(*id);
    EXPECT_NE(plugin_.Point<void>(*id), nullptr) << *id;
  }
  EXPECT_EQ(points,
            (std::vector<std::string>{
                BERTH_POINT_PRE_ENQUEUE, BERTH_POINT_ENQUEUE_EXTENSIONS, BERTH_POINT_QUEUE_SORT,
                BERTH_POINT_PRE_FILTER, BERTH_POINT_FILTER, BERTH_POINT_POST_FILTER,
                BERTH_POINT_PRE_SCORE, BERTH_POINT_SCORE, BERTH_POINT_RESERVE, BERTH_POINT_PERMIT,
                BERTH_POINT_PRE_BIND, BERTH_POINT_BIND, BERTH_POINT_POST_BIND,
                BERTH_POINT_ATTEMPT_FAILED, BERTH_POINT_CHANGES, BERTH_POINT_HAND_OVER}));
  EXPECT_EQ(plugin_.Point<void>("berth.unknown/1"), nullptr);
}

TEST_F(PointsTest, InfoStatesTheDeclarationsOfTheClass) {
  const berth_plugin_info& info = plugin_.info();
  EXPECT_STREQ(info.name, "acme.Everything");
  EXPECT_STREQ(info.version, "2.3.4");
  EXPECT_STREQ(info.about, "Has every extension point.");
  EXPECT_STREQ(info.services[1], BERTH_SERVICE_COMPLETION);
  EXPECT_EQ(info.services[2], nullptr);
  EXPECT_STREQ(info.kinds[0], "v1/PersistentVolumeClaim");
  EXPECT_STREQ(info.fields[0], "Pod:/spec/hostIPC");
  EXPECT_STREQ(info.pod_fields[0], "/spec/tolerations");
  EXPECT_EQ(info.flags, uint32_t{BERTH_PLUGIN_BLOCKS_IN_BIND});
  const berth_plugin& plugin = plugin_.abi();
  EXPECT_EQ(plugin.columns.count, 1U);
  ASSERT_EQ(plugin.reasons.count, 2U);
  EXPECT_EQ(Str(*BERTH_AT(berth_str, plugin.reasons, 1)), "two");
}

TEST_F(PointsTest, AMissingServiceIsReportedByName) {
  testing::SmallHost host;
  host.missing_services = {BERTH_SERVICE_STRINGS};
  const testing::SmallInstance plugin(kEntryOf<Everything>, host);
  EXPECT_EQ(plugin.code, BERTH_UNSUPPORTED);
  EXPECT_EQ(plugin.recorded.texts,
            (std::vector<std::string>{
                "needs the service berth.strings/1, which this host does not serve"}));
}

TEST_F(PointsTest, AnUnknownNameIsNotFound) {
  berth_plugin* out = nullptr;
  berth_instance_request request = {};
  request.struct_size = sizeof(request);
  request.name = Str(std::string_view("Other"));
  EXPECT_EQ(kEntryOf<Everything>.create(host_.abi(), &request, &out, recorded_.abi()),
            BERTH_NOT_FOUND);
  EXPECT_EQ(out, nullptr);
}

TEST_F(PointsTest, StateIsConstructedClonedAndDestroyed) {
  ASSERT_EQ(plugin_.abi().slots.count, 1U);
  const auto& slot = *BERTH_AT(berth_slot, plugin_.abi().slots, 0);
  using Slot = internal::StateSlot<CopiedState>;
  EXPECT_EQ(slot.size, sizeof(Slot));
  EXPECT_EQ(slot.align, alignof(Slot));
  alignas(Slot) unsigned char first[sizeof(Slot)];
  alignas(Slot) unsigned char second[sizeof(Slot)];
  slot.construct(first);
  auto& state = *reinterpret_cast<Slot*>(first);
  EXPECT_FALSE(state.state.has_value()) << "no method has emplaced it";
  EXPECT_EQ(slot.clone(second, first), BERTH_SUCCESS);
  EXPECT_FALSE(reinterpret_cast<Slot*>(second)->state.has_value());
  slot.destroy(second);
  state.Emplace().rows = {1, 2};
  EXPECT_EQ(slot.clone(second, first), BERTH_SUCCESS);
  state.state->rows.push_back(3);
  EXPECT_EQ(reinterpret_cast<Slot*>(second)->state->rows, (std::vector<int>{1, 2}));
  slot.destroy(first);
  slot.destroy(second);
}

TEST_F(PointsTest, PreEnqueueReturnsCodeAndReasons) {
  g_behavior.answer = Status::Unresolvable("waiting for scheduling gates").Add("more");
  const auto* point = plugin_.Point<berth_pre_enqueue>(BERTH_POINT_PRE_ENQUEUE);
  berth_queued queued = {};
  queued.pod = &cycle_.pod;
  EXPECT_EQ(point->pre_enqueue(plugin_.self(), &queued, recorded_.abi()),
            BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE);
  EXPECT_EQ(Last(), "PreEnqueue p");
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{"waiting for scheduling gates", "more"}));
}

TEST_F(PointsTest, HintIsCalledUnlessTheInterestIsAlways) {
  const auto* point = plugin_.Point<berth_enqueue_extensions>(BERTH_POINT_ENQUEUE_EXTENSIONS);
  ASSERT_EQ(point->interests.count, 2U);
  const auto* interests = static_cast<const berth_event_interest*>(point->interests.data);
  EXPECT_EQ(interests[0].resource, uint32_t{BERTH_RESOURCE_NODE});
  EXPECT_EQ(interests[0].actions, uint32_t{BERTH_ACTION_ADD});
  EXPECT_EQ(interests[0].has_hint, 1U);
  EXPECT_EQ(interests[1].has_hint, 0U) << "always";
  berth_queued queued = {};
  berth_event event = {};
  EXPECT_EQ(point->hint(plugin_.self(), &queued, &event), uint32_t{BERTH_HINT_SKIP});
  event.after = {BERTH_KIND_POD, 0, &cycle_.pod};
  EXPECT_EQ(point->hint(plugin_.self(), &queued, &event), uint32_t{BERTH_HINT_QUEUE});
  g_behavior.fail_void = true;
  event.after = {};
  EXPECT_EQ(point->hint(plugin_.self(), &queued, &event), uint32_t{BERTH_HINT_QUEUE})
      << "an exception requeues the pod";
  EXPECT_EQ(host_.faults, (std::vector<std::string>{"Hint: no hint"}));
  g_behavior.fail_void = false;
  queued.pod = &cycle_.pod;
  EXPECT_EQ(plugin_.Point<berth_pre_enqueue>(BERTH_POINT_PRE_ENQUEUE)
                ->pre_enqueue(plugin_.self(), &queued, nullptr),
            BERTH_SUCCESS)
      << "the instance stays usable";
}

TEST_F(PointsTest, QueueSortWritesTheKey) {
  const auto* point = plugin_.Point<berth_queue_sort>(BERTH_POINT_QUEUE_SORT);
  EXPECT_EQ(point->less, nullptr);
  berth_queued queued = {};
  uint8_t high[BERTH_SORT_KEY_SIZE];
  uint8_t low[BERTH_SORT_KEY_SIZE];
  queued.priority = 5;
  point->key(plugin_.self(), &queued, high);
  queued.priority = -5;
  point->key(plugin_.self(), &queued, low);
  EXPECT_LT(std::memcmp(high, low, BERTH_SORT_KEY_SIZE), 0);
}

TEST_F(PointsTest, PreFilterAddsReasonsAndWritesTheState) {
  berth_pre_filter_out out = {sizeof(out), 0, nullptr, nullptr,
                              [](berth_pre_filter_out*, berth_str) noexcept { return 9; }};
  const auto* point = plugin_.Point<berth_pre_filter>(BERTH_POINT_PRE_FILTER);
  g_behavior.answer = Status::Skip();
  EXPECT_EQ(point->pre_filter(plugin_.self(), &cycle_.cycle, &nodes_, &out, recorded_.abi()),
            BERTH_SKIP);
  EXPECT_EQ(Last(), "PreFilter 3");
  g_behavior.answer = {};
  EXPECT_EQ(point->add_pod(plugin_.self(), &cycle_.cycle, &cycle_.pod, &block_, 2, nullptr),
            BERTH_SUCCESS);
  EXPECT_EQ(cycle_.state.state->rows, (std::vector<int>{9, 12})) << "PreFilter replaces the state";
  EXPECT_EQ(point->remove_pod(plugin_.self(), &cycle_.cycle, &cycle_.pod, &block_, 1, nullptr),
            BERTH_SUCCESS);
  EXPECT_EQ(Last(), "RemovePod 11");
}

TEST_F(PointsTest, FilterWritesVerdictsByIndex) {
  const auto* point = plugin_.Point<berth_filter>(BERTH_POINT_FILTER);
  EXPECT_EQ(point->flags, uint32_t{BERTH_FILTER_SERIAL});
  uint8_t codes[3] = {99, 99, 99};
  uint64_t reasons[3] = {99, 99, 99};
  berth_filter_out out = {sizeof(out), 0, codes, reasons};
  const uint32_t selected[] = {0, 2};
  block_.selected = selected;
  block_.n_selected = 2;
  EXPECT_EQ(point->filter(plugin_.self(), &cycle_.cycle, &block_, &out, nullptr), BERTH_SUCCESS);
  EXPECT_EQ(codes[0], BERTH_UNSCHEDULABLE);
  EXPECT_EQ(reasons[0], 0b10U);
  EXPECT_EQ(codes[1], 99) << "not selected";
  EXPECT_EQ(codes[2], BERTH_SUCCESS);
  EXPECT_EQ(reasons[2], 0U);
}

TEST_F(PointsTest, DependenceIsDeclaredPerPoint) {
  const auto* filter = plugin_.Point<berth_filter>(BERTH_POINT_FILTER)->dependence;
  const auto* score = plugin_.Point<berth_score>(BERTH_POINT_SCORE)->dependence;
  ASSERT_TRUE(filter != nullptr && score != nullptr);
  EXPECT_EQ(filter->cluster, uint32_t{BERTH_DEPENDS_NODE_PODS});
  EXPECT_EQ(filter->pod_parts, BERTH_PART(REQUESTS));
  EXPECT_EQ(score->cluster, uint32_t{BERTH_DEPENDS_NODE | BERTH_DEPENDS_OTHER});
  berth_signature signature = {};
  EXPECT_EQ(filter->sign(plugin_.self(), &cycle_.cycle, &signature), BERTH_SUCCESS);
  EXPECT_EQ(signature.low, 77U);
  EXPECT_EQ(signature.high, 78U);
  cycle_.cycle.id = 2;
  EXPECT_EQ(filter->sign(plugin_.self(), &cycle_.cycle, &signature), BERTH_SKIP);
  EXPECT_EQ(score->sign(plugin_.self(), &cycle_.cycle, &signature), BERTH_SUCCESS);
  EXPECT_EQ(signature.low, 79U);
  EXPECT_EQ(signature.high, 80U);
}

TEST_F(PointsTest, ChangedReportsRowsAndReplacesTheToken) {
  EXPECT_EQ(plugin_.Point<berth_filter>(BERTH_POINT_FILTER)->dependence->changed, nullptr);
  const auto* score = plugin_.Point<berth_score>(BERTH_POINT_SCORE)->dependence;
  std::vector<uint32_t> rows;
  const auto put = [](void* to, const uint32_t* more, uint64_t count) noexcept {
    auto& all = *static_cast<std::vector<uint32_t>*>(to);
    all.insert(all.end(), more, more + count);
  };
  uint64_t token = 4;
  EXPECT_EQ(score->changed(plugin_.self(), &cycle_.cycle, &token, put, &rows),
            uint32_t{BERTH_STALE_ROWS});
  EXPECT_EQ(token, 5U);
  EXPECT_EQ(rows, (std::vector<uint32_t>{4, 8, 9}));
  token = 9;
  EXPECT_EQ(score->changed(plugin_.self(), &cycle_.cycle, &token, put, &rows),
            uint32_t{BERTH_STALE_ALL})
      << "after an exception every answer may have changed";
  EXPECT_EQ(host_.faults, (std::vector<std::string>{"ScoreChanged: no state"}));
}

// An index that missed a change cannot tell which results are still right.
TEST_F(PointsTest, ChangedReportsEverythingAfterAFault) {
  g_behavior.fail_void = true;
  const berth_change change = {};
  plugin_.Point<berth_changes>(BERTH_POINT_CHANGES)->change(plugin_.self(), &change);
  const auto put = [](void*, const uint32_t*, uint64_t) noexcept { ADD_FAILURE(); };
  uint64_t token = 4;
  EXPECT_EQ(plugin_.Point<berth_score>(BERTH_POINT_SCORE)
                ->dependence->changed(plugin_.self(), &cycle_.cycle, &token, put, nullptr),
            uint32_t{BERTH_STALE_ALL});
  EXPECT_EQ(token, 0U);
}

TEST_F(PointsTest, ScoreAndNormalize) {
  const auto* point = plugin_.Point<berth_score>(BERTH_POINT_SCORE);
  EXPECT_EQ(point->normalize_mode, uint32_t{BERTH_NORMALIZE_CUSTOM});
  EXPECT_EQ(point->flags, 0U);
  int64_t out[3] = {};
  berth_score_out score_out = {sizeof(score_out), 0, out};
  const berth_code code = point->score(plugin_.self(), &cycle_.cycle, &block_, &score_out, nullptr);
  EXPECT_EQ(code, BERTH_SUCCESS);
  berth_scores scores = {sizeof(scores), 3, rows_, out};
  EXPECT_EQ(point->normalize(plugin_.self(), &cycle_.cycle, &scores, nullptr), BERTH_SUCCESS);
  EXPECT_EQ(out[0], 11);
  EXPECT_EQ(out[2], 31);
}

TEST_F(PointsTest, PostFilterNominates) {
  std::string nominated;
  berth_post_filter_out out = {sizeof(out), 0, &nominated,
                               [](berth_post_filter_out* self, berth_str node) noexcept {
                                 *static_cast<std::string*>(self->impl) = Str(node);
                               }};
  const uint8_t codes[] = {BERTH_UNSCHEDULABLE, 0};
  const uint8_t absent[] = {0, 1};
  const berth_verdicts verdicts = {sizeof(verdicts), 2, codes, absent};
  const auto* point = plugin_.Point<berth_post_filter>(BERTH_POINT_POST_FILTER);
  EXPECT_EQ(point->post_filter(plugin_.self(), &cycle_.cycle, &nodes_, &verdicts, &out, nullptr),
            BERTH_SUCCESS);
  EXPECT_EQ(nominated, "a");
  EXPECT_EQ(Last(), "PostFilter 2");
}

TEST_F(PointsTest, ReserveUnreserveAndPermit) {
  const berth_target target = {sizeof(target), 12, nullptr, &block_, 2, 0};
  const auto* reserve = plugin_.Point<berth_reserve>(BERTH_POINT_RESERVE);
  EXPECT_EQ(reserve->reserve(plugin_.self(), &cycle_.cycle, &target, nullptr), BERTH_SUCCESS);
  EXPECT_EQ(Last(), "Reserve 12 with 300");
  reserve->unreserve(plugin_.self(), &cycle_.binding);
  EXPECT_EQ(Last(), "Unreserve a");
  g_behavior.answer = Status::Wait("quorum");
  berth_permit_out out = {sizeof(out), 0, 0};
  const auto* permit = plugin_.Point<berth_permit>(BERTH_POINT_PERMIT);
  EXPECT_EQ(permit->permit(plugin_.self(), &cycle_.cycle, &target, &out, recorded_.abi()),
            BERTH_WAIT);
  EXPECT_EQ(out.timeout_ns, 5'000'000'000);
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{"quorum"}));
}

TEST_F(PointsTest, PreBindCompletesOnReturnOrLater) {
  const auto* point = plugin_.Point<berth_pre_bind>(BERTH_POINT_PRE_BIND);
  EXPECT_EQ(point->flags, uint32_t{BERTH_PRE_BIND_PARALLEL});
  EXPECT_EQ(point->pre_flight(plugin_.self(), &cycle_.binding, nullptr), BERTH_SUCCESS);
  EXPECT_EQ(PreBind(), BERTH_SUCCESS);
  EXPECT_EQ(Last(), "PreBind uid-a");
  EXPECT_TRUE(completion_.answers.empty()) << "the returned code completes the call";

  g_behavior.keep_done = true;
  g_behavior.answer = Status::Pending();
  EXPECT_EQ(PreBind(), BERTH_PENDING);
  EXPECT_TRUE(completion_.answers.empty());
  g_behavior.kept.Complete(Status::Error("detached").Add("and lost"));
  ASSERT_EQ(completion_.answers.size(), 1U);
  EXPECT_EQ(completion_.answers[0],
            std::pair(berth_code{BERTH_ERROR}, std::string("detached, and lost")));
  EXPECT_FALSE(g_behavior.kept);
}

TEST_F(PointsTest, ADestroyedDoneFailsTheBinding) {
  g_behavior.keep_done = true;
  EXPECT_EQ(PreBind(), BERTH_PENDING) << "the kept Done completes the call, whatever was returned";
  g_behavior.kept = Done();
  ASSERT_EQ(completion_.answers.size(), 1U);
  EXPECT_EQ(completion_.answers[0].first, BERTH_BUG);
  EXPECT_EQ(completion_.answers[0].second, "the berth::Done was destroyed before it was completed");
}

TEST_F(PointsTest, PendingWithoutADoneIsABug) {
  g_behavior.answer = Status::Pending();
  EXPECT_EQ(PreBind(), BERTH_BUG);
  EXPECT_TRUE(completion_.answers.empty());
}

TEST_F(PointsTest, BindGoesThroughTheApiServer) {
  const auto* point = plugin_.Point<berth_bind>(BERTH_POINT_BIND);
  EXPECT_EQ(point->bind(plugin_.self(), &cycle_.binding, completion_.abi(), nullptr),
            BERTH_PENDING);
  EXPECT_EQ(host_.requests, (std::vector<std::string>{"bind a"}));
  EXPECT_EQ(host_.binding_done.id, completion_.abi().id);
  EXPECT_TRUE(completion_.answers.empty());
  host_.api_code = BERTH_UNSUPPORTED;
  EXPECT_EQ(point->bind(plugin_.self(), &cycle_.binding, completion_.abi(), recorded_.abi()),
            BERTH_UNSUPPORTED);
  EXPECT_TRUE(completion_.answers.empty()) << "the returned code completes the call";
}

TEST_F(PointsTest, NotificationsArrive) {
  plugin_.Point<berth_post_bind>(BERTH_POINT_POST_BIND)->post_bind(plugin_.self(), &cycle_.binding);
  EXPECT_EQ(Last(), "PostBind uid-p");
  const berth_str names[] = {Str(std::string_view("Fit")), Str(std::string_view("Gang"))};
  const auto fail = [&](berth_code code, uint32_t flags, uint32_t plugins) {
    const berth_failed_attempt attempt = {sizeof(attempt),
                                          flags,
                                          cycle_.binding.pod,
                                          code,
                                          0,
                                          Str(std::string_view("n1")),
                                          Str(std::string_view("no room")),
                                          {names, plugins, sizeof(berth_str)}};
    plugin_.Point<berth_attempt_failed>(BERTH_POINT_ATTEMPT_FAILED)
        ->attempt_failed(plugin_.self(), &attempt);
    return Last();
  };
  EXPECT_EQ(fail(BERTH_UNSCHEDULABLE, BERTH_FAILED_PARKED, 2),
            "AttemptFailed uid-p on 'n1': no room; Fit Gang rejected parked");
  EXPECT_EQ(fail(BERTH_ERROR, BERTH_FAILED_FINAL, 0),
            "AttemptFailed uid-p on 'n1': no room; final");
  berth_change change = {};
  change.sequence = 8;
  plugin_.Point<berth_changes>(BERTH_POINT_CHANGES)->change(plugin_.self(), &change);
  EXPECT_EQ(Last(), "OnChange 8");
  plugin_.abi().quiesce(&plugin_.abi());
  EXPECT_EQ(Last(), "Quiesce");
}

// What Save wrote, and what its calls returned.
struct Saved {
  uint32_t version = 0;
  std::string bytes;
  berth_code code = BERTH_SUCCESS;
};
Saved Save(testing::SmallInstance& plugin, testing::RecordedStatus& status) {
  Saved saved;
  berth_hand_over_out out = {sizeof(out), 0, &saved,
                             [](berth_hand_over_out* self, berth_str bytes) noexcept -> berth_code {
                               static_cast<Saved*>(self->impl)->bytes += Str(bytes);
                               return BERTH_SUCCESS;
                             }};
  const auto* point = plugin.Point<berth_hand_over>(BERTH_POINT_HAND_OVER);
  saved.code = point->save(plugin.self(), &out, status.abi());
  saved.version = out.version;
  return saved;
}

TEST_F(PointsTest, SaveWritesVersionAndBytes) {
  const Saved saved = Save(plugin_, recorded_);
  EXPECT_EQ(saved.code, BERTH_SUCCESS);
  EXPECT_EQ(saved.version, 3U);
  EXPECT_EQ(saved.bytes, "one state");
  g_behavior.answer = Status::Skip();
  EXPECT_EQ(Save(plugin_, recorded_).code, BERTH_SKIP) << "it wrote nothing";
  g_behavior.fail_void = true;
  EXPECT_EQ(Save(plugin_, recorded_).code, BERTH_BUG);
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{"no memory left"}));
}

TEST_F(PointsTest, RestoreAnswersWithItsStatus) {
  const auto* point = plugin_.Point<berth_hand_over>(BERTH_POINT_HAND_OVER);
  EXPECT_EQ(point->restore(plugin_.self(), 3, Str("one state"), recorded_.abi()), BERTH_SUCCESS);
  EXPECT_EQ(Last(), "Restore 3 one state");
  g_behavior.answer = Status::Error("expected version 2");
  EXPECT_EQ(point->restore(plugin_.self(), 3, {}, recorded_.abi()), BERTH_ERROR);
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{"expected version 2"}));
}

// The instance is no longer valid after an exception in a call that cannot return a code.
TEST_F(PointsTest, LaterCallsReturnFaultOfAVoidCall) {
  g_behavior.fail_void = true;
  berth_change change = {};
  plugin_.Point<berth_changes>(BERTH_POINT_CHANGES)->change(plugin_.self(), &change);
  EXPECT_EQ(host_.faults, (std::vector<std::string>{"OnChange: index lost"}));
  plugin_.Point<berth_reserve>(BERTH_POINT_RESERVE)->unreserve(plugin_.self(), &cycle_.binding);
  EXPECT_EQ(host_.faults,
            (std::vector<std::string>{"OnChange: index lost", "Unreserve: no way back"}));
  uint8_t codes[3];
  uint64_t reasons[3];
  berth_filter_out out = {sizeof(out), 0, codes, reasons};
  EXPECT_EQ(plugin_.Point<berth_filter>(BERTH_POINT_FILTER)
                ->filter(plugin_.self(), &cycle_.cycle, &block_, &out, recorded_.abi()),
            BERTH_BUG);
  EXPECT_EQ(recorded_.texts, (std::vector<std::string>{"OnChange: index lost"}))
      << "the first fault is kept";
}

}  // namespace
}  // namespace berth

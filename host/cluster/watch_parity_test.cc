// Gives the same changes to an EmbeddedCluster and to an API server that a KubernetesClient reads.
// The scheduler must receive the same watch events, in the same order for each kind. Errors of a
// watch are no events: an EmbeddedCluster has none.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/status.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/kubernetes/kubernetes_client.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cluster/test_watch_event_text.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/api_server/model_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

constexpr std::string_view kCsiNodeKind = "storage.k8s.io/v1/CSINode";
// KubernetesClient asks again for a kind that is not served within this time, with its jitter.
constexpr int64_t kDiscoveryNs = 2 * kMinute;

using TextsByKind = std::map<std::string_view, std::vector<std::string>>;

// Records events as WatchEventText() does. A pod follows with its node, its nomination in brackets,
// and "!" while it is being deleted: "~default/a@3(2) n1".
class TextSink final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      std::string& text = seen.emplace_back(WatchEventText(event));
      const PodRef* pod = std::get_if<PodRef>(&event.object);
      if (!event.has_object() || pod == nullptr) continue;
      if (!(*pod)->node_name().empty()) text.append(" ").append((*pod)->node_name());
      if (!(*pod)->nominated_node().empty()) {
        text.append(" [").append((*pod)->nominated_node()).append("]");
      }
      if ((*pod)->terminating()) text += " !";
    }
  }

  std::vector<std::string> seen;
};

// ---- The two implementations --------------------------------------------------------------------

// A cluster that the test changes, and a client of it that the scheduler would use.
class Side {
 public:
  virtual ~Side() = default;

  virtual Client client() = 0;
  // Executes and delivers everything that is due within this time.
  void Settle(int64_t ns = 0) { RunFor(ns); }

  // Lifetime: `kind` is a constant.
  void StartWatch(std::string_view kind) {
    watches_.push_back(client().source.StartWatch(kind, sinks_[kind]));
    Settle();
  }
  TextsByKind Seen() const {
    TextsByKind seen;
    for (const auto& [kind, sink] : sinks_) seen[kind] = sink.seen;
    return seen;
  }

  // ---- Changes by others, which Settle() delivers
  void Create(const std::string& json) {
    EXPECT_EQ(cluster_.Create(Read(json)).status(), Status());
  }
  void Update(const std::string& json) {
    EXPECT_EQ(cluster_.Update(Read(json)).status(), Status());
  }
  void Delete(std::string_view kind, const std::string& name) {
    const char* ns = kind == kPodKind ? "default" : "";
    EXPECT_EQ(cluster_.Delete(kind, ns, name), Status());
  }
  void FinishDeletion(const std::string& pod) {
    EXPECT_EQ(cluster_.FinishDeletion({"default", pod, {}}), Status());
  }
  void SetServed(std::string_view kind, bool is_served) { cluster_.SetServed(kind, is_served); }

  // ---- Requests of the scheduler, which are answered within the call
  void Bind(const std::string& pod, const std::string& node) {
    client().writer.Bind({"default", pod, {}}, node, Expect());
    Settle();
  }
  void Nominate(const std::string& pod, std::string_view node) {
    PodStatusPatch patch;
    patch.nominated_node = node;
    client().writer.PatchPodStatus({"default", pod, {}}, patch, Expect());
    Settle();
  }
  void DeletePod(const std::string& pod) {
    client().writer.DeletePod({"default", pod, {}}, 30, Expect());
    Settle();
  }
  int open_requests() const { return open_requests_; }

 protected:
  virtual void RunFor(int64_t ns) = 0;
  // Called before the object is written.
  virtual void Note(const std::string& /*json*/) {}
  void EndWatches() { watches_.clear(); }

  TestClock clock_;
  Interner interner_;
  Decoder decoder_{interner_};
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};

 private:
  AnyObject Read(const std::string& json) {
    Note(json);
    Result<AnyObject> object = decoder_.Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s: %s", json.c_str(), object.status().ToString().c_str());
    return *std::move(object);
  }
  StatusCallback Expect() {
    ++open_requests_;
    return [this](const Status& status) {
      --open_requests_;
      EXPECT_EQ(status, Status());
    };
  }

  std::map<std::string_view, TextSink> sinks_;
  std::vector<std::unique_ptr<Watch>> watches_;
  int open_requests_ = 0;
};

class EmbeddedSide final : public Side {
 public:
  ~EmbeddedSide() override { EndWatches(); }
  Client client() override { return cluster_; }

 protected:
  void RunFor(int64_t ns) override {
    clock_.Advance(ns);
    cluster_.Deliver();
  }
};

class KubernetesSide final : public Side {
 public:
  // `page`: the most objects of a page, if the server does not send the initial events of a watch.
  KubernetesSide(bool serves_initial_events, size_t page)
      : model_(cluster_, decoder_, {.serves_initial_events = serves_initial_events}) {
    fence_.OpenUntil(BindFence::kForever);
    KubernetesClient::Options options;
    options.reads = {&reads_, &executor_};
    options.writes = {&writes_, &executor_};
    options.events = {&events_, &executor_};
    options.wall = &clock_;
    options.fence = &fence_;
    options.seed = 7;
    options.reflector.page = page;
    options.wait = [this](const std::function<bool()>& is_done) {
      while (!is_done()) Advance(executor_, clock_, kSecond);
    };
    client_ = std::make_unique<KubernetesClient>(interner_, options, Log());
  }
  ~KubernetesSide() override {
    EndWatches();
    client_->Stop();
  }
  Client client() override { return *client_; }

 protected:
  void RunFor(int64_t ns) override {
    model_.Sync();
    Advance(executor_, clock_, ns);
    client_->Deliver();
  }
  void Note(const std::string& json) override { model_.Note(ParseOrderedJson(json)); }

 private:
  VirtualExecutor executor_{clock_};
  ApiModel model_;
  ModelTransport reads_{model_, executor_};
  ModelTransport writes_{model_, executor_};
  ModelTransport events_{model_, executor_};
  BindFence fence_{[this] { return clock_.NowNs(); }};
  std::unique_ptr<KubernetesClient> client_;
};

// ---- Cases --------------------------------------------------------------------------------------

std::string Object(const std::string& kind, const std::string& version, const std::string& metadata,
                   const std::string& rest = "") {
  return R"({"kind":")" + kind + R"(","apiVersion":")" + version + R"(","metadata":{)" + metadata +
         "}" + rest + "}";
}
std::string NodeText(const std::string& name, const std::string& rest = "") {
  return Object("Node", "v1", R"("name":")" + name + '"', rest);
}
std::string CsiNodeText(const std::string& name) {
  return Object("CSINode", "storage.k8s.io/v1", R"("name":")" + name + '"',
                R"(,"spec":{"drivers":[]})");
}
std::string PodText(const std::string& name, const std::string& uid, const std::string& rest = "") {
  return Object("Pod", "v1",
                R"("namespace":"default","name":")" + name + R"(","uid":")" + uid + '"', rest);
}

struct ParityCase {
  const char* name;
  std::function<void(Side&)> script;
  TextsByKind expected;
};

std::vector<ParityCase> CasesOfPods() {
  return {
      {"requests of the scheduler",
       [](Side& side) {
         side.StartWatch(kPodKind);
         side.Create(PodText("p", "u1"));
         side.Nominate("p", "n2");
         side.Bind("p", "n1");
         side.DeletePod("p");
         side.FinishDeletion("p");
         side.Settle();
       },
       {{kPodKind,
         {"synced", "+default/p@1", "~default/p@2(1) [n2]", "~default/p@3(2) n1",
          "~default/p@4(3) n1 !", "-default/p@5(4) n1 !"}}}},
      {"a pod that is created again under its name",
       [](Side& side) {
         side.Create(PodText("p", "u1"));
         side.StartWatch(kPodKind);
         side.Delete(kPodKind, "p");
         side.Create(PodText("p", "u2"));
         side.Settle();
       },
       {{kPodKind, {"+default/p@1", "synced", "-default/p@2(1)", "+default/p@3"}}}},
      {"pods in a final phase do not exist",
       [](Side& side) {
         side.Create(PodText("before", "u1", R"(,"status":{"phase":"Failed"})"));
         side.StartWatch(kPodKind);
         side.Create(PodText("born", "u2", R"(,"status":{"phase":"Succeeded"})"));
         side.Create(
             PodText("p", "u3", R"(,"spec":{"nodeName":"n"},"status":{"phase":"Running"})"));
         const std::string ended = R"(,"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"})";
         side.Update(PodText("p", "u3", ended));
         side.Update(PodText("p", "u3", ended));
         side.Settle();
       },
       {{kPodKind, {"synced", "+default/p@3 n", "-default/p@4(3) n"}}}},
  };
}

std::vector<ParityCase> OtherCases() {
  return {
      {"existing objects in the order of their names, then synced",
       [](Side& side) {
         for (const char* name : {"b", "c", "a"}) side.Create(NodeText(name));
         side.Create(PodText("p", "u1", R"(,"spec":{"nodeName":"a"})"));
         side.StartWatch(kNodeKind);
         side.StartWatch(kPodKind);
       },
       {{kNodeKind, {"+a@3", "+b@1", "+c@2", "synced"}}, {kPodKind, {"+default/p@4 a", "synced"}}}},
      {"each change once, although several arrive together",
       [](Side& side) {
         side.StartWatch(kNodeKind);
         side.StartWatch(kPodKind);
         side.Create(NodeText("n"));
         side.Create(PodText("p", "u1"));
         side.Update(NodeText("n", R"(,"spec":{"unschedulable":true})"));
         side.Update(NodeText("n"));
         side.Delete(kNodeKind, "n");
         side.Create(NodeText("n"));
         side.Settle();
       },
       {{kNodeKind, {"synced", "+n@1", "~n@3(1)", "~n@4(3)", "-n@5(4)", "+n@6"}},
        {kPodKind, {"synced", "+default/p@2"}}}},
      {"a kind that is not served at first, and not any more at last",
       [](Side& side) {
         side.SetServed(kCsiNodeKind, false);
         side.StartWatch(kCsiNodeKind);
         side.SetServed(kCsiNodeKind, true);
         side.Settle(kDiscoveryNs);
         side.Create(CsiNodeText("a"));
         side.Settle();
         side.Update(CsiNodeText("a"));
         side.Delete(kCsiNodeKind, "a");
         side.Settle();
         side.SetServed(kCsiNodeKind, false);
         side.Settle(kDiscoveryNs);
       },
       {{kCsiNodeKind, {"not served", "synced", "+a@1", "~a@2(1)", "-a@3(2)", "not served"}}}},
  };
}

void Check(const char* side_name, const std::function<std::unique_ptr<Side>()>& make) {
  for (const std::vector<ParityCase>& cases : {CasesOfPods(), OtherCases()}) {
    for (const ParityCase& each : cases) {
      SCOPED_TRACE(std::string(side_name) + ": " + each.name);
      const std::unique_ptr<Side> side = make();
      each.script(*side);
      EXPECT_EQ(side->Seen(), each.expected);
      EXPECT_EQ(side->open_requests(), 0);
    }
  }
}

TEST(WatchParity, EmbeddedCluster) {
  Check("embedded", [] { return std::make_unique<EmbeddedSide>(); });
}

TEST(WatchParity, KubernetesClientWithInitialEvents) {
  Check("initial events", [] { return std::make_unique<KubernetesSide>(true, 500); });
}

TEST(WatchParity, KubernetesClientWithPages) {
  Check("pages", [] { return std::make_unique<KubernetesSide>(false, 2); });
}

}  // namespace
}  // namespace berth::host

// The fake host's services about nodes, what-if questions, nominations, activation and waiting
// pods.
#ifndef BERTH_TESTING_SCHEDULING_SERVICES_H_
#define BERTH_TESTING_SCHEDULING_SERVICES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

class Nodes;
class WhatIfRows;

// Records what a plugin requests of the scheduler, and has the pods and nodes that it finds there.
//
// A what-if question runs the plugin's own Filter, AddPod and RemovePod on copies of the test's
// nodes; a row on which they decide nothing passes.
//
// Threading: one thread.
class SchedulingServices {
 public:
  struct Nomination {
    PodHandle pod;
    std::string node;
  };
  struct Rejection {
    std::string uid;
    std::string reason;

    friend bool operator==(const Rejection&, const Rejection&) = default;
  };

  explicit SchedulingServices(Reporter* reporter);
  ~SchedulingServices();
  SchedulingServices(const SchedulingServices&) = delete;
  SchedulingServices& operator=(const SchedulingServices&) = delete;

  // Returns one of these services; NULL for any other id.
  static const void* Find(std::string_view id);

  // --- The test ---
  // The nodes that berth.nodes/1 finds. NULL: none.
  void set_table(const Table* table) { table_ = table; }
  // Nominates the pod to `node`, and removes any other nomination of the pod.
  void Nominate(PodHandle pod, std::string node);
  // Ends the nomination of the pod, if it has one.
  void EndNomination(std::string_view uid);
  // Adds a pod that waits on Permit.
  void AddWaiting(PodHandle pod);

  const std::vector<Nomination>& nominations() const { return nominations_; }
  const std::vector<PodHandle>& waiting() const { return waiting_; }
  // Uids, in the order of the requests. An allowed pod no longer waits; nor does a rejected one.
  const std::vector<std::string>& activated() const { return activated_; }
  const std::vector<std::string>& allowed() const { return allowed_; }
  const std::vector<Rejection>& rejected() const { return rejected_; }
  // The waiting pods that an eviction returned to the queue, with its message.
  const std::vector<Rejection>& preempted() const { return preempted_; }

  // Drops the requests that were recorded.
  void ForgetRecords();

  // --- The fake host ---
  // Records that a berth_nodes is passed to the plugin until EndPassing.
  void BeginPassing(const Nodes& nodes) { passed_.push_back(&nodes); }
  void EndPassing(const Nodes& nodes);
  // Ends the questions that the plugin left open, as the host does.
  // Called: after PostFilter.
  void EndQuestions();
  bool IsWaiting(std::string_view uid) const;
  bool WasRejected(std::string_view uid) const;
  // Returns a waiting pod to the queue. Returns false if the pod does not wait.
  bool Preempt(std::string_view uid, std::string_view message);

 private:
  static SchedulingServices& Of(const berth_host* host);
  static bool Expect(const berth_host* host, const char* service, uint32_t words);
  static bool ExpectPostFilter(const berth_host* host, const char* service);
  struct Question {
    std::unique_ptr<WhatIfRows> rows;
    // By row: the answer of the last run that selected the row; nothing before its first run.
    std::vector<std::optional<Answer>> answers;
  };
  Question* FindQuestion(uint64_t question);
  // Reports an argument that is not valid, and returns BAD_ARGUMENT.
  berth_code BadArgument(const std::string& what);
  // Removes the pod from the waiting ones. Returns false if it does not wait.
  bool EndWaiting(std::string_view uid);
  // Returns the reason as the host keeps it.
  std::string ReasonOf(const berth_rejection& rejection);

  // nodes
  static berth_code FindNode(const berth_host* host, berth_str name, uint32_t* row) noexcept;
  static berth_code PlaceRow(const berth_host* host, const berth_nodes* in, uint32_t row,
                             uint32_t* block, uint32_t* index) noexcept;
  // whatif
  static berth_code Begin(const berth_host* host, const berth_cycle* cycle, const uint32_t* rows,
                          uint32_t count, uint32_t mode, uint64_t* question) noexcept;
  static berth_code Change(const berth_host* host, uint64_t question, uint32_t i,
                           const berth_pod* pod, berth_status* status, bool add);
  static berth_code RemovePod(const berth_host* host, uint64_t question, uint32_t i,
                              const berth_pod* pod, berth_status* status) noexcept;
  static berth_code AddPod(const berth_host* host, uint64_t question, uint32_t i,
                           const berth_pod* pod, berth_status* status) noexcept;
  static berth_code RunFilters(const berth_host* host, uint64_t question,
                               const berth_whatif_run* run, berth_status* status) noexcept;
  static void End(const berth_host* host, uint64_t question) noexcept;
  static berth_code ReasonsOf(const berth_host* host, uint64_t question, uint32_t i,
                              berth_status* status) noexcept;
  static berth_code PodFilters(const berth_host* host, const berth_cycle* cycle,
                               int32_t (*each)(void* to, berth_str plugin) noexcept,
                               void* to) noexcept;
  // nominator
  static berth_code ListNominated(const berth_host* host, berth_str node,
                                  int32_t (*each)(void*, const berth_pod*) noexcept,
                                  void* to) noexcept;
  static berth_code ClearNomination(const berth_host* host, berth_str uid) noexcept;
  static berth_code EachNominated(const berth_host* host,
                                  int32_t (*each)(void*, const berth_pod*, berth_str) noexcept,
                                  void* to) noexcept;
  // activate
  static berth_code Activate(const berth_host* host, const berth_str* uids,
                             uint64_t count) noexcept;
  // waiting
  static berth_code EachWaiting(const berth_host* host,
                                int32_t (*each)(void*, const berth_pod*) noexcept,
                                void* to) noexcept;
  static berth_code Allow(const berth_host* host, berth_str uid) noexcept;
  static berth_code Reject(const berth_host* host, const berth_rejection* rejection) noexcept;

  static const berth_node_lookup kNodes;
  static const berth_whatif kWhatIf;
  static const berth_nominator kNominator;
  static const berth_activate kActivate;
  static const berth_waiting kWaiting;

  Reporter& reporter_;
  const Table* table_ = nullptr;
  std::vector<const Nodes*> passed_;
  std::map<uint64_t, Question> questions_;
  uint64_t last_question_ = 0;
  std::vector<Nomination> nominations_;
  std::vector<PodHandle> waiting_;
  std::vector<std::string> activated_;
  std::vector<std::string> allowed_;
  std::vector<Rejection> rejected_;
  std::vector<Rejection> preempted_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SCHEDULING_SERVICES_H_

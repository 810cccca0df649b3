// The example examples/plugins/job_gang binds the pods of a job together or not at all.
#include <string>
#include <vector>

#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string MemberOf(const std::string& job, const std::string& size) {
  return R"(,"labels":{"batch.kubernetes.io/job-name":")" + job +
         R"("},"annotations":{"acme.com/gang-size":")" + size + R"("})";
}

class JobGangCliTest : public RunCliTest {
 protected:
  std::string Profile() {
    return File("jobs.toml",
                "extends = \"default\"\n[[plugins]]\nname = \"acme.JobGang\"\n"
                "library = \"" BERTH_TEST_PLUGIN_DIR "/libtest_job_gang.so\"\n");
  }
  // Returns the decisions "second Bound pod node".
  std::vector<std::string> Bindings(const std::string& events) {
    std::vector<std::string> bindings;
    for (const std::string& decision : Decisions(Play(events, {"--profile", Profile()}).out)) {
      if (decision.find(" Bound ") != std::string::npos) bindings.push_back(decision);
    }
    return bindings;
  }
};

// The first member waits with its node; the second one completes the job.
TEST_F(JobGangCliTest, PodsWaitForTheLastMember) {
  const std::string events = Line("ADDED", NodeJson("n", "2")) +
                             Line("ADDED", PodJson("a-1", "1", MemberOf("a", "2"))) +
                             Line("ADDED", PodJson("a-2", "1", MemberOf("a", "2")), "5s");
  EXPECT_THAT(Bindings(events), ElementsAre("5 Bound a-2 n", "5 Bound a-1 n"));
}

// Without Entity, the first pods of both jobs would take one place each, and both jobs would fail.
TEST_F(JobGangCliTest, JobsDoNotTakeNodesInTurn) {
  const std::string events = Line("ADDED", NodeJson("n", "2")) +
                             Line("ADDED", PodJson("a-1", "1", MemberOf("a", "2"))) +
                             Line("ADDED", PodJson("b-1", "1", MemberOf("b", "2"))) +
                             Line("ADDED", PodJson("b-2", "1", MemberOf("b", "2"))) +
                             Line("ADDED", PodJson("a-2", "1", MemberOf("a", "2")));
  EXPECT_THAT(Bindings(events), ElementsAre("0 Bound a-2 n", "0 Bound a-1 n"));
}

// Two of three members fit: they give the node back, so that the other job gets it.
TEST_F(JobGangCliTest, AFailedJobLeavesTheNodeToAnother) {
  const std::string events = Line("ADDED", NodeJson("n", "2")) +
                             Line("ADDED", PodJson("a-1", "1", MemberOf("a", "3"))) +
                             Line("ADDED", PodJson("a-2", "1", MemberOf("a", "3"))) +
                             Line("ADDED", PodJson("a-3", "1", MemberOf("a", "3"))) +
                             Line("ADDED", PodJson("b-1", "1", MemberOf("b", "2"))) +
                             Line("ADDED", PodJson("b-2", "1", MemberOf("b", "2")));
  const std::vector<std::string> bindings = Bindings(events);
  ASSERT_EQ(bindings.size(), 2U) << Play(events, {"--profile", Profile()}).out;
  for (const std::string& binding : bindings) {
    EXPECT_NE(binding.find(" Bound b-"), std::string::npos) << binding;
  }
}

TEST_F(JobGangCliTest, AJobThatIsNeverCompleteWaits) {
  const std::string events = Line("ADDED", NodeJson("n", "8")) +
                             Line("ADDED", PodJson("a-1", "1", MemberOf("a", "3"))) +
                             Line("ADDED", PodJson("a-2", "1", MemberOf("a", "3")));
  EXPECT_THAT(Bindings(events), IsEmpty());
}

}  // namespace
}  // namespace berth::host

// `berth replay` as a user calls it, with the plugins of this build.
#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/file_descriptor.h"
#include "tests/integration/run_cli_fixture.h"

namespace berth::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// ---- Decisions ---------------------------------------------------------------------------------

TEST_F(RunCliTest, BindsParkedPodWhenFittingNodeIsAdded) {
  const Outcome run = Play(Line("ADDED", NodeJson("a", "1")) + Line("ADDED", PodJson("web", "2")) +
                           Line("ADDED", NodeJson("b", "4"), "2s"));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(Decisions(run.out),
              ElementsAre(std::string("0 Refused web ") + kNoCpu, "2 Bound web b"));
  EXPECT_THAT(run.err, StartsWith("1 bound, 0 pending; 2 nodes; 3 events in 2s.\n"));
}

TEST_F(RunCliTest, SchedulesTheClusterFilesWithoutAStream) {
  const Outcome run = Run({"replay", "--cluster", "-", "--output", "json"},
                          kNodes + PodOf("huge", "16") + PodOf("large", "4"));
  EXPECT_EQ(run.exit_status, 1) << "pod huge has no node";
  EXPECT_THAT(Decisions(run.out),
              ElementsAre(HasSubstr("Refused huge 0/2 nodes"), HasSubstr("Bound large b")));
  EXPECT_THAT(run.err, AllOf(StartsWith("1 bound, 1 pending; 2 nodes; 0 events in "),
                             HasSubstr("1      0/2 nodes are available: 2 Insufficient cpu.\n")));
}

TEST_F(RunCliTest, PrintsATable) {
  const Outcome run =
      Run({"replay", "--time", "virtual", "--events",
           File("e.jsonl", Line("ADDED", NodeJson("a", "1")) + Line("ADDED", PodJson("web", "2")) +
                               Line("ADDED", NodeJson("b", "4"), "1m1.5s"))});
  EXPECT_EQ(run.out,
            "      TIME   POD                        DECISION\n"
            "    0.000s   default/web                refused: 0/1 nodes are available: 1 "
            "Insufficient cpu.\n"
            "   61.500s   default/web                bound to b\n");
}

TEST_F(RunCliTest, SchedulesAPodWhenItsGatesAreRemoved) {
  const std::string gates = R"(,"schedulingGates":[{"name":"a"},{"name":"b"}])";
  const std::string gate = R"(,"schedulingGates":[{"name":"b"}])";
  EXPECT_THAT(DecisionsOf(Line("ADDED", NodeJson("n", "4")) +
                          Line("ADDED", PodJson("web", "1", "", gates)) +
                          Line("MODIFIED", PodJson("web", "1", R"(,"labels":{"k":"v"})", gates)) +
                          Line("MODIFIED", PodJson("web", "1", "", gate), "1s") +
                          Line("MODIFIED", PodJson("web", "1"), "1s")),
              ElementsAre("0 Gated web waiting for scheduling gates: [a b]",
                          "1 Gated web waiting for scheduling gates: [b]", "2 Bound web n"));
}

TEST_F(RunCliTest, AGatedPodStaysPending) {
  const Outcome run =
      Play(Line("ADDED", NodeJson("n", "4")) +
           Line("ADDED", PodJson("web", "1", "", R"(,"schedulingGates":[{"name":"a"}])")));
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.err, HasSubstr("1      waiting for scheduling gates: [a]\n"));
}

TEST_F(RunCliTest, DeletedPodMakesRoomForItsNamesake) {
  EXPECT_THAT(DecisionsOf(Line("ADDED", NodeJson("n", "3")) +
                          Line("ADDED", PodJson("web", "2", R"(,"uid":"u1")")) +
                          Line("DELETED", PodJson("web", "2", R"(,"uid":"u1")"), "1s") +
                          Line("ADDED", PodJson("web", "3", R"(,"uid":"u2")"))),
              ElementsAre("0 Bound web n", "1 Bound web n"));
  // The same without uids, and with another pod that waits for the room.
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", NodeJson("n", "3")) + Line("ADDED", PodJson("web", "2")) +
                  Line("ADDED", PodJson("other", "2"), "1s") +
                  Line("DELETED", PodJson("web", "2"), "9s")),
      ElementsAre("0 Bound web n", std::string("1 Refused other ") + kNoCpu, "10 Bound other n"));
}

TEST_F(RunCliTest, ARepetitionChangesNothing) {
  const std::string pod = PodJson("web", "2", R"(,"uid":"u1","resourceVersion":"5")");
  const std::string node = NodeJson("n", "3", R"(,"resourceVersion":"4")");
  EXPECT_THAT(DecisionsOf(Line("ADDED", node) + Line("ADDED", pod) + Line("ADDED", pod) +
                          Line("MODIFIED", pod, "1s") +
                          Line("DELETED",
                               PodJson("web", "2", R"(,"uid":"u1","resourceVersion":"7")"), "1s") +
                          Line("ADDED", pod, "1s") + Line("MODIFIED", node)),
              ElementsAre("0 Bound web n"));
}

TEST_F(RunCliTest, StreamDoesNotMoveAPodBoundHere) {
  const std::string elsewhere = R"(,"nodeName":"elsewhere")";
  EXPECT_THAT(DecisionsOf(Line("ADDED", NodeJson("n", "3")) + Line("ADDED", PodJson("web", "2")) +
                          Line("MODIFIED", PodJson("web", "2"), "1s") +
                          Line("MODIFIED", PodJson("web", "2", "", elsewhere), "1s") +
                          Line("ADDED", PodJson("other", "2"), "1s")),
              ElementsAre("0 Bound web n", std::string("3 Refused other ") + kNoCpu));
  // A pod that was not bound here may be bound by the stream. It is not pending any more.
  const Outcome run = Play(Line("ADDED", PodJson("web", "2")) +
                           Line("MODIFIED", PodJson("web", "2", "", elsewhere), "1s"));
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(Decisions(run.out), ElementsAre("0 Refused web no nodes available to schedule pods"));
}

TEST_F(RunCliTest, AppliesAllDueEventsBeforeItTriesPod) {
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", PodJson("first", "2")) +
                  Line("ADDED", PodJson("second", "2", "", R"(,"priority":7)")) +
                  Line("ADDED", PodJson("third", "2")) + Line("DELETED", PodJson("third", "2")) +
                  Line("ADDED", NodeJson("n", "3"))),
      ElementsAre("0 Bound second n", std::string("0 Refused first ") + kNoCpu));
}

TEST_F(RunCliTest, IgnoresPodsOfOtherSchedulers) {
  const Outcome run =
      Play(Line("ADDED", NodeJson("n", "3")) +
           Line("ADDED", PodJson("theirs", "2", "", R"(,"schedulerName":"other")")));
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("0 bound, 0 pending, 1 of other schedulers; "));
}

TEST_F(RunCliTest, SkipsPodsThatAreBeingDeleted) {
  EXPECT_THAT(DecisionsOf(Line("ADDED", NodeJson("n", "3")) +
                          Line("ADDED", PodJson("web", "1",
                                                R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"))),
              ElementsAre("0 Skipped web skip schedule deleting pod: default/web"));
}

TEST_F(RunCliTest, ReplaysHoursInAMoment) {
  std::string events = Line("ADDED", NodeJson("n", "4"));
  std::vector<std::string> expected;
  for (int hour = 1; hour <= 48; ++hour) {
    const std::string name = "p" + std::to_string(hour);
    events += Line("ADDED", PodJson(name, "3"), "59m") + Line("DELETED", PodJson(name, "3"), "1m");
    expected.push_back(std::to_string(3600 * hour - 60) + " Bound " + name + " n");
  }
  EXPECT_EQ(DecisionsOf(events), expected);
}

TEST_F(RunCliTest, RunsTheExample) {
  const Outcome run =
      Run({"replay", "--cluster", kSmall, "--events", BERTH_SOURCE_DIR "/examples/events/day.jsonl",
           "--time", "virtual", "--output", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(Decisions(run.out), ::testing::Contains("7200 Bound batch-import node-f"));
}

// ---- The format of the stream ------------------------------------------------------------------

TEST_F(RunCliTest, ReadsObjectsOnOneOrSeveralLines) {
  std::string concatenated;
  std::string pretty;
  for (const std::string& line :
       {Line("ADDED", NodeJson("n", "3")), Line("BOOKMARK", R"({"kind":"Pod"})"),
        Line("DECISION", R"({"type":"Bound"})"), Line("ADDED", PodJson("web", "2"), "2s")}) {
    concatenated += line.substr(0, line.size() - 1);
    pretty += Json::parse(line).dump(4) + "\n";
  }
  EXPECT_THAT(DecisionsOf(concatenated), ElementsAre("2 Bound web n"));
  EXPECT_THAT(DecisionsOf(pretty), ElementsAre("2 Bound web n"));
  EXPECT_THAT(DecisionsOf("\xef\xbb\xbf" + pretty + "\r\n \n"), ElementsAre("2 Bound web n"));
}

TEST_F(RunCliTest, ReadsLongAndDeeplyNestedLines) {
  const std::string note = R"(,"annotations":{"k":")" + std::string(size_t{1} << 20, 'x') + R"("})";
  const std::string deep = R"(,"unknown":)" + std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(
      DecisionsOf(Line("ADDED", NodeJson("n", "3")) + Line("ADDED", PodJson("long", "1", note)) +
                  Line("ADDED", PodJson("nested", "1", R"(,"uid":"u")", deep))),
      ElementsAre("0 Bound long n", "0 Bound nested n"));
}

TEST_F(RunCliTest, EndsWhenTheStreamCannotBeRead) {
  struct Case {
    std::string text;
    const char* message;
  };
  const std::string good = Line("ADDED", NodeJson("n", "3")) + Line("ADDED", PodJson("web", "2"));
  const std::vector<Case> cases = {
      {"{\"type\":\"ADDED\"\n{}", ":4: expected ',' or '}', found '{'\n"},
      {"{\"type\":\"ADDED\"", ":3: expected the end of the object, found the end of the text\n"},
      {Line("ERROR", R"({"kind":"Status","message":"too old resource version"})"),
       ":3: /type: the server ended the watch with an error: too old resource version\n"},
      {"[]", ":3: expected an object, found '['\n"},
      {"kind: Pod", ":3: expected an object, found 'k'\n"},
  };
  for (const Case& c : cases) {
    const Outcome run = Play(good + c.text);
    EXPECT_EQ(run.exit_status, 2) << c.text;
    EXPECT_THAT(run.err, HasSubstr("berth: " + folder_ + "/e.jsonl" + c.message)) << c.text;
  }
}

TEST_F(RunCliTest, EndsWhenFirstObjectIsNoWatchEvent) {
  const Outcome object = Play(PodJson("web", "2") + "\n" + Line("ADDED", NodeJson("n", "3")));
  EXPECT_EQ(object.exit_status, 2);
  EXPECT_THAT(object.err, HasSubstr("/e.jsonl:1: Pod default/web: /: expected a watch event, found "
                                    "an object; use kubectl with --output-watch-events"));
  const Outcome other = Play("{\"a\": 1}\n" + Line("ADDED", NodeJson("n", "3")));
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_THAT(other.err, HasSubstr("/e.jsonl:1: /type: expected ADDED, MODIFIED, "));
  // The first event may be one that is rejected.
  const Outcome rejected =
      Play(Line("FOO", "{}") + PodJson("web", "2") + "\n" + Line("ADDED", NodeJson("n", "3")));
  EXPECT_EQ(rejected.exit_status, 0) << rejected.err;
  EXPECT_THAT(rejected.err, HasSubstr("; 1 node; 1 event in 0s; 2 events rejected.\n"));
}

TEST_F(RunCliTest, SkipsAndReportsEventsThatAreRejected) {
  struct Case {
    std::string line;
    const char* message;
  };
  const std::vector<Case> cases = {
      {Line("FOO", "{}"),
       "/type: expected ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT, found \"FOO\""},
      {Line("ADDED", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"ns"},)"
                     R"("spec":{"priority":"high"}})"),
       "Pod ns/x: /object/spec/priority: expected an integer, found \"high\""},
      {Line("ADDED", PodJson("x", "many")),
       "Pod default/x: /object/spec/containers/0/resources/requests/cpu: quantity \"many\": "
       "expected"},
      {Line("ADDED", R"({"kind":"Pod","apiVersion":"v1","metadata":{}})"),
       "Pod: /object/metadata/name: expected a name, found nothing"},
      {Line("ADDED", "7"), "/object: expected an object, found 7"},
      {Line("ADDED", PodJson("x", "1"), "-1s"),
       "Pod default/x: /after: expected a time that is not negative"},
      {Line("ADDED", PodJson("x", "1"), "2540400h"),
       "Pod default/x: /after: expected a stream of at most 95 years, found a longer one"},
      {Line("ADDED", PodJson("x", "1", R"(,"uid":"u1")")),
       "Pod default/x: Pod \"x\" is invalid: metadata.uid"},
      {PodJson("x", "1") + "\n", "Pod default/x: /: expected a watch event, found an object"},
      {"{\"type\":\"ADDED\",\"object\":{\"a\":tru}}\n", "expected a JSON value, found 't'"},
  };
  for (const Case& c : cases) {
    const Outcome run = Play(Line("ADDED", NodeJson("n", "3")) +
                             Line("ADDED", PodJson("web", "1", R"(,"uid":"u1")")) + c.line +
                             Line("ADDED", PodJson("late", "1"), "1s"));
    EXPECT_EQ(run.exit_status, 0) << c.line << run.err;
    EXPECT_THAT(Decisions(run.out), ElementsAre("0 Bound web n", "1 Bound late n")) << c.line;
    EXPECT_THAT(run.err,
                AllOf(StartsWith(kNow + "berth: error: " + folder_ + "/e.jsonl:3: " + c.message),
                      HasSubstr("; the event is skipped\n"),
                      HasSubstr("2 bound, 0 pending; 1 node; 3 events in 1s; 1 event rejected.\n")))
        << c.line;
  }
}

TEST_F(RunCliTest, KeepsTheLastGoodVersionOfAnObject) {
  const std::string recording = folder_ + "/r.jsonl";
  const std::string node = R"(,"resourceVersion":"5")";
  // The time of the rejected event counts, and its version may come again in a good event.
  const Outcome run =
      Play(Line("ADDED", NodeJson("n", "3")) + Line("MODIFIED", NodeJson("n", "lots", node), "2s") +
               Line("ADDED", PodJson("web", "3"), "1s") +
               Line("MODIFIED", NodeJson("n", "4", node), "1s") + Line("ADDED", PodJson("b", "1")),
           {"--record", recording});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(Decisions(run.out), ElementsAre("3 Bound web n", "4 Bound b n"));
  EXPECT_THAT(run.err, HasSubstr("/e.jsonl:2: Node n: /object/status/allocatable/cpu: quantity"));
  const std::string recorded = ReadAll(recording);
  EXPECT_THAT(recorded, ::testing::Not(HasSubstr("lots")));
  EXPECT_THAT(recorded, HasSubstr(R"({"type":"ADDED","after":"3s","object":{"apiVersion":"v1",)"
                                  R"("kind":"Pod","metadata":{"name":"web"})"));
}

TEST_F(RunCliTest, ReportsTheFirstTwentyRejectedEvents) {
  const auto play = [this](int count) {
    std::string events;
    for (int i = 0; i < count; ++i) events += Line("ADDED", PodJson("p", "many"));
    return Play(events).err;
  };
  const std::string twenty = play(20);
  EXPECT_THAT(twenty, HasSubstr("/e.jsonl:20: Pod default/p: "));
  EXPECT_THAT(twenty, HasSubstr("20 events rejected.\n"));
  const std::string more = play(1204);
  EXPECT_EQ(more.find("/e.jsonl:21:"), std::string::npos);
  EXPECT_THAT(
      more, HasSubstr(kNow + "berth: error: 20 events were rejected; further ones are counted, but "
                             "not reported\n"));
  EXPECT_THAT(more, HasSubstr("1,204 events rejected.\n"));
}

TEST_F(RunCliTest, RefusesInvalidFlags) {
  struct Case {
    std::vector<std::string> args;
    const char* message;
  };
  const std::string events = File("e.jsonl", "");
  const std::vector<Case> cases = {
      {{"replay", "--time", "slow"}, "--time"},
      {{"replay", "--events", folder_ + "/none"}, "/none: No such file or directory"},
      {{"replay", "--events", folder_}, ": Is a directory"},
      {{"replay", "--events", "-", "--cluster", "-"}, "standard input can be read only once"},
      {{"replay", "--events", events, "--record",
        folder_ + "/../" + folder_.substr(folder_.rfind('/') + 1) + "/e.jsonl"},
       "which the recording would overwrite"},
      {{"replay"}, "replay: expected --cluster or --events"},
      {{"replay", "--record", folder_ + "/none/r.jsonl", "--cluster", kSmall},
       "/none/r.jsonl: No such file or directory"},
      {{"replay", "--events", kSmall},
       "small.yaml:1: expected an object, found '#'; expected watch events as JSON: use kubectl"},
      {{"replay", "--record", "/dev/full", "--cluster", kSmall},
       "/dev/full: the recording could not be written"},
  };
  for (const Case& c : cases) {
    const Outcome run = Run(c.args);
    EXPECT_EQ(run.exit_status, 2) << c.message;
    EXPECT_THAT(run.err, HasSubstr(c.message));
  }
}

TEST_F(RunCliTest, RefusesToOverwriteItsInputWithTheRecording) {
  const std::string input = Line("ADDED", NodeJson("n", "3"));
  const std::string path = File("input.jsonl", input);
  std::filesystem::create_hard_link(path, folder_ + "/link.jsonl");
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  in_descriptor_ = file.get();
  for (const char* flag : {"--events", "--cluster"}) {
    for (const char* record : {"/input.jsonl", "/link.jsonl"}) {
      const Outcome run = Run({"replay", flag, "-", "--record", folder_ + record}, input);
      EXPECT_EQ(run.exit_status, 2);
      EXPECT_THAT(run.err, HasSubstr("found standard input, which the recording would overwrite"));
      EXPECT_EQ(ReadAll(path), input);
    }
  }
  // An input that is not a regular file cannot be overwritten.
  const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  in_descriptor_ = nothing.get();
  EXPECT_EQ(Run({"replay", "--events", "-", "--record", "/dev/null"}).exit_status, 0);
  EXPECT_EQ(Run({"replay", "--events", "/dev/null", "--record", "/dev/null"}).exit_status, 0);
}

TEST_F(RunCliTest, PrintsLogLinesOfPlugins) {
  const std::string plugins = folder_ + "/plugins";
  std::filesystem::create_directories(plugins);
  for (const auto& library : std::filesystem::directory_iterator(BERTH_BINARY_DIR "/plugins")) {
    const std::string name = library.path().filename();
    if (library.path().extension() != ".so" || name == "libnode_name.so") continue;
    std::filesystem::create_symlink(library.path(), plugins + "/" + name);
  }
  std::filesystem::create_symlink(BERTH_TEST_TALKER, plugins + "/libtest_talker.so");
  const Outcome run = Play(Line("ADDED", NodeJson("n", "3")) + Line("ADDED", PodJson("web", "1")),
                           {"--plugin-dir", plugins});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, StartsWith(kNow + "berth: warning: NodeName: looked at a node\n"
                                         "1 bound, 0 pending; 1 node; 2 events in 0s.\n"));
}

TEST_F(RunCliTest, StopsWhenTheOutputCannotBeWritten) {
  std::ofstream full("/dev/full");
  std::istringstream in;
  const Outcome run = RunTo(full, {"replay", "--cluster", kSmall}, in);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("the output could not be written"));
}

}  // namespace
}  // namespace berth::host

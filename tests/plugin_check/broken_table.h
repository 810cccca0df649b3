// The variants of broken.c that violate a rule, and what `berth plugin check` finds.
#ifndef BERTH_TESTS_PLUGIN_CHECK_BROKEN_TABLE_H_
#define BERTH_TESTS_PLUGIN_CHECK_BROKEN_TABLE_H_

#include <berth/abi.h>

namespace berth::host {

struct BrokenVariant {
  const char* library;
  const char* promise;
  const char* text;          // A part of the finding.
  const char* service = "";  // The service that the variant misuses.
};

inline constexpr BrokenVariant kBroken[] = {
    {"exports", "library", "berth_entry_v1_extra; link it with -Wl,--version-script="},
    {"note", "library", "2.0.0"},
    {"host", "host", "expected slot 0 with an alignment that is a power of two"},
    {"host_by_flag", "host", "expected in berth.enqueue_extensions/1 no flags, found 0x20"},
    {"host_by_point", "host", "expected in berth.enqueue_extensions/1 hint to be set"},
    {"host_by_lanes", "host", "expected in berth.queue_sort/2 lane and next to be set"},
    {"host_by_service", "host", "expected a host with the service test.absent/1"},
    {"kinds", "library", "expected in kinds a kind other than v1/Pod: berth_block.pods and"},
    {"host_by_watch", "host", "expected a watch of a kind other than v1/Node: berth_block.nodes"},
    {"host_by_column", "host", "expected a column of a kind that berth_plugin_info.kinds names"},
    {"host_by_interest", "host",
     "interest 0 in a kind that berth_plugin_info.kinds names, found \"PersistentVolumeClaim\""},
    {"shape", "shape", "the reason table has an empty text"},
    {"outputs", "outputs", "unwritten"},
    {"outputs_of_others", "outputs", "which is not selected"},
    {"codes", "codes", "has no reason"},
    {"pre_filter_codes", "codes", "PreFilter returns Wait, which is not a valid code of PreFilter"},
    {"codes_of_save", "codes", "save answers Wait"},
    {"codes_of_restore", "codes",
     "restore answers Error: \"expected version 2\" to the state that save"},
    {"faults_of_save", "faults", "save answers Bug: \"the state is lost\""},
    {"scores", "codes", "101 after normalisation"},
    {"next_lane", "codes", "QueueSort's next returns the index 1 of 1 lanes"},
    {"blocks", "blocks", "but in one block"},
    {"selection", "blocks", "selected"},
    {"concurrency", "concurrency",
     "; the host, too, calls Filter on several threads at the same time: guard everything that its "
     "calls share and change, or set BERTH_FILTER_SERIAL"},
    {"repeat", "repeat", "called again"},
    {"entity", "repeat", "Entity returns two texts for one pod"},
    {"lanes", "repeat", "QueueSort returns two lanes for one pod"},
    {"whatif", "whatif", "AddPod"},
    {"whatif_at_run_time", "whatif", "after AddPod"},
    {"whatif_together", "whatif", "after changes of the pods on several nodes together"},
    {"outputs_of_whole", "outputs", "unwritten"},
    {"dependence_at_run_time", "dependence", "depends on the pods on nodes"},
    {"dependence_on_pod", "dependence", "depends on the pod's PRIORITY"},
    {"dependence_on_pods", "dependence", "depends on the pods on nodes"},
    {"dependence_of_changed", "dependence", "changed reports that no result differs, but leaves"},
    {"dependence_of_token", "dependence", "rows, but leaves out a row whose result differs"},
    {"dependence_without_token", "dependence", "changed leaves *token at 0 in each of "},
    {"dependence_on_pending", "dependence", " after pending pod "},
    {"dependence_of_sign", "dependence", "depends on the pod's PRIORITY"},
    {"dependence_of_filter", "dependence", "changed reports that no result differs, but leaves"},
    {"hints", "hints", "depends on the pod's PRIORITY"},
    {"hints_of_added_pods", "hints", "depends on the pod's PRIORITY"},
    {"hints_of_updated_pods", "hints", "depends on the pod's PRIORITY"},
    {"hints_of_deleted_pods", "hints", "depends on the pod's PRIORITY"},
    {"slots", "slots", "Filter changes it"},
    {"slot_bounds", "slots", "writes outside its 16 bytes"},
    {"leaks", "leaks", "create and destroy leaks about"},
    {"leaks_of_filter", "leaks", "Filter leaks about 1000"},
    {"leaks_of_score", "leaks", "Score leaks about "},
    {"leaks_of_hint", "leaks", "a hint leaks about "},
    {"leaks_of_next_lane", "leaks", "QueueSort's next leaks about "},
    {"leaks_of_slots", "leaks", "construct, clone and destroy of slot \"test.Broken/1\""},
    {"instances", "instances",
     "after create and destroy, 1000 times, there are 100 more open files than before"},
    {"instances_by_threads", "instances", "there are 10 more threads than before"},
    {"create_by_bug", "faults", "create answers Bug"},
    {"create_by_code", "codes", "create answers Skip, which create must not answer"},
    {"create_of_nothing", "shape", "create returns Success but sets no plugin"},
    {"faults", "faults", "PreFilter of pod default/plain answers Bug"},
    {"deadlines", "deadlines", "; the deadline of the host is 1.0 s"},
    {"deadlines_for_ever", "deadlines", "Filter has not returned after "},
    {"deadlines_once", "deadlines", "; the deadline of the host is 1.0 s"},
    {"survival", "survives", "SIGSEGV in Filter ends the process"},
    {"survival_of_threads", "survives",
     "SIGSEGV in Filter on several threads at the same time ends the process"},
    {"survival_by_exit", "survives", "exit(3) in Filter ends the process"},
    {"survival_without_exit", "survives",
     "the library ends the process with status 4 and without exit(), as _exit() does, or "
     "os.Exit()"},
    {"survival_of_a_fault", "survives", "SIGSEGV in Filter ends the process"},
    {"survival_of_an_exception", "survives", "SIGABRT in Filter ends the process"},
    {"loading", "survives", "SIGABRT in a static constructor ends the process"},
    {"loading_by_exit", "survives", "exit(0) in a static constructor ends the process"},
    {"loading_without_exit", "survives", "os.Exit() of Go, while the library is loaded"},
    // Misuse of a service.
    {"leaks_of_ids", "leaks", " ids more after ", BERTH_SERVICE_STRINGS},
    {"leaks_by_nodes", "leaks", " ids more after ", BERTH_SERVICE_STRINGS},
    {"shape_by_stale_id", "shape", "which was dropped; its text was \"test.example/stale\"",
     BERTH_SERVICE_STRINGS},
    {"leaks_of_refs", "leaks", " references more after ", BERTH_SERVICE_REFS},
    {"ref_not_held", "shape", "releases an object that it does not retain", BERTH_SERVICE_REFS},
    {"ref_of_a_copy", "shape", "retains something that is no object of the host",
     BERTH_SERVICE_REFS},
    {"column_with_a_flag", "shape", "calls columns.bind with the unknown flags 128",
     BERTH_SERVICE_COLUMNS},
    {"leaks_of_values", "leaks", " values more after ", BERTH_SERVICE_VALUES},
    {"shape_by_value", "shape", "releases a value that it did not parse, or released before",
     BERTH_SERVICE_VALUES},
    {"leaks_of_selectors", "leaks", " selectors more after ", BERTH_SERVICE_SELECTORS},
    {"shape_by_release", "shape", "releases a selector that it did not read, or released before",
     BERTH_SERVICE_SELECTORS},
    {"series_unknown", "shape", "asks for a series of metric 7, which it did not define",
     BERTH_SERVICE_METRICS},
    {"objects_undeclared", "shape", "asks for objects of kind v1/Service", BERTH_SERVICE_OBJECTS},
    {"place_of_other_nodes", "shape", "calls nodes.place with nodes that this call did not receive",
     BERTH_SERVICE_NODES},
    {"whatif_ended", "shape", "uses what-if question 1, which is not open", BERTH_SERVICE_WHATIF},
    {"whatif_run_too_small", "shape", "calls whatif.run_filters with a struct_size of 8",
     BERTH_SERVICE_WHATIF},
    {"nominator_in_bind", "threads", "calls nominator.clear from PreBind [bind]",
     BERTH_SERVICE_NOMINATOR},
    {"survival_of_a_nomination", "survives", "SIGABRT in PostFilter ends the process",
     BERTH_SERVICE_NOMINATOR},
    {"activate_in_filter", "threads", "calls activate.activate from Filter [block]",
     BERTH_SERVICE_ACTIVATE},
    {"rejection_with_a_flag", "shape", "calls waiting.reject with the unknown flags 128",
     BERTH_SERVICE_WAITING},
    {"survival_of_a_gang", "survives", "SIGABRT in Permit ends the process", BERTH_SERVICE_WAITING},
    {"survival_of_time", "survives", "SIGABRT in a timer ends the process", BERTH_SERVICE_WAITING},
    {"threads", "threads", "calls timer.start from Filter [block]", BERTH_SERVICE_TIMER},
    {"post_without_run", "shape", "calls timer.post without a function", BERTH_SERVICE_TIMER},
    {"hold_unknown", "shape", "releases hold 7, which it does not have", BERTH_SERVICE_TIMER},
    {"random_outside", "threads", "calls random.next from hint [queue]", BERTH_SERVICE_RANDOM},
    {"request_too_small", "shape", "calls api.request with a struct_size of 8", BERTH_SERVICE_API},
    {"eviction_with_a_flag", "shape", "calls api.evict with the unknown flags 128",
     BERTH_SERVICE_API},
    {"event_too_small", "shape", "calls api.event with a struct_size of 8", BERTH_SERVICE_API},
    {"patch_with_a_flag", "shape", "calls api.patch_status with the unknown flags 128",
     BERTH_SERVICE_API},
    {"promise_of_pre_bind", "shape", "which is not an open promise of Bind", BERTH_SERVICE_API},
    {"survival_of_an_answer", "survives", "SIGABRT in an answer of the API server ends the process",
     BERTH_SERVICE_API},
    {"leaks_of_answers", "leaks", "PreFilter leaks about ", BERTH_SERVICE_API},
    {"promise_twice", "shape", "completes a call twice", BERTH_SERVICE_COMPLETION},
    {"promise_unknown", "shape", ", which it never got", BERTH_SERVICE_COMPLETION},
    {"outcome_too_small", "shape", "calls completion.complete with a struct_size of 4",
     BERTH_SERVICE_COMPLETION},
};

// The services that have no variant, because a plugin cannot misuse them.
struct ServiceWithoutMisuse {
  const char* service;
  const char* why;
};
inline constexpr ServiceWithoutMisuse kWithoutMisuse[] = {
    {BERTH_SERVICE_LOG,
     "It may be called under every thread word, with every text, and returns nothing."},
};

}  // namespace berth::host

#endif  // BERTH_TESTS_PLUGIN_CHECK_BROKEN_TABLE_H_

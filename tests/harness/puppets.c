/* Plugins whose functions are all provided by the test: puppet.A to puppet.D, puppet.Slow and
 * puppet.Slower, which declare that they block in PreBind and Bind, puppet.Objects, which declares
 * a kind, and puppet.Lanes, which has only QueueSort, with lanes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

#include "puppet_functions.h"

static berth_code create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) BERTH_NOEXCEPT {
  static const char kPrefix[] = "stage-";
  const uint64_t prefix = sizeof(kPrefix) - 1;
  const berth_str profile = request->profile;
  char digits[17] = {0};
  (void)status;
  if (profile.len <= prefix || profile.len - prefix >= sizeof(digits)) return BERTH_BAD_ARGUMENT;
  memcpy(digits, profile.ptr + prefix, profile.len - prefix);
  const puppet_functions* test = (const puppet_functions*)(uintptr_t)strtoull(digits, NULL, 16);
  *out = test->create(test->self, request, host);
  return *out != NULL ? BERTH_SUCCESS : BERTH_ERROR;
}

static const char* const kPoints[] = {BERTH_POINT_PRE_ENQUEUE,
                                      BERTH_POINT_ENQUEUE_EXTENSIONS,
                                      BERTH_POINT_PRE_FILTER,
                                      BERTH_POINT_FILTER,
                                      BERTH_POINT_CHANGES,
                                      BERTH_POINT_QUEUE_SORT,
                                      BERTH_POINT_POST_FILTER,
                                      BERTH_POINT_PRE_SCORE,
                                      BERTH_POINT_SCORE,
                                      BERTH_POINT_RESERVE,
                                      BERTH_POINT_PERMIT,
                                      BERTH_POINT_PRE_BIND,
                                      BERTH_POINT_BIND,
                                      BERTH_POINT_POST_BIND,
                                      BERTH_POINT_ATTEMPT_FAILED,
                                      BERTH_POINT_HAND_OVER,
                                      NULL};
/* Both revisions of QueueSort. */
static const char* const kLanePoints[] = {BERTH_POINT_QUEUE_SORT_2, BERTH_POINT_QUEUE_SORT, NULL};
static const char* const kNone[] = {NULL};
static const char* const kNamespaces[] = {"v1/Namespace", NULL};
static const char* const kPodFields[] = {"/spec/schedulingGroup", NULL};

#define PUPPET_AT(points, name, flags, kinds)                                                    \
  {                                                                                              \
    sizeof(berth_plugin_info), flags, name, "1.0.0", "Calls the functions of the test.", points, \
        kNone, kinds, kNone, kPodFields, NULL                                                    \
  }
#define PUPPET(name, flags) PUPPET_AT(kPoints, name, flags, kNone)
static const berth_plugin_info kA = PUPPET("puppet.A", 0);
static const berth_plugin_info kB = PUPPET("puppet.B", 0);
static const berth_plugin_info kC = PUPPET("puppet.C", 0);
static const berth_plugin_info kD = PUPPET("puppet.D", 0);
static const berth_plugin_info kSlow = PUPPET("puppet.Slow", BERTH_PLUGIN_BLOCKS_IN_BIND);
static const berth_plugin_info kSlower = PUPPET("puppet.Slower", BERTH_PLUGIN_BLOCKS_IN_BIND);
static const berth_plugin_info kObjects = PUPPET_AT(kPoints, "puppet.Objects", 0, kNamespaces);
static const berth_plugin_info kLanes = PUPPET_AT(kLanePoints, "puppet.Lanes", 0, kNone);
static const berth_plugin_info* const kPlugins[] = {&kA,    &kB,      &kC,       &kD,
                                                    &kSlow, &kSlower, &kObjects, &kLanes};

const berth_entry berth_entry_v1 = {BERTH_MAGIC,
                                    sizeof(berth_entry),
                                    BERTH_ABI_MAJOR,
                                    BERTH_ABI_MINOR,
                                    0,
                                    64,
                                    0,
                                    sizeof(kPlugins) / sizeof(kPlugins[0]),
                                    kPlugins,
                                    NULL,
                                    NULL,
                                    create,
                                    BERTH_ABI_DRAFT};

#define NOTE(name)                                                                            \
  "{\"name\":\"" name                                                                         \
  "\",\"version\":\"1.0.0\",\"points\":[\"berth.pre_enqueue/1\",\"berth.enqueue_extensions/"  \
  "1\",\"berth.pre_filter/1\",\"berth.filter/1\",\"berth.changes/1\",\"berth.queue_sort/1\"," \
  "\"berth.post_filter/1\",\"berth.pre_score/1\",\"berth.score/1\",\"berth.reserve/1\","      \
  "\"berth.permit/1\",\"berth.pre_bind/1\",\"berth.bind/1\",\"berth.post_bind/"               \
  "1\",\"berth.attempt_failed/1\",\"berth.hand_over/1\"]}"
/* clang-format off */
BERTH_NOTE("{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":["
           NOTE("puppet.A") "," NOTE("puppet.B") "," NOTE("puppet.C") "," NOTE("puppet.D") ","
           NOTE("puppet.Slow") "," NOTE("puppet.Slower") "," NOTE("puppet.Objects")
           ",{\"name\":\"puppet.Lanes\",\"version\":\"1.0.0\","
           "\"points\":[\"berth.queue_sort/2\",\"berth.queue_sort/1\"]}]}");
/* clang-format on */

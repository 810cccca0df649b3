/* A plugin that keeps the contract, or, depending on a macro, violates one rule of it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <berth/abi.h>

/* Some variants do not use everything. The options of clang cannot state it before -Wall. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"

#ifdef BREAKS_CODES_OF_TWO
#define BREAKS_CODES
#define BREAKS_ARGS_OF_TWO
#endif

#include "points.h"
#define POINTS_TEXT                                                          \
  "\"points\":[\"berth.pre_filter/1\",\"berth.filter/1\",\"berth.score/1\"," \
  "\"berth.enqueue_extensions/1\"" MORE_POINTS_TEXT "]}"
#ifdef BREAKS_NOTE
BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":["
    "{\"name\":\"test.Broken\",\"version\":\"2.0.0\"," POINTS_TEXT "]}");
#elif defined BREAKS_ARGS_OF_TWO
BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":["
    "{\"name\":\"test.Broken\",\"version\":\"1.0.0\"," POINTS_TEXT
    ",{\"name\":\"test.Other\",\"version\":\"1.0.0\"," POINTS_TEXT "]}");
#else
BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":["
    "{\"name\":\"test.Broken\",\"version\":\"1.0.0\"," POINTS_TEXT "]}");
#endif

#ifdef BREAKS_EXPORTS
BERTH_EXPORT extern const int berth_entry_v1_extra;
const int berth_entry_v1_extra = 1;
#endif

/* These variants count the pods of each rack. The label of the rack is a column that PreFilter
 * binds. */
#if defined BREAKS_WHATIF_AT_RUN_TIME || defined BREAKS_DEPENDENCE_AT_RUN_TIME
#define COUNTS_RACKS
#endif

typedef struct State {
  int64_t wanted;
  void* more;
#ifdef BREAKS_WHATIF_TOGETHER
  uint32_t last; /* The row of the last change, plus one. */
  uint32_t changes;
#endif
#ifdef COUNTS_RACKS
  uint32_t column;
  uint32_t n_racks;
  berth_id racks[16];
  int64_t counts[16];
#endif
} State;

#if defined BREAKS_LOADING || defined BREAKS_LOADING_BY_EXIT || defined BREAKS_LOADING_FOR_EVER || \
    defined BREAKS_LOADING_WITHOUT_EXIT || defined BREAKS_SILENCE
#include "loading.h"
#endif
#ifdef BREAKS_NOTHING_WITH_A_POOL
#include "pool.h"
#endif

typedef struct Instance {
  berth_plugin abi;
  const berth_host* host;
  const void* misused; /* The service MISUSED_ID. */
  const berth_timer* timer;
  const berth_columns* columns;
  pthread_t thread;
  uint64_t sequence; /* The number of the last change of pods. */
  uint64_t last_bucket;
  uint64_t changed_at[64];
  int64_t pods[64];
  uint64_t pending_at; /* The number of the last change of pods without a node. */
  int64_t pending;
} Instance;

#if defined BREAKS_CREATE
#define CREATE_RESULT BERTH_BAD_ARGUMENT
#elif defined BREAKS_CREATE_BY_BUG
#define CREATE_RESULT BERTH_BUG
#elif defined BREAKS_CREATE_BY_CODE
#define CREATE_RESULT BERTH_SKIP
#elif defined BREAKS_CREATE_OF_NOTHING
#define CREATE_RESULT BERTH_SUCCESS
#elif defined BREAKS_CREATE_BY_ERROR
#define CREATE_RESULT BERTH_ERROR
#endif

static int64_t calls;
static int64_t busy;
static pthread_t creator;   /* The thread of create(). */
static void* volatile kept; /* The last piece of memory that is leaked. */

static void Sleep(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static int64_t I64(const berth_block* block, uint32_t column, uint32_t i) {
  const berth_column* from = &block->columns[column];
  return *(const int64_t*)((const char*)from->data + (uint64_t)i * from->stride);
}

#include "cluster_data.h"
#ifdef COUNTS_RACKS
#include "racks.h"
#endif
#include "foreign.h"
#include "neighbours.h"
#if defined BREAKS_NOTHING_AFTER_UNRESERVE || defined BREAKS_NOTHING_AFTER_POST_BIND
#include "reservations.h"
#elif defined HAS_LANES
#include "lanes.h"
#elif defined BREAKS_ENTITY
#include "entities.h"
#endif
#include "bindings.h"
#include "hand_over.h"
#include "permits.h"
#include "post_filters.h"
#include "services.h"

static berth_code PreFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            berth_pre_filter_out* out, berth_status* status) {
  State* state = cycle->slots[0];
  (void)out, (void)status;
  state->wanted = cycle->pod->request->milli_cpu;
  MisuseInPreFilter(self, cycle, all);
#ifdef BREAKS_NOTHING_IS_REACHED
  status->add_reason(status, (berth_str){"no", 2});
#endif
#ifdef COUNTS_RACKS
  CountPods(self, cycle, all);
#endif
#ifdef BREAKS_SLOT_BOUNDS
  memset(state, 0, sizeof *state + 8);
#endif
#ifdef BREAKS_PRE_FILTER_CODES
  return BERTH_WAIT;
#elif defined BREAKS_FAULTS
  return BERTH_BUG;
#elif defined BREAKS_NOTHING_IS_REACHED
  return BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
#else
  return BERTH_SUCCESS;
#endif
}

#include "pods.h"

/* Returns whether node i is rejected. Each variant uses something that it must not depend on. */
static int Rejects(const berth_cycle* cycle, const berth_block* block, uint32_t i) {
  const State* state = cycle->slots[0];
#ifdef COUNTS_RACKS
  State racks = *state;
  const int64_t* count = CountOf(&racks, block, i);
  if (count != NULL && *count > kMaxPodsOfRack) return 1;
#endif
#ifdef BREAKS_WHATIF_TOGETHER
  if (state->changes > 1) return 1;
#endif
#ifdef BREAKS_BLOCKS
  if (i % 3 == 2) return 1;
#endif
#ifdef BREAKS_SELECTION
  if (block->selected != NULL) return 1;
#endif
#ifdef BREAKS_REPEAT
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 7 == 0) return 1;
#endif
#if defined BREAKS_DEPENDENCE_ON_POD || defined SIGNS
  if (cycle->pod->priority > 500) return 1;
#endif
#ifdef BREAKS_DEPENDENCE_ON_PODS
  if (block->pods[i].count > 1) return 1;
#endif
#ifdef BREAKS_NOTHING_IS_REJECTED
  return 0;
#else
  return I64(block, 0, i) < state->wanted;
#endif
}

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  uint32_t written = block->n_selected;
  int64_t concurrent = 0;
  (void)status;
#ifdef BREAKS_LEAKS_OF_FILTER
  kept = calloc(1, 100 * 1000);
#endif
#ifdef BREAKS_NOTHING_WITH_A_CACHE
  /* Keeps the memory of the last 300 calls. */
  static void* cache[300];
  static uint64_t next;
  const uint64_t at = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 300;
  free(__atomic_exchange_n(&cache[at], malloc(200), __ATOMIC_RELAXED));
#endif
#if defined(BREAKS_CONCURRENCY) || defined(BREAKS_SURVIVAL_OF_THREADS)
  concurrent = __atomic_fetch_add(&busy, 1, __ATOMIC_SEQ_CST);
  /* Calls on the thread of create() come one after the other, so waiting there finds no other. */
  if (!pthread_equal(pthread_self(), creator)) Sleep(2);
#endif
#ifdef BREAKS_DEADLINES
  Sleep(1100);
#endif
#ifdef BREAKS_DEADLINES_FOR_EVER
  for (;;) Sleep(1000);
#endif
#ifdef BREAKS_SURVIVAL
  *(volatile int*)(uintptr_t)(block->count - block->count) = 1;
#endif
#ifdef BREAKS_SURVIVAL_OF_THREADS
  if (concurrent != 0) *(volatile int*)(uintptr_t)(block->count - block->count) = 1;
#endif
#ifdef BREAKS_SURVIVAL_BY_EXIT
  exit(3);
#endif
#ifdef BREAKS_NOTHING_WITH_A_POOL
  WaitForPool();
#endif
  ActInFilter();
#ifdef BREAKS_DEADLINES_ONCE
  if (__atomic_exchange_n(&calls, 1, __ATOMIC_RELAXED) == 0) Sleep(1100);
#endif
  MisuseInBlock(self);
#ifdef BREAKS_SLOTS
  ((State*)cycle->slots[0])->wanted += 1;
#endif
#ifdef BREAKS_OUTPUTS
  if (written > 0) --written;
#endif
  for (uint32_t k = 0; k < written; ++k) {
    const uint32_t i = block->selected != NULL ? block->selected[k] : k;
    const int rejected =
        Rejects(cycle, block, i) || concurrent != 0 || RejectsByIndex(self, block->rows[i]);
    out->codes[i] = rejected ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
    out->reasons[i] = rejected ? 1u : 0u;
#ifdef BREAKS_CODES
    out->reasons[i] = 0;
#endif
  }
#ifdef BREAKS_OUTPUTS_OF_OTHERS
  for (uint32_t i = 0; i < block->count; ++i) out->codes[i] = BERTH_SUCCESS;
#endif
#if defined(BREAKS_CONCURRENCY) || defined(BREAKS_SURVIVAL_OF_THREADS)
  __atomic_fetch_sub(&busy, 1, __ATOMIC_SEQ_CST);
#endif
  return BERTH_SUCCESS;
}

#include "whole.h"

static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  (void)self, (void)cycle, (void)status;
#ifdef BREAKS_LEAKS_OF_SCORE
  kept = malloc(16);
#endif
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = block->selected != NULL ? block->selected[k] : k;
    out->scores[i] = I64(block, 0, i);
#ifdef KNOWS_NEIGHBOURS
    out->scores[i] = PodsBeside(self, block->rows[i]);
#endif
#ifdef BREAKS_SCORES
    out->scores[i] = 101;
#elif defined BREAKS_NOTHING_IS_REJECTED
    out->scores[i] = 1;
#endif
  }
  return BERTH_SUCCESS;
}

#if defined BREAKS_HINTS_OF_ADDED_PODS
#define HINTS_OF BERTH_ACTION_ADD
#elif defined BREAKS_HINTS_OF_UPDATED_PODS
#define HINTS_OF BERTH_ACTION_UPDATE_POD_SCALE_DOWN
#elif defined BREAKS_HINTS_OF_DELETED_PODS
#define HINTS_OF BERTH_ACTION_DELETE
#endif
static uint32_t Hint(void* self, const berth_queued* queued, const berth_event* event) {
  (void)event;
  MisuseInQueue(self);
#ifdef BREAKS_LEAKS_OF_HINT
  kept = malloc(16);
#endif
#ifdef BREAKS_HINTS
  if (queued->pod->priority > 500) return BERTH_HINT_SKIP;
#endif
#ifdef HINTS_OF
  if (event->actions == HINTS_OF && queued->pod->priority > 500) return BERTH_HINT_SKIP;
#endif
  return queued->pod->request->milli_cpu > 0 ? BERTH_HINT_QUEUE : BERTH_HINT_SKIP;
}

#ifdef BREAKS_LEAKS_OF_SLOTS
static void Construct(void* at) {
  memset(at, 0, sizeof(State));
  ((State*)at)->more = malloc(64);
}
static berth_code Clone(void* to, const void* from) {
  memcpy(to, from, sizeof(State));
  ((State*)to)->more = malloc(64);
  return BERTH_SUCCESS;
}
static void DestroyState(void* at) { (void)at; }
#else
#define Construct NULL
#define Clone NULL
#define DestroyState NULL
#endif

#ifdef BREAKS_HOST_BY_FLAG
enum { kEnqueueFlags = 0x20 };
#else
enum { kEnqueueFlags = 0 };
#endif
#ifdef BREAKS_HOST
enum { kColumnType = BERTH_TYPE_I64, kSlotAlign = 3 };
#else
enum { kColumnType = BERTH_TYPE_I64, kSlotAlign = 8 };
#endif

#if defined BREAKS_WHATIF_AT_RUN_TIME || defined BREAKS_DEPENDENCE_OF_FILTER
enum { kDependsOn = BERTH_DEPENDS_NODE | BERTH_DEPENDS_NODE_PODS | BERTH_DEPENDS_OTHER };
#else
enum { kDependsOn = BERTH_DEPENDS_NODE };
#endif
static const berth_dependence kDependence = {sizeof(berth_dependence), kDependsOn,
                                             BERTH_PART(REQUESTS), SIGN, FILTER_CHANGED};
#ifndef KNOWS_NEIGHBOURS
#define kScoreDependence kDependence
#endif
static const berth_pre_filter kPreFilter = {sizeof(berth_pre_filter), 0, PreFilter, AddPod,
                                            RemovePod};
static const berth_filter kFilter = {sizeof(berth_filter), FILTER_FLAGS, FILTER_DEPENDENCE, Filter,
                                     FilterWhole};
#ifdef BREAKS_SCORES
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_NONE, 0, &kScoreDependence, Score, NULL};
#else
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_MAX, 0, &kScoreDependence, Score, NULL};
#endif
#ifdef BREAKS_HOST_BY_INTEREST
enum { kInterest = BERTH_RESOURCE_PVC };
#elif defined HINTS_OF
enum { kInterest = BERTH_RESOURCE_ASSIGNED_POD };
#else
enum { kInterest = BERTH_RESOURCE_NODE };
#endif
static const berth_event_interest kInterests[] = {
    {kInterest, BERTH_ACTION_ALL, NULL, 1, 0, BERTH_PART(REQUESTS)}};
#ifdef BREAKS_HOST_BY_POINT
#define Hint NULL
#endif
static const berth_enqueue_extensions kEnqueue = {
    sizeof(berth_enqueue_extensions), kEnqueueFlags, {kInterests, 1, sizeof kInterests[0]}, Hint};
static const berth_column_request kColumns[] = {
    {sizeof(berth_column_request), 0, "alloc.cpu", kColumnType, 0} MORE_COLUMNS};
static const berth_slot kSlots[] = {{sizeof(berth_slot), sizeof(State), kSlotAlign, 0,
                                     "test.Broken/1", Construct, Clone, DestroyState}};
static const char kReason[] = "Insufficient cpu";
#ifdef BREAKS_SHAPE
static const berth_str kReasons[] = {{kReason, sizeof kReason - 1}, {NULL, 0}};
#else
static const berth_str kReasons[] = {{kReason, sizeof kReason - 1}};
#endif
static const void* GetPoint(const berth_plugin* plugin, const char* id) {
  (void)plugin;
  if (strcmp(id, BERTH_POINT_PRE_FILTER) == 0) return &kPreFilter;
  if (strcmp(id, BERTH_POINT_FILTER) == 0) return &kFilter;
  if (strcmp(id, BERTH_POINT_SCORE) == 0) return &kScore;
  if (strcmp(id, BERTH_POINT_ENQUEUE_EXTENSIONS) == 0) return &kEnqueue;
#ifdef FIRST_ID
  if (strcmp(id, FIRST_ID) == 0) return &kFirst;
#endif
#ifdef SECOND_ID
  if (strcmp(id, SECOND_ID) == 0) return &kSecond;
#endif
  return NULL;
}

#if defined BREAKS_INSTANCES_BY_THREADS
static void* WaitForEver(void* nothing) {
  for (;;) pause();
  return nothing;
}
#endif
#ifdef BREAKS_NOTHING_WITH_A_THREAD
static void* End(void* nothing) { return nothing; }
#endif

static void Destroy(berth_plugin* plugin) {
#ifdef BREAKS_NOTHING_WITH_A_THREAD
  pthread_join(((Instance*)plugin->self)->thread, NULL);
#endif
#ifndef BREAKS_LEAKS
  free(plugin->self);
#else
  (void)plugin;
#endif
}

#ifdef BREAKS_SILENCE
#include "silence.h"
#endif

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  const void* timer = NULL;
  const void* columns = NULL;
  Instance* plugin = calloc(1, sizeof *plugin);
  (void)request, (void)status;
  if (plugin == NULL) return BERTH_ERROR;
  host->get_service(host, BERTH_SERVICE_TIMER, &timer);
  plugin->host = host;
  plugin->timer = timer;
  host->get_service(host, BERTH_SERVICE_COLUMNS, &columns);
  host->get_service(host, MISUSED_ID, &plugin->misused);
  plugin->columns = columns;
  creator = pthread_self();
  MisuseClusterData(host);
#ifdef BREAKS_INSTANCES
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 10 == 0) open("/dev/null", O_RDONLY);
#endif
#ifdef BREAKS_INSTANCES_BY_THREADS
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 100 == 0) {
    pthread_create(&plugin->thread, NULL, WaitForEver, NULL);
    pthread_detach(plugin->thread);
  }
#endif
#ifdef BREAKS_NOTHING_WITH_A_THREAD
  pthread_create(&plugin->thread, NULL, End, NULL);
#endif
#ifdef BREAKS_SILENCE
  PrintAndForkChild();
#endif
#ifdef BREAKS_ARGS_BY_SCHEMA
  if (request->args != NULL) abort(); /* The test passes only arguments that the schema forbids. */
#endif
#ifdef CREATE_RESULT
  free(plugin);
  return CREATE_RESULT;
#endif
#ifdef BREAKS_ARGS_OF_TWO
  if ((request->args == NULL) != (request->name.len == strlen("test.Broken"))) {
    free(plugin);
    return BERTH_BAD_ARGUMENT;
  }
#endif
  plugin->abi.struct_size = sizeof plugin->abi;
  plugin->abi.self = plugin;
  plugin->abi.columns = (berth_array){kColumns, COLUMN_COUNT, sizeof kColumns[0]};
  plugin->abi.slots = (berth_array){kSlots, 1, sizeof kSlots[0]};
  plugin->abi.reasons =
      (berth_array){kReasons, sizeof kReasons / sizeof kReasons[0], sizeof kReasons[0]};
  plugin->abi.get_point = GetPoint;
  plugin->abi.destroy = Destroy;
  *out = &plugin->abi;
  return BERTH_SUCCESS;
}

#ifdef FIRST_ID
static const char* const kPoints[] = {BERTH_POINT_PRE_FILTER,
                                      BERTH_POINT_FILTER,
                                      BERTH_POINT_SCORE,
                                      BERTH_POINT_ENQUEUE_EXTENSIONS,
                                      FIRST_ID,
#ifdef SECOND_ID
                                      SECOND_ID,
#endif
                                      NULL};
#else
static const char* const kPoints[] = {BERTH_POINT_PRE_FILTER, BERTH_POINT_FILTER, BERTH_POINT_SCORE,
                                      BERTH_POINT_ENQUEUE_EXTENSIONS, NULL};
#endif
#ifdef BREAKS_HOST_BY_SERVICE
static const char* const kServices[] = {"test.absent/1", NULL};
#else
static const char* const kServices[] = {BERTH_SERVICE_TIMER, NULL};
#endif
#ifdef BREAKS_ARGS_BY_SCHEMA
#define ARGS_SCHEMA                                                                        \
  "{\"type\":\"object\",\"properties\":{\"cpu\":{\"type\":\"integer\"},\"gpu\":{\"type\":" \
  "\"integer\"}}}"
#else
#define ARGS_SCHEMA NULL
#endif
static const berth_plugin_info kInfo = {.struct_size = sizeof(berth_plugin_info),
                                        .name = "test.Broken",
                                        .version = "1.0.0",
                                        .about = "Keeps the contract, or violates it.",
                                        .points = kPoints,
                                        .services = kServices,
                                        .kinds = kKinds,
                                        .args_schema = ARGS_SCHEMA};
#ifdef BREAKS_ARGS_OF_TWO
static const berth_plugin_info kOther = {.struct_size = sizeof(berth_plugin_info),
                                         .name = "test.Other",
                                         .version = "1.0.0",
                                         .about = "Requires arguments, unlike the first.",
                                         .points = kPoints};
static const berth_plugin_info* const kPlugins[] = {&kInfo, &kOther};
#else
static const berth_plugin_info* const kPlugins[] = {&kInfo};
#endif

const berth_entry berth_entry_v1 = {.magic = BERTH_MAGIC,
                                    .struct_size = sizeof(berth_entry),
                                    .abi_major = BERTH_ABI_MAJOR,
                                    .abi_minor = BERTH_ABI_MINOR,
                                    .pointer_bits = 64,
                                    .n_plugins = sizeof kPlugins / sizeof kPlugins[0],
                                    .plugins = kPlugins,
                                    .create = Create,
                                    .abi_draft = BERTH_ABI_DRAFT};

/* Keeps a share of every node's memory free for bursts, except for pods of high priority, and
 * prefers nodes with more free memory. Plain C11; it needs only <berth/plugin_c.h>. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <berth/plugin_c.h>

/* ---- Data ------------------------------------------------------------------------------------ */

/* One plugin instance, with the arguments of its profile. */
typedef struct Headroom {
  berth_plugin abi;
  int64_t percent;
  int64_t exempt_priority;
} Headroom;

/* The state of one pod's attempt. The host constructs and copies it. */
typedef struct State {
  int64_t memory;  /* the pod's request */
  int64_t percent; /* the share to keep free for this pod */
  int64_t is_set;  /* 1 after PreFilter; the host zeroes the state before */
} State;

/* The columns that the plugin reads for every node: one array per column, in this order. */
enum { kAllocMemory, kReqMemory, kColumns };
static const berth_column_request kColumnRequests[kColumns] = {
    {sizeof(berth_column_request), 0, "alloc.memory", BERTH_TYPE_I64, 0},
    {sizeof(berth_column_request), 0, "req.memory", BERTH_TYPE_I64, 0}};

/* A slot without functions is zeroed at the start and copied byte by byte. */
static const berth_slot kSlots[] = {{sizeof(berth_slot), sizeof(State), _Alignof(State), 0,
                                     "acme.MemoryHeadroom.state/1", NULL, NULL, NULL}};

/* The texts of the reasons. Bit i of a verdict means reason i. */
static const berth_str kReasons[] = {BERTH_STR_INIT("Insufficient memory headroom")};

/* The data that the results depend on. The host may reuse a result until this data changes. */
static const berth_dependence kDependence = {sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                             BERTH_PART(REQUESTS) | BERTH_PART(PRIORITY), NULL,
                                             NULL};

/* ---- Extension points ------------------------------------------------------------------------ */

/* Returns the memory of node i that is free with the pod on it, or less than 0 if the pod does not
 * fit. Amounts may be as large as 2^63-1, so the request is not subtracted from less than 0. */
static int64_t MemoryLeft(const berth_block* block, uint32_t i, int64_t request) {
  const int64_t free =
      BERTH_CELL(int64_t, block, kAllocMemory, i) - BERTH_CELL(int64_t, block, kReqMemory, i);
  return free < 0 ? free : free - request;
}

static berth_code PreFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            berth_pre_filter_out* out, berth_status* status) {
  const Headroom* plugin = self;
  State* state = cycle->slots[0];
  (void)all, (void)out, (void)status;
  state->memory = cycle->pod->request->memory;
  state->percent = cycle->pod->priority >= plugin->exempt_priority ? 0 : plugin->percent;
  state->is_set = 1;
  return BERTH_SUCCESS;
}

/* Runs on several threads at the same time, so it must not change the instance or the state. */
static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  const State* state = cycle->slots[0];
  (void)self;
  if (!state->is_set) {
    status->add_reason(status, BERTH_STR("Filter requires the state of PreFilter, which was not "
                                         "called: the profile must run the plugin at PreFilter"));
    return BERTH_ERROR;
  }
  BERTH_FOR_EACH_SELECTED(block, i) {
    const int64_t alloc = BERTH_CELL(int64_t, block, kAllocMemory, i);
    const int64_t left = MemoryLeft(block, i, state->memory);
    const int rejected = left < alloc / 100 * state->percent;
    out->codes[i] = rejected ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
    out->reasons[i] = rejected ? 1u : 0u;
  }
  return BERTH_SUCCESS;
}

/* Scores a node by the share of its memory that stays free, in percent. */
static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  const int64_t memory = cycle->pod->request->memory;
  (void)self, (void)status;
  BERTH_FOR_EACH_SELECTED(block, i) {
    const int64_t alloc = BERTH_CELL(int64_t, block, kAllocMemory, i);
    const int64_t left = MemoryLeft(block, i, memory);
    out->scores[i] = left <= 0 || alloc < 100 ? 0 : left / (alloc / 100);
    if (out->scores[i] > BERTH_SCORE_MAX) out->scores[i] = BERTH_SCORE_MAX;
  }
  return BERTH_SUCCESS;
}

static const berth_pre_filter kPreFilter = {sizeof(berth_pre_filter), 0, PreFilter, NULL, NULL};
static const berth_filter kFilter = {sizeof(berth_filter), 0, &kDependence, Filter, NULL};
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_NONE, 0, &kDependence, Score, NULL};

/* ---- Arguments ------------------------------------------------------------------------------- */

static const char kSchema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"percent\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":90,\"default\":10,"
    "\"description\":\"Share of a node's memory to keep free.\"},"
    "\"exemptPriority\":{\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647,"
    "\"default\":1000000000,\"description\":\"Pods of this priority or higher may use all "
    "memory.\"}}}";

static berth_str Str(const char* text) {
  const berth_str str = {text, strlen(text)};
  return str;
}

typedef struct IntArg {
  const char* path; /* "/percent", as a JSON pointer */
  int64_t min, max;
  const char* expected;
} IntArg;
static const IntArg kPercent = {"/percent", 0, 90, "expected an integer of 0 to 90"};
static const IntArg kExemptPriority = {"/exemptPriority", INT32_MIN, INT32_MAX,
                                       "expected an integer of 32 bits"};

/* Reads an argument into `*out`, which keeps its value if the profile does not name the
 * argument. */
static int ReadInt(const berth_values* reader, const berth_value* args, const IntArg* arg,
                   int64_t* out, berth_status* status) {
  const berth_value* value = reader->get(args, Str(arg->path + 1));
  if (value == NULL) return 1;
  if (reader->kind(value) != BERTH_VALUE_INT || reader->as_int(value) < arg->min ||
      reader->as_int(value) > arg->max) {
    status->add_argument_error(status, Str(arg->path), Str(arg->expected));
    return 0;
  }
  *out = reader->as_int(value);
  return 1;
}

/* ---- The library ----------------------------------------------------------------------------- */

static const char* const kServices[] = {BERTH_SERVICE_VALUES, NULL};
#define POINTS(POINT) POINT(PRE_FILTER, kPreFilter), POINT(FILTER, kFilter), POINT(SCORE, kScore)
BERTH_LIBRARY(
    "acme.MemoryHeadroom", "1.0.0", POINTS, Create,
    .about = "Keeps a share of every node's memory free, except for pods of high priority.",
    .services = kServices, .args_schema = kSchema);

static void Destroy(berth_plugin* plugin) { free(plugin->self); }

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  Headroom made = {.percent = 10, .exempt_priority = 1000000000};
  const void* values = NULL;
  int good = 0;
  Headroom* plugin = NULL;
  if (host->get_service(host, BERTH_SERVICE_VALUES, &values) != BERTH_SUCCESS) return BERTH_ERROR;
  /* Reads both arguments before it returns, so that all errors are reported at once. */
  good = ReadInt(values, request->args, &kPercent, &made.percent, status);
  good &= ReadInt(values, request->args, &kExemptPriority, &made.exempt_priority, status);
  if (!good) return BERTH_BAD_ARGUMENT;
  plugin = malloc(sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  *plugin = made;
  plugin->abi.struct_size = sizeof plugin->abi;
  plugin->abi.self = plugin;
  plugin->abi.columns = BERTH_ARRAY_OF(kColumnRequests);
  plugin->abi.slots = BERTH_ARRAY_OF(kSlots);
  plugin->abi.reasons = BERTH_ARRAY_OF(kReasons);
  plugin->abi.get_point = berth_get_point;
  plugin->abi.destroy = Destroy;
  *out = &plugin->abi;
  return BERTH_SUCCESS;
}

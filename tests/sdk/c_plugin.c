/* Keeps some cpu free on every node, in plain C11 against <berth/abi.h> only: Filter, Score,
 * arguments and cycle state. cpp_plugin.cc does the same in C++; the tests require the same results
 * of both. */
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":[{\"name\":\"test.Headroom\",\"version\":\"1.0."
    "0\","
    "\"points\":[\"berth.pre_filter/1\",\"berth.filter/1\",\"berth.score/1\"]}]}");

typedef struct Headroom {
  berth_plugin abi;
  int64_t cpu_milli; /* to keep free */
} Headroom;

/* Cycle state: the cpu that a node must have free, computed once per pod. */
typedef struct Wanted {
  int64_t cpu_milli;
} Wanted;

enum { kAllocCpu, kReqCpu, kColumns };

static berth_str Str(const char* text) {
  const berth_str str = {text, strlen(text)};
  return str;
}

static int64_t I64(const berth_block* block, uint32_t column, uint32_t i) {
  const berth_column* from = &block->columns[column];
  return *(const int64_t*)((const char*)from->data + (uint64_t)i * from->stride);
}

static int64_t FreeCpu(const berth_block* block, uint32_t i) {
  return I64(block, kAllocCpu, i) - I64(block, kReqCpu, i);
}

static uint32_t Selected(const berth_block* block, uint32_t k) {
  return block->selected != NULL ? block->selected[k] : k;
}

static berth_code PreFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            berth_pre_filter_out* out, berth_status* status) {
  const Headroom* plugin = self;
  Wanted* wanted = cycle->slots[0];
  (void)all, (void)out;
  if (cycle->pod->request->milli_cpu < 0) {
    status->add_reason(status, Str("negative cpu request"));
    return BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
  }
  wanted->cpu_milli = cycle->pod->request->milli_cpu + plugin->cpu_milli;
  return BERTH_SUCCESS;
}

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  const Wanted* wanted = cycle->slots[0];
  (void)self, (void)status;
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = Selected(block, k);
    const int refuse = FreeCpu(block, i) < wanted->cpu_milli;
    out->codes[i] = refuse ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
    out->reasons[i] = refuse ? 1u : 0u;
  }
  return BERTH_SUCCESS;
}

static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  (void)self, (void)status;
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = Selected(block, k);
    out->scores[i] = FreeCpu(block, i) - cycle->pod->request->milli_cpu;
  }
  return BERTH_SUCCESS;
}

static const berth_dependence kDependence = {sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                             BERTH_PART(REQUESTS), NULL, NULL};
static const berth_pre_filter kPreFilter = {sizeof(berth_pre_filter), 0, PreFilter, NULL, NULL};
static const berth_filter kFilter = {sizeof(berth_filter), 0, &kDependence, Filter, NULL};
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_MIN_MAX, 0, &kDependence, Score, NULL};
static const berth_column_request kColumnRequests[kColumns] = {
    {sizeof(berth_column_request), 0, "alloc.cpu", BERTH_TYPE_I64, 0},
    {sizeof(berth_column_request), 0, "req.cpu", BERTH_TYPE_I64, 0}};
static const berth_slot kSlots[] = {{sizeof(berth_slot), sizeof(Wanted), _Alignof(Wanted), 0,
                                     "test.Headroom.wanted/1", NULL, NULL, NULL}};
static const char kReason[] = "Insufficient cpu headroom";
static const berth_str kReasons[] = {{kReason, sizeof kReason - 1}};

static const void* GetPoint(const berth_plugin* plugin, const char* id) {
  (void)plugin;
  if (strcmp(id, BERTH_POINT_PRE_FILTER) == 0) return &kPreFilter;
  if (strcmp(id, BERTH_POINT_FILTER) == 0) return &kFilter;
  if (strcmp(id, BERTH_POINT_SCORE) == 0) return &kScore;
  return NULL;
}

static void Destroy(berth_plugin* plugin) { free(plugin->self); }

/* Reads "cpuMilli", which must be 0 or more. Default: 500. */
static berth_code ReadCpuMilli(const berth_host* host, const berth_value* args, int64_t* cpu_milli,
                               berth_status* status) {
  const void* service = NULL;
  const berth_values* reader = NULL;
  const berth_value* value = NULL;
  if (host->get_service(host, BERTH_SERVICE_VALUES, &service) != BERTH_SUCCESS) return BERTH_ERROR;
  reader = service;
  value = reader->get(args, Str("cpuMilli"));
  if (value == NULL) return BERTH_SUCCESS;
  if (reader->kind(value) != BERTH_VALUE_INT || reader->as_int(value) < 0) {
    status->add_argument_error(status, Str("/cpuMilli"), Str("expected an integer of 0 or more"));
    return BERTH_BAD_ARGUMENT;
  }
  *cpu_milli = reader->as_int(value);
  return BERTH_SUCCESS;
}

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  int64_t cpu_milli = 500;
  Headroom* plugin = NULL;
  const berth_code code = ReadCpuMilli(host, request->args, &cpu_milli, status);
  if (code != BERTH_SUCCESS) return code;
  plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  plugin->cpu_milli = cpu_milli;
  plugin->abi.struct_size = sizeof plugin->abi;
  plugin->abi.self = plugin;
  plugin->abi.columns = (berth_array){kColumnRequests, kColumns, sizeof kColumnRequests[0]};
  plugin->abi.slots = (berth_array){kSlots, 1, sizeof kSlots[0]};
  plugin->abi.reasons = (berth_array){kReasons, 1, sizeof kReasons[0]};
  plugin->abi.get_point = GetPoint;
  plugin->abi.destroy = Destroy;
  *out = &plugin->abi;
  return BERTH_SUCCESS;
}

static const char* const kPoints[] = {BERTH_POINT_PRE_FILTER, BERTH_POINT_FILTER, BERTH_POINT_SCORE,
                                      NULL};
static const char* const kServices[] = {BERTH_SERVICE_VALUES, NULL};
static const berth_plugin_info kInfo = {
    sizeof(berth_plugin_info),
    0,
    "test.Headroom",
    "1.0.0",
    "Keeps some cpu free on every node.",
    kPoints,
    kServices,
    NULL,
    NULL,
    NULL,
    "{\"type\":\"object\",\"properties\":{\"cpuMilli\":{\"type\":\"integer\"}}}"};
static const berth_plugin_info* const kPlugins[] = {&kInfo};

const berth_entry berth_entry_v1 = {BERTH_MAGIC,
                                    sizeof(berth_entry),
                                    BERTH_ABI_MAJOR,
                                    BERTH_ABI_MINOR,
                                    0,
                                    64,
                                    0,
                                    1,
                                    kPlugins,
                                    NULL,
                                    NULL,
                                    Create,
                                    BERTH_ABI_DRAFT};

/* Describes the plugin to the host, and calls the policy in Go. */
#include <stdlib.h>

#include <berth/plugin_c.h>

#include "_cgo_export.h"

/* The columns that the host passes for every node, in the order of forEachNode() in bridge.go. */
#define COLUMN(name) \
  { sizeof(berth_column_request), 0, name, BERTH_TYPE_I64, 0 }
static const berth_column_request kColumnRequests[] = {
    COLUMN("alloc.cpu"), COLUMN("req.cpu"), COLUMN("alloc.memory"), COLUMN("req.memory")};

/* The texts of the reasons. Bit i of a verdict means reason i. */
static const berth_str kReasons[] = {BERTH_STR_INIT("the pod would leave a crumb of cpu")};

/* The data that the results depend on. The host may reuse a result until this data changes. */
static const berth_dependence kDependence = {sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                             BERTH_PART(REQUESTS), NULL, NULL};

static const char kSchema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"crumbMilli\":{"
    "\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000,\"default\":500,"
    "\"description\":\"The least cpu that may be left on a node, unless nothing is left.\"}}}";

/* One plugin instance: the policy of one profile. */
typedef struct Instance {
  berth_plugin abi;
  uintptr_t policy; /* what GoCreate returned */
} Instance;

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  const Instance* plugin = self;
  return GoFilter(plugin->policy, (berth_pod*)cycle->pod, (berth_block*)block, out, status);
}
static const berth_filter kFilter = {sizeof(berth_filter), 0, &kDependence, Filter, NULL};

static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  const Instance* plugin = self;
  return GoScore(plugin->policy, (berth_pod*)cycle->pod, (berth_block*)block, out, status);
}
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_NONE, 0, &kDependence, Score, NULL};

static const char* const kServices[] = {BERTH_SERVICE_VALUES, NULL};
#define POINTS(POINT) POINT(FILTER, kFilter), POINT(SCORE, kScore)
BERTH_LIBRARY("acme.NoCrumbs", "1.0.0", POINTS, Create,
              .about = "Keeps pods off nodes on which they would leave a useless rest of cpu.",
              .services = kServices, .args_schema = kSchema);

/* Called by bridge.go: Go cannot call a function pointer of C. */
void AddReason(berth_status* status, const char* text, uint64_t size) {
  const berth_str reason = {text, size};
  status->add_reason(status, reason);
}

/* The arguments as JSON. */
typedef struct Json {
  char text[4096];
  uint64_t size; /* may exceed that of `text`, which then is incomplete */
} Json;
static void PutJson(void* to, berth_str piece) {
  Json* json = to;
  for (uint64_t i = 0; i < piece.len; ++i, ++json->size) {
    if (json->size < sizeof json->text) json->text[json->size] = piece.ptr[i];
  }
}

static void Destroy(berth_plugin* plugin) {
  Instance* instance = plugin->self;
  GoDestroy(instance->policy);
  free(instance);
}

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  Json args = {.size = 0};
  const void* values = NULL;
  Instance* plugin = NULL;
  if (host->get_service(host, BERTH_SERVICE_VALUES, &values) != BERTH_SUCCESS) return BERTH_ERROR;
  ((const berth_values*)values)->write_json(request->args, PutJson, &args);
  if (args.size > sizeof args.text) {
    status->add_argument_error(status, BERTH_STR(""), BERTH_STR("expected at most 4096 bytes"));
    return BERTH_BAD_ARGUMENT;
  }
  plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  plugin->policy = GoCreate(args.text, args.size, status);
  if (plugin->policy == 0) {
    free(plugin);
    return BERTH_BAD_ARGUMENT;
  }
  plugin->abi.struct_size = sizeof plugin->abi;
  plugin->abi.self = plugin;
  plugin->abi.columns = BERTH_ARRAY_OF(kColumnRequests);
  plugin->abi.reasons = BERTH_ARRAY_OF(kReasons);
  plugin->abi.get_point = berth_get_point;
  plugin->abi.destroy = Destroy;
  *out = &plugin->abi;
  return BERTH_SUCCESS;
}

/* test.Foreign imitates a plugin in a language with a runtime of its own. It does in Filter what
 * the environment variable BERTH_TEST_FOREIGN names; see ForeignDo(). */
#include <stdlib.h>

#include <berth/abi.h>
#include <berth/plugin_c.h>

#include "tests/harness/foreign_runtime.h"

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  (void)self, (void)cycle, (void)status;
  ForeignDo(getenv("BERTH_TEST_FOREIGN"));
  BERTH_FOR_EACH_SELECTED(block, i) out->codes[i] = BERTH_SUCCESS;
  return BERTH_SUCCESS;
}

static const berth_dependence kDependence = {.struct_size = sizeof(berth_dependence),
                                             .cluster = BERTH_DEPENDS_NODE};
static const berth_filter kFilter = {
    .struct_size = sizeof(berth_filter), .dependence = &kDependence, .filter = Filter};

#define POINTS(POINT) POINT(FILTER, kFilter)
BERTH_LIBRARY("test.Foreign", "1.0.0", POINTS, Create, .about = "Handles signals and faults.");

static void Destroy(berth_plugin* plugin) { free(plugin); }

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  (void)host, (void)request, (void)status;
  berth_plugin* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  plugin->struct_size = sizeof *plugin;
  plugin->self = plugin;
  plugin->get_point = berth_get_point;
  plugin->destroy = Destroy;
  *out = plugin;
  ForeignTakeAbort();
  return BERTH_SUCCESS;
}

__attribute__((constructor)) static void Load(void) { ForeignTakeSignals(); }

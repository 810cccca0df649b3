/* test.Guest: cannot do without any service of the host, and asks something of most. It lets pods
 * wait on Permit; a timer allows them a second after it was created. What it hears of, it logs. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

typedef struct guest {
  berth_plugin abi;
  const berth_host* host;
  const berth_log* log;
  const berth_metrics* metrics;
  const berth_objects* objects;
  const berth_waiting* waiting;
  const berth_timer* timer;
  const berth_api* api;
  uint32_t allowed; /* a counter */
} guest;

static berth_str Str(const char* text) {
  const berth_str str = {text, strlen(text)};
  return str;
}

static void Say(const guest* self, const char* message, const char* key, berth_str value) {
  const berth_str_pair pair = {Str(key), value};
  self->log->log(self->host, BERTH_LOG_INFO, Str(message), &pair, 1);
}

/* ---- What it is called with ------------------------------------------------------------------ */

static void Changed(void* to, const berth_object* old, const berth_object* now) {
  const char* what = old == NULL ? "added" : now == NULL ? "removed" : "changed";
  Say((const guest*)to, "namespace", what, (now != NULL ? now : old)->meta->name);
}

static void Answered(void* to, berth_code code, berth_str body) {
  const char* what = code == BERTH_SUCCESS     ? "success"
                     : code == BERTH_CANCELLED ? "cancelled"
                                               : "refused";
  Say((const guest*)to, "answer", what, body);
}

static int32_t AllowOne(void* to, const berth_pod* pod) {
  const guest* self = (const guest*)to;
  const berth_tagged regarding = {BERTH_KIND_POD, 0, pod};
  self->waiting->allow(self->host, pod->meta->uid);
  self->metrics->observe(self->host, self->allowed, &pod->meta->name, 1);
  self->api->event(self->host, &regarding, NULL, Str("Normal"), Str("Allowed"), Str("Waiting"),
                   Str("come in"));
  Say(self, "allowed", "pod", pod->meta->name);
  return 1;
}

static void Fired(void* to) {
  guest* self = (guest*)to;
  self->waiting->each(self->host, AllowOne, self);
}

static berth_code Permit(void* to, const berth_cycle* cycle, const berth_target* target,
                         int64_t* timeout_ns, berth_status* status) BERTH_NOEXCEPT {
  guest* self = (guest*)to;
  uint64_t timer = 0;
  (void)cycle;
  (void)target;
  (void)status;
  self->timer->start(self->host, 1000000000, Fired, self, &timer);
  self->api->request(self->host, Str("GET"), Str("/version"), Str(""), 0, Answered, self);
  *timeout_ns = 60 * (int64_t)1000000000;
  return BERTH_WAIT;
}

static const berth_permit kPermit = {sizeof(berth_permit), 0, Permit};

/* ---- What it is ------------------------------------------------------------------------------ */

static const void* GetPoint(const berth_plugin* plugin, const char* id) BERTH_NOEXCEPT {
  (void)plugin;
  return strcmp(id, BERTH_POINT_PERMIT) == 0 ? &kPermit : NULL;
}

static void Destroy(berth_plugin* plugin) BERTH_NOEXCEPT { free(plugin->self); }

static const char* const kServices[] = {BERTH_SERVICE_LOG,        BERTH_SERVICE_STRINGS,
                                        BERTH_SERVICE_COLUMNS,    BERTH_SERVICE_VALUES,
                                        BERTH_SERVICE_METRICS,    BERTH_SERVICE_OBJECTS,
                                        BERTH_SERVICE_WHATIF,     BERTH_SERVICE_NOMINATOR,
                                        BERTH_SERVICE_ACTIVATE,   BERTH_SERVICE_WAITING,
                                        BERTH_SERVICE_TIMER,      BERTH_SERVICE_API,
                                        BERTH_SERVICE_COMPLETION, NULL};

static berth_code Create(const berth_host* host, berth_str name, berth_str profile,
                         const berth_value* args, berth_plugin** out,
                         berth_status* status) BERTH_NOEXCEPT {
  guest* self = (guest*)calloc(1, sizeof(guest));
  const struct {
    const char* id;
    const void** to;
  } wanted[] = {{BERTH_SERVICE_LOG, (const void**)&self->log},
                {BERTH_SERVICE_METRICS, (const void**)&self->metrics},
                {BERTH_SERVICE_OBJECTS, (const void**)&self->objects},
                {BERTH_SERVICE_WAITING, (const void**)&self->waiting},
                {BERTH_SERVICE_TIMER, (const void**)&self->timer},
                {BERTH_SERVICE_API, (const void**)&self->api}};
  const berth_str label = Str("pod");
  const berth_metric metric = {sizeof(berth_metric),
                               BERTH_METRIC_COUNTER,
                               Str("guest_allowed_total"),
                               Str("Pods that were allowed."),
                               &label,
                               1,
                               NULL,
                               0};
  (void)name;
  (void)profile;
  (void)args;
  (void)status;
  self->host = host;
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    host->get_service(host, wanted[i].id, wanted[i].to);
  }
  self->metrics->define(host, &metric, &self->allowed);
  self->objects->watch(host, Str("v1/Namespace"), Changed, self);
  self->abi.struct_size = sizeof(berth_plugin);
  self->abi.self = self;
  self->abi.get_point = GetPoint;
  self->abi.destroy = Destroy;
  *out = &self->abi;
  return BERTH_SUCCESS;
}

static const char* const kPoints[] = {BERTH_POINT_PERMIT, NULL};
static const char* const kKinds[] = {"v1/Namespace", NULL};
static const char* const kNone[] = {NULL};
static const berth_plugin_info kGuest = {sizeof(berth_plugin_info),
                                         0,
                                         "test.Guest",
                                         "1.0.0",
                                         "Uses all that the house offers.",
                                         kPoints,
                                         kServices,
                                         kKinds,
                                         kNone,
                                         kNone,
                                         NULL};
static const berth_plugin_info* const kPlugins[] = {&kGuest};

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
                                    Create};

BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":[{\"name\":\"test.Guest\","
    "\"version\":\"1.0.0\",\"points\":[\"berth.permit/1\"]}]}");

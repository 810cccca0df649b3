/* test.Guest requires every service of the host and uses most of them. It makes pods wait in
 * Permit, and starts a timer there that allows the waiting pods after one second. It logs every
 * notification and response.
 *
 * Arguments: Permit sends "requests", [[verb, path, body, content type], ...], to the API server,
 * and "patch" as a patch of the pod's status, with the flags "patchFlags". If "http" is true, the
 * plugin also logs the HTTP status of each answer, and the kind that its decoded body names. For
 * each member of "values" the plugin logs what the functions of the values service return. Permit
 * makes the "calls", and the plugin logs their results: see CallOf(). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

enum { kMaxRequests = 8, kMaxCalls = 8, kTextMax = 512 };

typedef struct request {
  char text[4][kTextMax]; /* The verb, the path, the body and its content type. */
} request;

typedef struct guest {
  berth_plugin abi;
  const berth_host* host;
  const berth_log* log;
  const berth_values* values;
  const berth_metrics* metrics;
  const berth_objects* objects;
  const berth_waiting* waiting;
  const berth_timer* timer;
  const berth_api* api;
  const berth_node_lookup* nodes;
  const berth_random* random;
  uint32_t allowed; /* A counter of allowed pods. */
  uint32_t last;    /* A gauge: when a pod was last allowed, in seconds. */
  uint32_t sizes;   /* A histogram of the lengths of the pods' names. */
  const berth_refs* refs;
  const berth_object* kept;
  request requests[kMaxRequests];
  uint64_t n_requests;
  char patch[kTextMax]; /* Empty if no patch is sent. */
  int64_t patch_flags;
  int64_t says_http;
  char calls[kMaxCalls][kTextMax];
  uint64_t n_calls;
} guest;

static berth_str Str(const char* text) {
  const berth_str str = {text, strlen(text)};
  return str;
}

static void Say(const guest* self, const char* message, const char* key, berth_str value) {
  const berth_str_pair pair = {Str(key), value};
  self->log->log(self->host, BERTH_LOG_INFO, Str(message), &pair, 1);
}

static void Copy(char* to, berth_str from) {
  const uint64_t n = from.len < kTextMax ? from.len : kTextMax - 1;
  if (n > 0) memcpy(to, from.ptr, n);
}

/* ---- Callbacks and extension points ---------------------------------------------------------- */

static berth_tagged Tagged(const berth_object* object) {
  const berth_tagged tagged = {BERTH_KIND_OBJECT, 0, object};
  return tagged;
}

static void Changed(void* to, const berth_object_change* change) {
  guest* self = (guest*)to;
  const berth_object* old = change->old;
  const berth_object* now = change->now;
  const char* what = old == NULL ? "added" : now == NULL ? "removed" : "changed";
  Say(self, "namespace", what, (now != NULL ? now : old)->meta->name);
  if (old == NULL && self->kept == NULL) {
    const int is_kept = self->refs->retain(self->host, Tagged(now)) == BERTH_SUCCESS;
    self->kept = is_kept ? now : NULL;
  }
  if (now != NULL || self->kept == NULL) return;
  Say(self, "kept", "name", self->kept->meta->name);
  Say(self, "kept", "version", self->kept->meta->resource_version);
  self->refs->release(self->host, Tagged(self->kept));
  self->kept = NULL;
}

static const char* CodeName(berth_code code) {
  switch (code) {
    case BERTH_SUCCESS: return "success";
    case BERTH_ERROR: return "error";
    case BERTH_CANCELLED: return "cancelled";
    case BERTH_UNSUPPORTED: return "unsupported";
    case BERTH_NOT_FOUND: return "not_found";
    case BERTH_BAD_ARGUMENT: return "bad_argument";
    case BERTH_CONFLICT: return "conflict";
    default: return "another code";
  }
}

static void Answered(void* to, const berth_api_result* result) BERTH_NOEXCEPT {
  const guest* self = (const guest*)to;
  Say(self, "answer", CodeName(result->code), result->body);
  if (self->says_http == 0) return;
  char status[16];
  snprintf(status, sizeof(status), "%u", result->http_status);
  const berth_value* kind = self->values->get(result->value, Str("kind"));
  Say(self, "http", status, self->values->as_string(kind));
}

static void Observe(const guest* self, uint32_t metric, const berth_str* label, double value) {
  uint64_t series = 0;
  self->metrics->series(self->host, metric, label, &series);
  self->metrics->observe(self->host, series, value);
}

static int32_t AllowOne(void* to, const berth_pod* pod) {
  const guest* self = (const guest*)to;
  const berth_tagged regarding = {BERTH_KIND_POD, 0, pod};
  self->waiting->allow(self->host, pod->meta->uid);
  Observe(self, self->allowed, &pod->meta->name, 1);
  Observe(self, self->last, NULL, (double)self->timer->now_ns(self->host) / 1e9);
  Observe(self, self->sizes, NULL, (double)pod->meta->name.len);
  const berth_api_event event = {
      sizeof(berth_api_event), 0, &regarding, NULL, Str("Normal"), Str("Allowed"), Str("Waiting"),
      Str("come in")};
  self->api->event(self->host, &event);
  Say(self, "allowed", "pod", pod->meta->name);
  return 1;
}

static void Fired(void* to) BERTH_NOEXCEPT {
  guest* self = (guest*)to;
  self->waiting->each(self->host, AllowOne, self);
}

static void SendRequests(guest* self, const berth_pod* pod) {
  for (uint64_t i = 0; i < self->n_requests; ++i) {
    const request* r = &self->requests[i];
    const berth_api_request sent = {
        sizeof(berth_api_request), 0, Str(r->text[0]), Str(r->text[1]), Str(r->text[3]),
        Str(r->text[2]),           0};
    const berth_code code = self->api->request(self->host, &sent, Answered, self);
    if (code != BERTH_SUCCESS) Say(self, "request", CodeName(code), Str(r->text[1]));
  }
  if (self->patch[0] == '\0') return;
  const berth_status_patch patch = {sizeof(patch), (uint32_t)self->patch_flags, pod,
                                    Str(self->patch)};
  const berth_code code = self->api->patch_status(self->host, &patch, Answered, self);
  if (code != BERTH_SUCCESS) Say(self, "patch", CodeName(code), Str(self->patch));
}

static void Posted(void* to, berth_code code) BERTH_NOEXCEPT {
  Say((const guest*)to, "posted", "code", Str(CodeName(code)));
}

static void SayNumber(const guest* self, const char* message, uint64_t number) {
  char text[32];
  snprintf(text, sizeof(text), "%llx", (unsigned long long)number);
  Say(self, message, "number", Str(text));
}

/* A random number outside of a cycle. */
static void FiredForRandom(void* to) BERTH_NOEXCEPT {
  const guest* self = (const guest*)to;
  const berth_cycle none = {.struct_size = sizeof(none)};
  SayNumber(self, "random later", self->random->next(self->host, &none));
}

/* Makes one call, and returns its code. "random" draws a number, which is logged. The others are
 * not valid, except "post". */
static berth_code CallOf(guest* self, const char* name, const berth_cycle* cycle) {
  uint64_t id = 0;
  if (strcmp(name, "random") == 0) {
    SayNumber(self, "random", self->random->next(self->host, cycle));
  } else if (strcmp(name, "random of a copy") == 0) {
    const berth_cycle copy = *cycle;
    SayNumber(self, name, self->random->next(self->host, &copy));
  } else if (strcmp(name, "random later") == 0) {
    return self->timer->start(self->host, 0, FiredForRandom, self, &id);
  } else if (strcmp(name, "post") == 0) {
    return self->timer->post(self->host, Posted, self);
  } else if (strcmp(name, "post nothing") == 0) {
    return self->timer->post(self->host, NULL, self);
  } else if (strcmp(name, "place in other nodes") == 0) {
    const berth_nodes other = {.struct_size = sizeof(other)};
    uint32_t block = 0;
    uint32_t index = 0;
    return self->nodes->place(self->host, &other, 0, &block, &index);
  } else if (strcmp(name, "series of no metric") == 0) {
    const berth_code code = self->metrics->series(self->host, 1000, NULL, &id);
    self->metrics->observe(self->host, 1000, 1);
    return code;
  }
  return BERTH_SUCCESS;
}

static void MakeCalls(guest* self, const berth_cycle* cycle) {
  for (uint64_t i = 0; i < self->n_calls; ++i) {
    const berth_code code = CallOf(self, self->calls[i], cycle);
    Say(self, "call", self->calls[i], Str(CodeName(code)));
  }
}

static berth_code Permit(void* to, const berth_cycle* cycle, const berth_target* target,
                         berth_permit_out* out, berth_status* status) BERTH_NOEXCEPT {
  guest* self = (guest*)to;
  uint64_t timer = 0;
  (void)target;
  (void)status;
  self->timer->start(self->host, 1000000000, Fired, self, &timer);
  SendRequests(self, cycle->pod);
  MakeCalls(self, cycle);
  out->timeout_ns = 60 * (int64_t)1000000000;
  return BERTH_WAIT;
}

static const berth_permit kPermit = {sizeof(berth_permit), 0, Permit};

/* ---- The plugin ------------------------------------------------------------------------------ */

static const void* GetPoint(const berth_plugin* plugin, const char* id) BERTH_NOEXCEPT {
  (void)plugin;
  return strcmp(id, BERTH_POINT_PERMIT) == 0 ? &kPermit : NULL;
}

static void Destroy(berth_plugin* plugin) BERTH_NOEXCEPT {
  guest* self = (guest*)plugin->self;
  if (self->kept != NULL) self->refs->release(self->host, Tagged(self->kept));
  free(self);
}

static const char* const kServices[] = {BERTH_SERVICE_LOG,
                                        BERTH_SERVICE_STRINGS,
                                        BERTH_SERVICE_COLUMNS,
                                        BERTH_SERVICE_VALUES,
                                        BERTH_SERVICE_METRICS,
                                        BERTH_SERVICE_OBJECTS,
                                        BERTH_SERVICE_WHATIF,
                                        BERTH_SERVICE_NOMINATOR,
                                        BERTH_SERVICE_ACTIVATE,
                                        BERTH_SERVICE_WAITING,
                                        BERTH_SERVICE_TIMER,
                                        BERTH_SERVICE_API,
                                        BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_REFS,
                                        BERTH_SERVICE_RANDOM,
                                        BERTH_SERVICE_NODES,
                                        NULL};

static void SayValue(const guest* self, berth_str key, const berth_value* value) {
  const berth_values* v = self->values;
  char text[kTextMax];
  int64_t units = -1;
  int64_t milli = -1;
  const berth_code code = v->as_quantity(value, &units, &milli);
  const berth_str string = v->as_string(value);
  const berth_str where = v->where(value);
  snprintf(text, sizeof(text),
           "%.*s kind=%u size=%llu int=%lld float=%g string=%.*s quantity=%s/%lld/%lld where=%.*s",
           (int)key.len, key.ptr, v->kind(value), (unsigned long long)v->size(value),
           (long long)v->as_int(value), v->as_float(value), (int)string.len, string.ptr,
           CodeName(code), (long long)units, (long long)milli, (int)where.len, where.ptr);
  Say(self, "value", "is", Str(text));
}

static void ReadArguments(guest* self, const berth_value* args) {
  const berth_values* v = self->values;
  const berth_value* requests = v->get(args, Str("requests"));
  for (uint64_t i = 0; i < v->size(requests) && i < kMaxRequests; ++i) {
    const berth_value* one = v->at(requests, i, NULL);
    for (uint64_t k = 0; k < 4; ++k) {
      Copy(self->requests[i].text[k], v->as_string(v->at(one, k, NULL)));
    }
    self->n_requests = i + 1;
  }
  Copy(self->patch, v->as_string(v->get(args, Str("patch"))));
  self->patch_flags = v->as_int(v->get(args, Str("patchFlags")));
  self->says_http = v->as_int(v->get(args, Str("http")));
  const berth_value* calls = v->get(args, Str("calls"));
  for (uint64_t i = 0; i < v->size(calls) && i < kMaxCalls; ++i) {
    Copy(self->calls[i], v->as_string(v->at(calls, i, NULL)));
    self->n_calls = i + 1;
  }
  const berth_value* values = v->get(args, Str("values"));
  for (uint64_t i = 0; i < v->size(values); ++i) {
    berth_str key = {NULL, 0};
    const berth_value* value = v->at(values, i, &key);
    SayValue(self, key, value);
  }
}

static void DefineMetrics(guest* self) {
  static const double kBuckets[] = {1, 4};
  const berth_str label = Str("pod");
  const berth_metric counter = {sizeof(berth_metric),
                                BERTH_METRIC_COUNTER,
                                Str("guest_allowed_total"),
                                Str("The number of allowed pods."),
                                &label,
                                1,
                                NULL,
                                0};
  const berth_metric gauge = {sizeof(berth_metric),
                              BERTH_METRIC_GAUGE,
                              Str("guest_allowed_seconds"),
                              Str("The time at which a pod was last allowed."),
                              NULL,
                              0,
                              NULL,
                              0};
  const berth_metric histogram = {sizeof(berth_metric),
                                  BERTH_METRIC_HISTOGRAM,
                                  Str("guest_name_bytes"),
                                  Str("The lengths of the names of allowed pods."),
                                  NULL,
                                  0,
                                  kBuckets,
                                  2};
  uint32_t taken = 0;
  self->metrics->define(self->host, &counter, &self->allowed);
  self->metrics->define(self->host, &gauge, &self->last);
  self->metrics->define(self->host, &histogram, &self->sizes);
  Say(self, "taken", CodeName(self->metrics->define(self->host, &gauge, &taken)), gauge.name);
}

static berth_code Create(const berth_host* host, const berth_instance_request* given,
                         berth_plugin** out, berth_status* status) BERTH_NOEXCEPT {
  guest* self = (guest*)calloc(1, sizeof(guest));
  const struct {
    const char* id;
    const void** to;
  } wanted[] = {{BERTH_SERVICE_LOG, (const void**)&self->log},
                {BERTH_SERVICE_VALUES, (const void**)&self->values},
                {BERTH_SERVICE_METRICS, (const void**)&self->metrics},
                {BERTH_SERVICE_OBJECTS, (const void**)&self->objects},
                {BERTH_SERVICE_REFS, (const void**)&self->refs},
                {BERTH_SERVICE_WAITING, (const void**)&self->waiting},
                {BERTH_SERVICE_TIMER, (const void**)&self->timer},
                {BERTH_SERVICE_API, (const void**)&self->api},
                {BERTH_SERVICE_NODES, (const void**)&self->nodes},
                {BERTH_SERVICE_RANDOM, (const void**)&self->random}};
  (void)status;
  self->host = host;
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    host->get_service(host, wanted[i].id, wanted[i].to);
  }
  ReadArguments(self, given->args);
  DefineMetrics(self);
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
                                         "Uses most services of the host.",
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
                                    Create,
                                    BERTH_ABI_DRAFT};

BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":[{\"name\":\"test.Guest\","
    "\"version\":\"1.0.0\",\"points\":[\"berth.permit/1\"]}]}");

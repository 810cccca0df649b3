/* Three equal plugins, test.A to test.C, whose arguments determine what they do at each point. They
 * are written in C and use only abi.h. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

enum { kTextMax = 96, kListMax = 8, kSlotMark = 7 };

typedef struct text {
  char bytes[kTextMax];
} text;

/* The code and the reasons that one point returns. */
typedef struct answer {
  int64_t code;
  text reasons[kListMax];
  uint32_t n_reasons;
} answer;

typedef struct probe {
  berth_plugin abi;
  berth_slot slot;
  berth_score score_point;
  const berth_host* host;
  const berth_values* values;
  const berth_log* log;
  const berth_columns* columns;
  const berth_objects* objects;
  const berth_refs* refs;
  const berth_api* api;
  const berth_completion* completion;
  text table[kListMax]; /* The constant reasons. */
  berth_str reasons[kListMax];
  /* PreFilter */
  answer pre_filter;
  text nodes[kListMax];
  uint32_t n_nodes;
  int64_t has_nodes;
  int64_t add_reasons;
  text bind_column; /* The column to bind in PreFilter. */
  text bind_in_filter;
  int64_t bind_type;  /* BERTH_TYPE_* of these columns. */
  int64_t bind_flags; /* BERTH_COLUMN_* of these columns. */
  int64_t bind_size;  /* The struct_size of the requests. */
  int64_t log_inputs; /* Whether to log the inputs of the points. */
  /* Filter */
  answer filter; /* The result of the call. */
  int64_t verdict;
  uint64_t bits;
  text only_at; /* The node that gets the verdict; empty for all nodes. */
  int64_t unwritten;
  int64_t silent; /* Whether to write a verdict without reasons[i]. */
  /* Score */
  answer pre_score;
  answer score;
  answer normalize;
  text no_score_at;     /* The node that gets no score; empty if every node gets one. */
  int64_t normalize_to; /* The value that normalisation sets for every score above 0. */
  /* Bind */
  answer bind;
  text how;
} probe;

/* How often the cycle state of all instances was constructed and destroyed. */
static int64_t constructed;
static int64_t destroyed;

static berth_str str(const char* s) {
  const berth_str out = {s, strlen(s)};
  return out;
}

static int same(berth_str a, const char* b) {
  return a.len == strlen(b) && memcmp(a.ptr, b, a.len) == 0;
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static const berth_value* get(const probe* p, const berth_value* from, const char* key) {
  return p->values->get(from, str(key));
}

static int64_t number(const probe* p, const berth_value* from, const char* key, int64_t otherwise) {
  const berth_value* value = get(p, from, key);
  return value == NULL ? otherwise : p->values->as_int(value);
}

static text copy(berth_str from) {
  text out = {{0}};
  const uint64_t n = from.len < kTextMax ? from.len : kTextMax - 1;
  if (n > 0) memcpy(out.bytes, from.ptr, n);
  return out;
}

static text word(const probe* p, const berth_value* from, const char* key) {
  return copy(p->values->as_string(get(p, from, key)));
}

static uint32_t list(const probe* p, const berth_value* from, const char* key, text* out) {
  const berth_value* values = get(p, from, key);
  uint64_t n = p->values->size(values);
  if (n > kListMax) n = kListMax;
  for (uint64_t i = 0; i < n; ++i)
    out[i] = copy(p->values->as_string(p->values->at(values, i, NULL)));
  return (uint32_t)n;
}

static answer read_answer(const probe* p, const berth_value* from) {
  answer out = {0};
  out.code = number(p, from, "code", BERTH_SUCCESS);
  out.n_reasons = list(p, from, "reasons", out.reasons);
  return out;
}

static berth_code give(const answer* a, berth_status* status) {
  for (uint32_t i = 0; i < a->n_reasons; ++i) status->add_reason(status, str(a->reasons[i].bytes));
  return (berth_code)a->code;
}

static void read_args(probe* p, const berth_value* args) {
  const berth_value* pre_filter = get(p, args, "preFilter");
  p->pre_filter = read_answer(p, pre_filter);
  p->has_nodes = get(p, pre_filter, "nodes") != NULL;
  p->n_nodes = list(p, pre_filter, "nodes", p->nodes);
  p->add_reasons = number(p, pre_filter, "addReasons", 0);
  p->bind_column = word(p, pre_filter, "bindColumn");
  p->bind_type = number(p, args, "bindType", BERTH_TYPE_I64);
  p->bind_flags = number(p, args, "bindFlags", 0);
  p->bind_size = number(p, args, "bindSize", sizeof(berth_column_request));
  p->log_inputs = number(p, args, "say", 0);
  const berth_value* filter = get(p, args, "filter");
  p->filter = read_answer(p, filter);
  p->verdict = number(p, filter, "verdict", BERTH_SUCCESS);
  p->bits = (uint64_t)number(p, filter, "bits", 0);
  p->only_at = word(p, filter, "onlyAt");
  p->unwritten = number(p, filter, "unwritten", 0);
  p->silent = number(p, filter, "silent", 0);
  p->bind_in_filter = word(p, filter, "bindColumn");
  p->pre_score = read_answer(p, get(p, args, "preScore"));
  p->score = read_answer(p, get(p, args, "score"));
  p->no_score_at = word(p, get(p, args, "score"), "notAt");
  p->normalize = read_answer(p, get(p, args, "normalize"));
  p->normalize_to = number(p, get(p, args, "normalize"), "to", 0);
  p->bind = read_answer(p, get(p, args, "bind"));
  p->how = word(p, get(p, args, "bind"), "how");
}

/* ---- Log output ---------------------------------------------------------------------------- */

static void say(const probe* p, const char* message, const char* key, int64_t value) {
  char digits[32];
  snprintf(digits, sizeof(digits), "%lld", (long long)value);
  const berth_str_pair pair = {str(key), str(digits)};
  p->log->log(p->host, BERTH_LOG_INFO, str(message), &pair, 1);
}

static int64_t count_selected(const berth_nodes* nodes) {
  int64_t count = 0;
  for (uint32_t b = 0; b < nodes->n_blocks; ++b) {
    const berth_block* block = nodes->block(nodes, b);
    for (uint32_t k = 0; k < block->n_selected; ++k) {
      const uint32_t i = block->selected == NULL ? k : block->selected[k];
      count += block->nodes[i] != NULL;
    }
  }
  return count;
}

/* `nodes`: NULL in Filter. */
static void bind_column(const probe* p, const berth_cycle* cycle, const text* name,
                        const berth_nodes* nodes) {
  uint32_t index = UINT32_MAX;
  const berth_column_request request = {(uint32_t)p->bind_size, (uint32_t)p->bind_flags,
                                        name->bytes, (uint32_t)p->bind_type, 0};
  if (name->bytes[0] == '\0') return;
  say(p, "bind", "code", p->columns->bind(p->host, cycle, &request, &index));
  say(p, "bind", "index", index == UINT32_MAX ? -1 : (int64_t)index);
  if (nodes == NULL || index == UINT32_MAX) return;
  say(p, "bind", "data", nodes->block(nodes, 0)->columns[index].data != NULL);
}

static int32_t say_object(void* to, const berth_object* object) {
  const text name = copy(object->meta->name);
  const probe* p = to;
  const text kept = word(p, object->value, "kind");
  say(p, name.bytes, kept.bytes, (int64_t)p->values->size(object->value));
  return 1;
}

static void say_objects(const probe* p) {
  void* to = (void*)(uintptr_t)p;
  const berth_str none = {NULL, 0};
  say(p, "namespaces", "code",
      p->objects->list(p->host, str("v1/Namespace"), none, say_object, to));
  say(p, "secrets", "code", p->objects->list(p->host, str("v1/Secret"), none, say_object, to));
  const berth_object* object = NULL;
  say(p, "secret", "get", p->objects->get(p->host, str("v1/Secret"), none, str("x"), &object));
  say(p, "namespace x", "get",
      p->objects->get(p->host, str("v1/Namespace"), none, str("x"), &object));
  const berth_code code = p->objects->get(p->host, str("v1/Namespace"), none, str("blue"), &object);
  say(p, "namespace blue", "get", code);
  if (code != BERTH_SUCCESS) return;
  const berth_tagged tagged = {BERTH_KIND_OBJECT, 0, object};
  say(p, "retained", "code", p->refs->retain(p->host, tagged));
  p->refs->release(p->host, tagged);
}

/* ---- Extension points ---------------------------------------------------------------------- */

static berth_code pre_filter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                             berth_pre_filter_out* out, berth_status* status) BERTH_NOEXCEPT {
  probe* p = self;
  if (p->log_inputs != 0) {
    say(p, "pre_filter", "nodes", count_selected(all));
    say(p, "pre_filter", "slot", *(int64_t*)cycle->slots[0]);
    say(p, "pre_filter", "slots", constructed - destroyed);
    say_objects(p);
  }
  *(int64_t*)cycle->slots[0] = (int64_t)cycle->id;
  bind_column(p, cycle, &p->bind_column, all);
  berth_str names[kListMax];
  for (uint32_t i = 0; i < p->n_nodes; ++i) names[i] = str(p->nodes[i].bytes);
  if (p->has_nodes) out->only_nodes(out, names, p->n_nodes);
  for (int64_t i = 0; i < p->add_reasons; ++i) {
    char name[32];
    snprintf(name, sizeof(name), "added %lld", (long long)i);
    const int32_t bit = out->add_reason(out, str(name));
    if (p->log_inputs != 0 && (i == 0 || i + 1 == p->add_reasons)) say(p, name, "bit", bit);
  }
  return give(&p->pre_filter, status);
}

static berth_code filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) BERTH_NOEXCEPT {
  const probe* p = self;
  bind_column(p, cycle, &p->bind_in_filter, NULL);
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = block->selected == NULL ? k : block->selected[k];
    const int hit =
        p->only_at.bytes[0] == '\0' || same(block->nodes[i]->meta->name, p->only_at.bytes);
    if (hit && p->unwritten != 0) continue;
    out->codes[i] = hit ? (uint8_t)p->verdict : BERTH_SUCCESS;
    if (hit && p->silent != 0) continue;
    out->reasons[i] = hit ? p->bits : 0;
  }
  return give(&p->filter, status);
}

static berth_code pre_score(void* self, const berth_cycle* cycle, const berth_nodes* feasible,
                            const berth_nodes* all, berth_pre_score_out* out,
                            berth_status* status) BERTH_NOEXCEPT {
  const probe* p = self;
  (void)out;
  if (p->log_inputs != 0) {
    say(p, "pre_score", "feasible", count_selected(feasible));
    say(p, "pre_score", "all", count_selected(all));
    say(p, "pre_score", "kept", *(int64_t*)cycle->slots[0] == (int64_t)cycle->id);
  }
  return give(&p->pre_score, status);
}

/* The score is the allocatable amount of example.com/score. */
static berth_code score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) BERTH_NOEXCEPT {
  const probe* p = self;
  (void)cycle;
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = block->selected == NULL ? k : block->selected[k];
    if (same(block->nodes[i]->meta->name, p->no_score_at.bytes)) continue;
    out->scores[i] = *(const int64_t*)((const char*)block->columns[0].data +
                                       (uint64_t)i * block->columns[0].stride);
  }
  return give(&p->score, status);
}

static berth_code normalize(void* self, const berth_cycle* cycle, berth_scores* scores,
                            berth_status* status) BERTH_NOEXCEPT {
  const probe* p = self;
  (void)cycle;
  if (p->log_inputs != 0) say(p, "normalize", "count", scores->count);
  for (uint32_t i = 0; i < scores->count; ++i) {
    if (i > 0 && scores->rows[i] <= scores->rows[i - 1]) say(p, "normalize", "unordered", i);
    scores->scores[i] = scores->scores[i] > 0 ? p->normalize_to : 0;
  }
  return give(&p->normalize, status);
}

/* `how` selects the behaviour: "return" returns the answer; "complete" completes the call with it
 * before returning Pending; "small" does so with a struct that is too small; "both" completes and
 * returns Success; "api" lets the host bind; "api-then-return" lets the host bind and also returns
 * the answer. */
static berth_code bind(void* self, const berth_binding* binding, berth_done done,
                       berth_status* status) BERTH_NOEXCEPT {
  const probe* p = self;
  const char* how = p->how.bytes;
  if (p->log_inputs != 0) say(p, "bind", "slot", *(int64_t*)binding->slots[0] > 0);
  if (strncmp(how, "api", 3) == 0) {
    const berth_code code = p->api->bind(p->host, binding, done);
    return strcmp(how, "api") == 0 ? code : give(&p->bind, status);
  }
  const int is_small = strcmp(how, "small") == 0;
  if (strcmp(how, "complete") == 0 || strcmp(how, "both") == 0 || is_small) {
    berth_str reasons[kListMax];
    for (uint32_t i = 0; i < p->bind.n_reasons; ++i) reasons[i] = str(p->bind.reasons[i].bytes);
    const berth_outcome first = {
        is_small ? offsetof(berth_outcome, reasons) : sizeof(berth_outcome),
        (berth_code)p->bind.code,
        {reasons, p->bind.n_reasons, sizeof(berth_str)}};
    const berth_str again = str("second completion");
    const berth_outcome second = {sizeof(second), BERTH_SUCCESS, {&again, 1, sizeof(berth_str)}};
    p->completion->complete(done, &first);
    p->completion->complete(done, &second);
    return strcmp(how, "both") == 0 ? BERTH_SUCCESS : BERTH_PENDING;
  }
  return give(&p->bind, status);
}

static const berth_pre_filter kPreFilter = {sizeof(berth_pre_filter), 0, pre_filter, NULL, NULL};
static const berth_filter kFilter = {sizeof(berth_filter), 0, NULL, filter, NULL};
static const berth_pre_score kPreScore = {sizeof(berth_pre_score), 0, pre_score};
static const berth_bind kBind = {sizeof(berth_bind), 0, bind};

/* ---- The instance -------------------------------------------------------------------------- */

static const void* get_point(const berth_plugin* plugin, const char* id) BERTH_NOEXCEPT {
  const probe* p = plugin->self;
  if (strcmp(id, BERTH_POINT_PRE_FILTER) == 0) return &kPreFilter;
  if (strcmp(id, BERTH_POINT_FILTER) == 0) return &kFilter;
  if (strcmp(id, BERTH_POINT_PRE_SCORE) == 0) return &kPreScore;
  if (strcmp(id, BERTH_POINT_SCORE) == 0) return &p->score_point;
  return strcmp(id, BERTH_POINT_BIND) == 0 ? &kBind : NULL;
}

static void construct_slot(void* at) BERTH_NOEXCEPT {
  *(int64_t*)at = kSlotMark;
  ++constructed;
}

static berth_code clone_slot(void* to, const void* from) BERTH_NOEXCEPT {
  *(int64_t*)to = *(const int64_t*)from;
  ++constructed;
  return BERTH_SUCCESS;
}

static void destroy_slot(void* at) BERTH_NOEXCEPT {
  *(int64_t*)at = 0;
  ++destroyed;
}

static void destroy(berth_plugin* plugin) BERTH_NOEXCEPT {
  probe* p = plugin->self;
  if (p->log_inputs != 0) say(p, "destroy", "slots", constructed - destroyed);
  free(p);
}

static void fill_in(probe* p, const berth_value* args) {
  static const berth_column_request kScores = {sizeof(berth_column_request), 0,
                                               "alloc:example.com/score", BERTH_TYPE_I64, 0};
  const berth_slot slot = {sizeof(berth_slot), sizeof(int64_t), 8,          0,
                           "test.probe/1",     construct_slot,  clone_slot, destroy_slot};
  const uint32_t n_reasons = list(p, args, "reasons", p->table);
  for (uint32_t i = 0; i < n_reasons; ++i) p->reasons[i] = str(p->table[i].bytes);
  p->slot = slot;
  p->score_point.struct_size = sizeof(berth_score);
  p->score_point.normalize_mode = (uint32_t)number(p, get(p, args, "normalize"), "mode", 0);
  p->score_point.score = score;
  p->score_point.normalize = normalize;
  p->abi.struct_size = sizeof(berth_plugin);
  p->abi.self = p;
  p->abi.columns = (berth_array){&kScores, 1, sizeof(kScores)};
  p->abi.slots = (berth_array){&p->slot, 1, sizeof(p->slot)};
  p->abi.reasons = (berth_array){p->reasons, n_reasons, sizeof(berth_str)};
  p->abi.get_point = get_point;
  p->abi.destroy = destroy;
}

static berth_code create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) BERTH_NOEXCEPT {
  const berth_value* args = request->args;
  probe* p = calloc(1, sizeof(probe));
  if (p == NULL) return BERTH_ERROR;
  p->host = host;
  host->get_service(host, BERTH_SERVICE_VALUES, (const void**)&p->values);
  host->get_service(host, BERTH_SERVICE_LOG, (const void**)&p->log);
  host->get_service(host, BERTH_SERVICE_COLUMNS, (const void**)&p->columns);
  host->get_service(host, BERTH_SERVICE_OBJECTS, (const void**)&p->objects);
  host->get_service(host, BERTH_SERVICE_REFS, (const void**)&p->refs);
  host->get_service(host, BERTH_SERVICE_API, (const void**)&p->api);
  host->get_service(host, BERTH_SERVICE_COMPLETION, (const void**)&p->completion);
  read_args(p, args);
  fill_in(p, args);
  const berth_value* wrong = get(p, args, "wrong");
  if (wrong != NULL) {
    status->add_argument_error(status, str("/wrong"), p->values->as_string(wrong));
    free(p);
    return BERTH_BAD_ARGUMENT;
  }
  *out = &p->abi;
  return BERTH_SUCCESS;
}

/* ---- The library --------------------------------------------------------------------------- */

static const char* const kPoints[] = {BERTH_POINT_PRE_FILTER, BERTH_POINT_FILTER,
                                      BERTH_POINT_PRE_SCORE,  BERTH_POINT_SCORE,
                                      BERTH_POINT_BIND,       NULL};
static const char* const kServices[] = {
    BERTH_SERVICE_VALUES, BERTH_SERVICE_LOG, BERTH_SERVICE_COLUMNS,    BERTH_SERVICE_OBJECTS,
    BERTH_SERVICE_REFS,   BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION, NULL};
static const char* const kKinds[] = {"v1/Namespace", NULL};
static const char* const kNone[] = {NULL};

#define PROBE(name)                                                                            \
  {                                                                                            \
    sizeof(berth_plugin_info), 0, name, "1.0.0", "Behaves as its arguments specify.", kPoints, \
        kServices, kKinds, kNone, kNone, NULL                                                  \
  }
static const berth_plugin_info kA = PROBE("test.A");
static const berth_plugin_info kB = PROBE("test.B");
static const berth_plugin_info kC = PROBE("test.C");
static const berth_plugin_info* const kPlugins[] = {&kA, &kB, &kC};

const berth_entry berth_entry_v1 = {BERTH_MAGIC,
                                    sizeof(berth_entry),
                                    BERTH_ABI_MAJOR,
                                    BERTH_ABI_MINOR,
                                    0,
                                    64,
                                    0,
                                    3,
                                    kPlugins,
                                    NULL,
                                    NULL,
                                    create,
                                    BERTH_ABI_DRAFT};

#define POINTS                                                                                     \
  "\"version\":\"1.0.0\",\"points\":[\"berth.pre_filter/1\",\"berth.filter/1\",\"berth.pre_score/" \
  "1\","                                                                                           \
  "\"berth.score/1\",\"berth.bind/1\"]}"
BERTH_NOTE("{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":[{\"name\":\"test.A\"," POINTS
           ",{\"name\":\"test.B\"," POINTS ",{\"name\":\"test.C\"," POINTS "]}");

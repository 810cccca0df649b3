/* golden.Everything implements every extension point and calls every function of every service once
 * at least. It notes what it received, each fact once, and logs the notes in alphabetical order
 * when it ends: the log does not depend on how often, or in which order, a host makes calls that
 * the contract leaves open. Every later host must cause the same log (expected.log).
 *
 * The pods of cluster.yaml have names that select what happens to them:
 *   first   Reserve fails once, and Permit lets it wait
 *   second  is rejected once while it waits on Permit
 *   gated   PreEnqueue rejects it until a timer has activated it; then PreFilter and PreScore let
 *           it wait once each
 *   big     fits only after "victim" is evicted, which PostFilter finds out and requests */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <berth/abi.h>

enum { kNotes = 256, kNoteSize = 112, kUidSize = 64, kTicks = 30 };
static const int64_t kSecond = 1000000000;
static int initialised;

typedef struct golden {
  berth_plugin abi;
  const berth_host* host;
  const berth_log* log;
  const berth_strings* strings;
  const berth_refs* refs;
  const berth_columns* columns;
  const berth_values* values;
  const berth_selectors* selectors;
  const berth_metrics* metrics;
  const berth_objects* objects;
  const berth_node_lookup* nodes;
  const berth_whatif* whatif;
  const berth_nominator* nominator;
  const berth_activate* activate;
  const berth_waiting* waiting;
  const berth_timer* timer;
  const berth_random* random;
  const berth_shared* shared;
  const berth_api* api;
  const berth_completion* completion;
  const berth_http* http;
  char notes[kNotes][kNoteSize];
  int n_notes;
  uint32_t filters, scores; /* Calls, counted on any thread. */
  const berth_node* kept;   /* Retained until a pod is bound. */
  berth_done done;          /* The promise of PreBind, until a posted function completes it. */
  uint64_t series;
  int ticks, reserved, rejected;
  int waits; /* How often the pod "gated" has waited in PreFilter and PreScore. */
  char gated[kUidSize], second[kUidSize]; /* Their uids, once they are known. */
} golden;

/* The number of victims on all nodes, which what-if questions change. */
typedef struct state {
  int64_t victims;
  uint32_t zone; /* A bound column. */
  uint32_t reserved;
} state;

static berth_str Str(const char* text) {
  const berth_str str = {text, strlen(text)};
  return str;
}

static int Is(berth_str text, const char* other) {
  return text.len == strlen(other) && (text.len == 0 || memcmp(text.ptr, other, text.len) == 0);
}

static int IsNamed(const berth_pod* pod, const char* name) { return Is(pod->meta->name, name); }

/* Notes a fact, unless it was noted before. */
static void Note(golden* g, const char* format, ...) {
  char* note = g->notes[g->n_notes];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(note, kNoteSize, format, arguments);
  va_end(arguments);
  for (int i = 0; i < g->n_notes; ++i) {
    if (strcmp(g->notes[i], note) == 0) return;
  }
  if (g->n_notes < kNotes - 1) ++g->n_notes;
}

static void AddReason(berth_status* status, berth_str text) {
  golden* g = (golden*)status->impl;
  Note(g, "status reason %.*s", (int)text.len, text.ptr);
}

/* A status whose reasons become notes. */
static berth_status NotedStatus(golden* g) {
  const berth_status status = {sizeof(status), 0, g, AddReason, NULL};
  return status;
}

static berth_tagged Tagged(uint32_t kind, const void* object) {
  const berth_tagged tagged = {kind, 0, object};
  return tagged;
}

/* ---- Services that need no cluster ----------------------------------------------------------- */

static void UseStrings(golden* g) {
  const berth_id id = g->strings->intern(g->host, Str("golden/text"));
  const berth_str text = g->strings->text(g->host, id);
  Note(g, "strings.intern gives an id %d", id != BERTH_ID_NONE);
  Note(g, "strings.find gives the same id %d", g->strings->find(g->host, Str("golden/text")) == id);
  Note(g, "strings.text %.*s", (int)text.len, text.ptr);
  g->strings->release(g->host, id);
}

static void Put(void* to, berth_str text) {
  char* json = (char*)to;
  strncat(json, text.ptr, text.len);
}

static void UseValues(golden* g, const berth_value* args) {
  const berth_values* v = g->values;
  berth_status status = NotedStatus(g);
  char json[kNoteSize] = "";
  int64_t units = 0;
  int64_t milli = 0;
  int64_t ns = 0;
  berth_str key = {NULL, 0};
  const berth_value* tree = v->parse(
      g->host, Str("{\"n\":7,\"f\":2.5,\"q\":\"1500m\",\"t\":\"1970-01-01T00:00:01Z\"}"), &status);
  const berth_str greeting = v->as_string(v->get(args, Str("greeting")));
  Note(g, "values.get of an argument %.*s", (int)greeting.len, greeting.ptr);
  Note(g, "values.where has a text %d", v->where(v->get(args, Str("greeting"))).len > 0);
  Note(g, "values.kind %u size %d", v->kind(tree), (int)v->size(tree));
  Note(g, "values.as_int %d", (int)v->as_int(v->get(tree, Str("n"))));
  Note(g, "values.as_float %.1f", v->as_float(v->get(tree, Str("f"))));
  Note(g, "values.as_quantity %d", v->as_quantity(v->get(tree, Str("q")), &units, &milli));
  Note(g, "values.as_quantity wrote %d %d", (int)units, (int)milli);
  Note(g, "values.as_time %d", v->as_time(v->get(tree, Str("t")), &ns));
  Note(g, "values.as_time wrote %lld", (long long)ns);
  Note(g, "values.at gives a value %d", v->at(tree, 0, &key) != NULL && key.len == 1);
  v->write_json(v->get(tree, Str("f")), Put, json);
  Note(g, "values.write_json %s", json);
  v->release(g->host, tree);
  Note(g, "values.parse of no JSON gives NULL %d", v->parse(g->host, Str("{"), NULL) == NULL);
}

static void UseSelectors(golden* g) {
  const berth_selectors* s = g->selectors;
  const berth_array no_labels = {NULL, 0, sizeof(berth_id_pair)};
  const berth_selector* selector = NULL;
  const berth_node_selector* nodes = NULL;
  const berth_value* tree = g->values->parse(
      g->host,
      Str("{\"map\":{\"app\":\"web\"},\"label\":{\"matchLabels\":{\"app\":\"web\"}},\"node\":"
          "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"
          "\"Exists\"}]"
          "}]}}"),
      NULL);
  Note(g, "selectors.from_map %d",
       s->from_map(g->host, g->values->get(tree, Str("map")), &selector, NULL));
  Note(g, "selectors.matches without the label %d", s->matches(g->host, selector, no_labels));
  s->release(g->host, selector);
  Note(g, "selectors.from_value %d",
       s->from_value(g->host, g->values->get(tree, Str("label")), &selector, NULL));
  s->release(g->host, selector);
  Note(g, "selectors.from_text %d", s->from_text(g->host, Str("!app"), &selector, NULL));
  Note(g, "selectors.matches !app %d", s->matches(g->host, selector, no_labels));
  s->release(g->host, selector);
  Note(g, "selectors.from_text of no selector %d",
       s->from_text(g->host, Str("a in"), &selector, NULL));
  Note(g, "selectors.node_selector %d",
       s->node_selector(g->host, g->values->get(tree, Str("node")), &nodes, NULL));
  if (g->kept != NULL) {
    Note(g, "selectors.matches_node %d", s->matches_node(g->host, nodes, g->kept));
  }
  s->release_node(g->host, nodes);
  g->values->release(g->host, tree);
}

static void UseMetrics(golden* g) {
  const berth_str label = Str("pod");
  const berth_metric counter = {sizeof(counter),
                                BERTH_METRIC_COUNTER,
                                Str("golden_total"),
                                Str("Counts."),
                                &label,
                                1,
                                NULL,
                                0};
  uint32_t index = 0;
  Note(g, "metrics.define %d", g->metrics->define(g->host, &counter, &index));
  Note(g, "metrics.define again %d", g->metrics->define(g->host, &counter, &index));
  Note(g, "metrics.series %d", g->metrics->series(g->host, index, &label, &g->series));
  Note(g, "metrics.series is set %d", g->series != 0);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

static void Watched(void* to, const berth_object_change* change) {
  const berth_meta* meta = change->now != NULL ? change->now->meta : change->old->meta;
  Note((golden*)to, "objects.watch %.*s now %d old %d", (int)meta->name.len, meta->name.ptr,
       change->now != NULL, change->old != NULL);
}

static int32_t Listed(void* to, const berth_object* object) {
  Note((golden*)to, "objects.list %.*s", (int)object->meta->name.len, object->meta->name.ptr);
  return 1;
}

static int32_t NominatedOnNode(void* to, const berth_pod* pod) {
  Note((golden*)to, "nominator.list %.*s", (int)pod->meta->name.len, pod->meta->name.ptr);
  return 1;
}

static int32_t Nominated(void* to, const berth_pod* pod, berth_str node) {
  Note((golden*)to, "nominator.each %.*s on %.*s", (int)pod->meta->name.len, pod->meta->name.ptr,
       (int)node.len, node.ptr);
  return 1;
}

static int32_t Waits(void* to, const berth_pod* pod) {
  golden* g = (golden*)to;
  Note(g, "waiting.each %.*s", (int)pod->meta->name.len, pod->meta->name.ptr);
  if (IsNamed(pod, "second") && !g->rejected) {
    const berth_rejection rejection = {sizeof(rejection), 0, pod->meta->uid, Str("not yet")};
    g->rejected = 1;
    Note(g, "waiting.reject %d", g->waiting->reject(g->host, &rejection));
  } else {
    Note(g, "waiting.allow %d", g->waiting->allow(g->host, pod->meta->uid));
  }
  return 1;
}

static void Cancelled(void* to) { Note((golden*)to, "a cancelled timer fired"); }

static void Tick(void* to) {
  golden* g = (golden*)to;
  uint64_t timer = 0;
  const berth_str uids[] = {Str(g->gated), Str(g->second)};
  if (++g->ticks < kTicks) {
    Note(g, "timer.start %d", g->timer->start(g->host, kSecond, Tick, g, &timer));
  }
  Note(g, "waiting.each %d", g->waiting->each(g->host, Waits, g));
  Note(g, "nominator.list %d", g->nominator->list(g->host, Str("n1"), NominatedOnNode, g));
  Note(g, "nominator.each %d", g->nominator->each(g->host, Nominated, g));
  Note(g, "nominator.clear of no pod %d", g->nominator->clear(g->host, Str("nobody")));
  Note(g, "activate %d", g->activate->activate(g->host, uids, 2));
}

static void Posted(void* to, berth_code code) {
  golden* g = (golden*)to;
  const berth_outcome outcome = {sizeof(outcome), BERTH_SUCCESS, {NULL, 0, 0}};
  Note(g, "timer.post ran with %d", code);
  if (g->done.id != 0) g->completion->complete(g->done, &outcome);
  g->done.id = 0;
}

static void Answered(void* to, const berth_api_result* result) {
  Note((golden*)to, "api answer %d http %u value %d", result->code, result->http_status,
       result->value != NULL);
}

static void Evicted(void* to, const berth_api_result* result) {
  Note((golden*)to, "api.evict answer %d", result->code);
}

static void HttpEnded(void* to, const berth_http_result* result) {
  Note((golden*)to, "http answer %u status %u headers %u", result->end, result->http_status,
       result->headers.count);
}

/* ---- The queue ------------------------------------------------------------------------------- */

static void Keep(char* to, berth_str uid) { snprintf(to, kUidSize, "%.*s", (int)uid.len, uid.ptr); }

static berth_code PreEnqueue(void* self, const berth_queued* queued, berth_status* status) {
  golden* g = (golden*)self;
  const berth_pod* pod = queued->pod;
  Note(g, "point PreEnqueue");
  if (IsNamed(pod, "second")) Keep(g->second, pod->meta->uid);
  if (!IsNamed(pod, "gated")) return BERTH_SUCCESS;
  Keep(g->gated, pod->meta->uid);
  if (g->ticks > 0) return BERTH_SUCCESS;
  status->add_reason(status, Str("no timer fired"));
  return BERTH_UNSCHEDULABLE;
}

static uint32_t Hint(void* self, const berth_queued* queued, const berth_event* event) {
  Note((golden*)self, "hint for %.*s resource %u before %u", (int)queued->pod->meta->name.len,
       queued->pod->meta->name.ptr, event->resource, event->before.kind);
  return BERTH_HINT_QUEUE;
}

static void Key(void* self, const berth_queued* queued, uint8_t out[BERTH_SORT_KEY_SIZE]) {
  Note((golden*)self, "key of kind %u", queued->kind);
  memset(out, 0, BERTH_SORT_KEY_SIZE);
  snprintf((char*)out, BERTH_SORT_KEY_SIZE, "%.*s", (int)queued->pod->meta->name.len,
           queued->pod->meta->name.ptr);
}

static uint64_t Lane(void* self, const berth_queued* queued) {
  Note((golden*)self, "point QueueSort lane");
  return queued->priority > 0;
}

static uint32_t Next(void* self, berth_array lanes) {
  const berth_lane* lane = BERTH_AT(berth_lane, lanes, lanes.count - 1);
  Note((golden*)self, "lane %u has entities %d", (unsigned)lane->lane, lane->count > 0);
  return lanes.count - 1;
}

static void Entity(void* self, const berth_pod* pod, berth_put_text put, void* to) {
  Note((golden*)self, "point Entity");
  put(to, pod->meta->name);
}

static void EndShared(void* object) { (void)object; }

static void UseShared(golden* g) {
  static int shared;
  void* found = NULL;
  Note(g, "shared.find of no object %d", g->shared->find(g->host, Str("k"), EndShared, &found));
  Note(g, "shared.add %d", g->shared->add(g->host, Str("k"), &shared, EndShared));
  Note(g, "shared.find %d", g->shared->find(g->host, Str("k"), EndShared, &found));
  Note(g, "shared.find finds %d", found == &shared);
}

/* ---- The scheduling cycle -------------------------------------------------------------------- */

static void UseObjects(golden* g) {
  const berth_str kind = Str("v1/Namespace");
  const berth_object* found = NULL;
  Note(g, "objects.get %d", g->objects->get(g->host, kind, Str(""), Str("default"), &found));
  Note(g, "objects.get finds %d", found != NULL);
  Note(g, "objects.get of no object %d",
       g->objects->get(g->host, kind, Str(""), Str("none"), &found));
  Note(g, "objects.list %d", g->objects->list(g->host, kind, Str(""), Listed, g));
  Note(g, "objects.served %d", g->objects->served(g->host, kind));
  Note(g, "objects.served of no kind %d", g->objects->served(g->host, Str("v1/Nothing")));
}

static void UseNodes(golden* g, const berth_cycle* cycle, const berth_nodes* all, state* s) {
  const berth_column_request zone = {sizeof(zone), 0, "label:zone", BERTH_TYPE_ID, 0};
  uint32_t row = 0;
  uint32_t block = 99;
  uint32_t index = 99;
  Note(g, "columns.bind %d", g->columns->bind(g->host, cycle, &zone, &s->zone));
  Note(g, "nodes.find %d", g->nodes->find(g->host, Str("n1"), &row));
  Note(g, "nodes.find of no node %d", g->nodes->find(g->host, Str("none"), &row));
  Note(g, "nodes.place %d", g->nodes->place(g->host, all, row, &block, &index));
  Note(g, "nodes.place is in a block %d", all->block(all, block)->rows[index] == row);
  Note(g, "random.next draws %d",
       g->random->next(g->host, cycle) != g->random->next(g->host, cycle));
}

/* Lets the pod "gated" wait if it has waited `times` times; the timer activates it. */
static int LetsWait(golden* g, const berth_pod* pod, int times, const char* point) {
  if (!IsNamed(pod, "gated") || g->waits != times) return 0;
  ++g->waits;
  Note(g, "%s lets gated wait", point);
  return 1;
}

static berth_code PreFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                            berth_pre_filter_out* out, berth_status* status) {
  golden* g = (golden*)self;
  state* s = (state*)cycle->slots[0];
  const berth_str names[] = {Str("n1"), Str("n2"), Str("none")};
  (void)status;
  Note(g, "point PreFilter");
  if (LetsWait(g, cycle->pod, 0, "PreFilter")) return BERTH_PENDING;
  UseNodes(g, cycle, all, s);
  UseObjects(g);
  out->only_nodes(out, names, 3);
  Note(g, "PreFilter add_reason %d", out->add_reason(out, Str("never used")) > 0);
  for (uint32_t b = 0; b < all->n_blocks; ++b) {
    const berth_block* block = all->block(all, b);
    for (uint32_t i = 0; i < block->count; ++i) {
      for (uint64_t p = 0; block->nodes[i] != NULL && p < block->pods[i].count; ++p) {
        s->victims += IsNamed(block->pods[i].data[p], "victim");
      }
    }
  }
  return BERTH_SUCCESS;
}

static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                         const berth_block* block, uint32_t index, berth_status* status) {
  (void)block, (void)index, (void)status;
  Note((golden*)self, "point AddPod");
  ((state*)cycle->slots[0])->victims += IsNamed(pod, "victim");
  return BERTH_SUCCESS;
}

static berth_code RemovePod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                            const berth_block* block, uint32_t index, berth_status* status) {
  (void)block, (void)index, (void)status;
  Note((golden*)self, "point RemovePod");
  ((state*)cycle->slots[0])->victims -= IsNamed(pod, "victim");
  return BERTH_SUCCESS;
}

/* Hosts that reuse answers call these two functions, others do not: they note nothing. */
static berth_code Sign(void* self, const berth_cycle* cycle, berth_signature* signature) {
  (void)self, (void)cycle;
  signature->low = signature->high = 1;
  return BERTH_SKIP;
}

static uint32_t ChangedSince(void* self, const berth_cycle* cycle, uint64_t* token,
                             berth_put_rows put_rows, void* to) {
  (void)self, (void)cycle, (void)put_rows, (void)to;
  *token = 1;
  return BERTH_STALE_ALL;
}

static uint32_t Selected(const berth_block* block, uint32_t k) {
  return block->selected != NULL ? block->selected[k] : k;
}

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  const state* s = (const state*)cycle->slots[0];
  const int rejects = IsNamed(cycle->pod, "big") && s->victims > 0;
  (void)status;
  __atomic_fetch_add(&((golden*)self)->filters, 1, __ATOMIC_RELAXED);
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    out->codes[Selected(block, k)] = rejects ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
    out->reasons[Selected(block, k)] = rejects ? 1 : 0;
  }
  return BERTH_SUCCESS;
}

/* Returns the pod named "victim" and its row, or NULL. */
static const berth_pod* FindVictim(const berth_nodes* all, uint32_t* row) {
  for (uint32_t b = 0; b < all->n_blocks; ++b) {
    const berth_block* block = all->block(all, b);
    for (uint32_t i = 0; i < block->count; ++i) {
      for (uint64_t p = 0; block->nodes[i] != NULL && p < block->pods[i].count; ++p) {
        *row = block->rows[i];
        if (IsNamed(block->pods[i].data[p], "victim")) return block->pods[i].data[p];
      }
    }
  }
  return NULL;
}

static int32_t NotePodFilter(void* to, berth_str plugin) {
  Note((golden*)to, "whatif.pod_filters names %.*s", (int)plugin.len, plugin.ptr);
  return 1;
}

/* Asks whether the pod fits without the victim, and whether it fits with it again. */
static void AskWhatIf(golden* g, const berth_cycle* cycle, const berth_pod* victim, uint32_t row) {
  berth_status status = NotedStatus(g);
  uint64_t question = 0;
  uint8_t code = 99;
  const berth_whatif_run run = {sizeof(run), 0, NULL, 0, &code};
  Note(g, "whatif.begin %d",
       g->whatif->begin(g->host, cycle, &row, 1, BERTH_WHATIF_APART, &question));
  Note(g, "whatif.remove_pod %d", g->whatif->remove_pod(g->host, question, 0, victim, &status));
  Note(g, "whatif.run_filters %d", g->whatif->run_filters(g->host, question, &run, &status));
  Note(g, "whatif.run_filters without the victim wrote %d", code);
  Note(g, "whatif.add_pod %d", g->whatif->add_pod(g->host, question, 0, victim, &status));
  Note(g, "whatif.run_filters %d", g->whatif->run_filters(g->host, question, &run, &status));
  Note(g, "whatif.run_filters with the victim wrote %d", code);
  Note(g, "whatif.reasons %d", g->whatif->reasons(g->host, question, 0, &status));
  Note(g, "whatif.pod_filters %d", g->whatif->pod_filters(g->host, cycle, NotePodFilter, g));
  g->whatif->end(g->host, question);
  Note(g, "whatif.run_filters after the end %d",
       g->whatif->run_filters(g->host, question, &run, NULL));
}

static void UseApi(golden* g, const berth_pod* pod, const berth_pod* victim) {
  const berth_tagged regarding = Tagged(BERTH_KIND_POD, pod);
  const berth_api_event event = {sizeof(event), 0,          &regarding,    NULL,
                                 Str("Normal"), Str("Why"), Str("Action"), Str("note")};
  const berth_api_request request = {
      sizeof(request), 0, Str("GET"), Str("/api/v1/namespaces/default"), {NULL, 0}, {NULL, 0}, 0};
  const berth_status_patch patch = {
      sizeof(patch), 0, pod,
      Str("{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
          "\"reason\":\"Golden\"}]}}")};
  const berth_eviction eviction = {sizeof(eviction), 0, victim, Str("golden evicts")};
  Note(g, "api.event %d", g->api->event(g->host, &event));
  Note(g, "api.request %d", g->api->request(g->host, &request, Answered, g));
  Note(g, "api.patch_status %d", g->api->patch_status(g->host, &patch, Answered, g));
  Note(g, "api.evict %d", g->api->evict(g->host, &eviction, Evicted, g));
}

/* Nothing listens on the port 1. */
static void UseHttp(golden* g) {
  const berth_http_header header = {Str("X-Golden"), Str("1")};
  const berth_http_request request = {
      .struct_size = sizeof(request),
      .method = Str("GET"),
      .url = Str("http://127.0.0.1:1/"),
      .headers = {&header, 1, sizeof(header)},
  };
  Note(g, "http.request %d", g->http->request(g->host, &request, HttpEnded, g));
}

static berth_code PostFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                             const berth_verdicts* verdicts, berth_post_filter_out* out,
                             berth_status* status) {
  golden* g = (golden*)self;
  uint32_t row = 0;
  const berth_pod* victim = FindVictim(all, &row);
  (void)status;
  Note(g, "point PostFilter");
  if (victim == NULL) return BERTH_UNSCHEDULABLE;
  Note(g, "PostFilter verdict %d absent %d", verdicts->codes[row], verdicts->absent[row]);
  AskWhatIf(g, cycle, victim, row);
  UseApi(g, cycle->pod, victim);
  UseHttp(g);
  out->nominate(out, Str("n1"));
  Note(g, "nominate sets the mode %u", out->mode);
  return BERTH_SUCCESS;
}

static berth_code PreScore(void* self, const berth_cycle* cycle, const berth_nodes* feasible,
                           const berth_nodes* all, berth_pre_score_out* out, berth_status* status) {
  golden* g = (golden*)self;
  (void)out, (void)status;
  Note(g, "point PreScore %d feasible of %d", (int)feasible->n_nodes, (int)all->n_nodes);
  return LetsWait(g, cycle->pod, 1, "PreScore") ? BERTH_PENDING : BERTH_SUCCESS;
}

/* The node with the higher number in its label "zone" is better. */
static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  golden* g = (golden*)self;
  const berth_column* zones = &block->columns[((const state*)cycle->slots[0])->zone];
  (void)status;
  __atomic_fetch_add(&g->scores, 1, __ATOMIC_RELAXED);
  for (uint32_t k = 0; k < block->n_selected; ++k) {
    const uint32_t i = Selected(block, k);
    const berth_id zone = *(const berth_id*)((const char*)zones->data + i * zones->stride);
    out->scores[i] = Is(g->strings->text(g->host, zone), "2") ? 7 : 3;
  }
  return BERTH_SUCCESS;
}

static berth_code Normalize(void* self, const berth_cycle* cycle, berth_scores* scores,
                            berth_status* status) {
  (void)cycle, (void)status;
  for (uint32_t i = 0; i < scores->count; ++i) {
    Note((golden*)self, "normalize %d", (int)scores->scores[i]);
    scores->scores[i] *= 10;
  }
  return BERTH_SUCCESS;
}

static berth_code Reserve(void* self, const berth_cycle* cycle, const berth_target* target,
                          berth_status* status) {
  golden* g = (golden*)self;
  Note(g, "point Reserve of %.*s on %.*s", (int)cycle->pod->meta->name.len,
       cycle->pod->meta->name.ptr, (int)target->node->meta->name.len, target->node->meta->name.ptr);
  if (!IsNamed(cycle->pod, "first") || g->reserved) return BERTH_SUCCESS;
  g->reserved = 1;
  status->add_reason(status, Str("once"));
  return BERTH_ERROR;
}

static void Unreserve(void* self, const berth_binding* binding) {
  Note((golden*)self, "point Unreserve of %.*s", (int)binding->pod->meta->name.len,
       binding->pod->meta->name.ptr);
}

static berth_code Permit(void* self, const berth_cycle* cycle, const berth_target* target,
                         berth_permit_out* out, berth_status* status) {
  (void)target, (void)status;
  Note((golden*)self, "point Permit");
  if (IsNamed(cycle->pod, "big")) return BERTH_SUCCESS;
  out->timeout_ns = 60 * kSecond;
  return BERTH_WAIT;
}

/* ---- The binding cycle ----------------------------------------------------------------------- */

static berth_code PreFlight(void* self, const berth_binding* binding, berth_status* status) {
  (void)binding, (void)status;
  Note((golden*)self, "point PreBindPreFlight");
  return BERTH_SUCCESS;
}

static berth_code PreBind(void* self, const berth_binding* binding, berth_done done,
                          berth_status* status) {
  golden* g = (golden*)self;
  (void)binding, (void)status;
  Note(g, "point PreBind");
  if (g->done.id != 0) return BERTH_SUCCESS; /* One promise at a time. */
  g->done = done;
  Note(g, "timer.post %d", g->timer->post(g->host, Posted, g));
  return BERTH_PENDING;
}

static berth_code Bind(void* self, const berth_binding* binding, berth_done done,
                       berth_status* status) {
  golden* g = (golden*)self;
  const berth_code code = g->api->bind(g->host, binding, done);
  (void)status;
  Note(g, "point Bind");
  Note(g, "api.bind %d", code);
  return code;
}

static void AttemptFailed(void* self, const berth_failed_attempt* attempt) {
  golden* g = self;
  Note(g, "point AttemptFailed of %.*s, code %d, flags %u, by %u plugins: %.*s",
       (int)attempt->pod->meta->name.len, attempt->pod->meta->name.ptr, attempt->code,
       attempt->flags, attempt->plugins.count, (int)attempt->message.len, attempt->message.ptr);
}

static void PostBind(void* self, const berth_binding* binding) {
  golden* g = (golden*)self;
  Note(g, "point PostBind of %.*s on %.*s", (int)binding->pod->meta->name.len,
       binding->pod->meta->name.ptr, (int)binding->node_name.len, binding->node_name.ptr);
  g->metrics->observe(g->host, g->series, 1);
  if (g->kept != NULL) g->refs->release(g->host, Tagged(BERTH_KIND_NODE, g->kept));
  g->kept = NULL;
}

static void Changed(void* self, const berth_change* change) {
  golden* g = (golden*)self;
  Note(g, "change %u flags %u", change->kind, change->flags & ~(uint32_t)BERTH_CHANGE_FLAG_REPLAY);
  if (change->kind == BERTH_CHANGE_NODE_ADDED && g->kept == NULL) {
    Note(g, "refs.retain %d", g->refs->retain(g->host, Tagged(BERTH_KIND_NODE, change->node)));
    g->kept = change->node;
    UseSelectors(g);
  }
}

static berth_code Save(void* self, berth_hand_over_out* out, berth_status* status) {
  (void)status;
  out->version = 3;
  const berth_code code = out->write(out, Str("golden state"));
  Note((golden*)self, "hand_over.write %d", code);
  Note((golden*)self, "point HandOver: save");
  return code;
}

static berth_code Restore(void* self, uint32_t version, berth_str bytes, berth_status* status) {
  (void)status;
  Note((golden*)self, "point HandOver: restore version %u: %.*s", version, (int)bytes.len,
       bytes.ptr);
  return BERTH_SUCCESS;
}

/* ---- The instance ---------------------------------------------------------------------------- */

static const berth_dependence kDependence = {sizeof(berth_dependence), BERTH_DEPENDS_OTHER,
                                             BERTH_PART(IDENTITY), Sign, ChangedSince};
static const berth_event_interest kInterests[] = {
    {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, NULL, 1, 0, 0}};
static const berth_pre_enqueue kPreEnqueue = {sizeof(berth_pre_enqueue), 0, PreEnqueue};
static const berth_enqueue_extensions kEnqueueExtensions = {
    sizeof(berth_enqueue_extensions), 0, {kInterests, 1, sizeof(kInterests[0])}, Hint};
static const berth_queue_sort kQueueSort = {sizeof(berth_queue_sort), 0, Key, NULL};
static const berth_queue_sort_2 kQueueSort2 = {
    sizeof(berth_queue_sort_2), 0, Key, NULL, Lane, Next};
static const berth_entity kEntity = {sizeof(berth_entity), 0, Entity};
static const berth_pre_filter kPreFilter = {sizeof(berth_pre_filter), 0, PreFilter, AddPod,
                                            RemovePod};
static const berth_filter kFilter = {sizeof(berth_filter), 0, &kDependence, Filter, NULL};
static const berth_post_filter kPostFilter = {sizeof(berth_post_filter), 0, PostFilter};
static const berth_pre_score kPreScore = {sizeof(berth_pre_score), 0, PreScore};
static const berth_score kScore = {
    sizeof(berth_score), 0, BERTH_NORMALIZE_CUSTOM, 0, &kDependence, Score, Normalize};
static const berth_reserve kReserve = {sizeof(berth_reserve), 0, Reserve, Unreserve};
static const berth_permit kPermit = {sizeof(berth_permit), 0, Permit};
static const berth_pre_bind kPreBind = {sizeof(berth_pre_bind), 0, PreFlight, PreBind};
static const berth_bind kBind = {sizeof(berth_bind), 0, Bind};
static const berth_post_bind kPostBind = {sizeof(berth_post_bind), 0, PostBind};
static const berth_attempt_failed kAttemptFailed = {sizeof(berth_attempt_failed), 0, AttemptFailed};
static const berth_changes kChanges = {sizeof(berth_changes), BERTH_CHANGES_FLAG_PENDING, Changed};

static const berth_hand_over kHandOver = {sizeof(berth_hand_over), 0, Save, Restore};

static const struct {
  const char* id;
  const void* table;
} kTables[] = {{BERTH_POINT_PRE_ENQUEUE, &kPreEnqueue},
               {BERTH_POINT_ENQUEUE_EXTENSIONS, &kEnqueueExtensions},
               {BERTH_POINT_QUEUE_SORT, &kQueueSort},
               {BERTH_POINT_QUEUE_SORT_2, &kQueueSort2},
               {BERTH_POINT_PRE_FILTER, &kPreFilter},
               {BERTH_POINT_FILTER, &kFilter},
               {BERTH_POINT_POST_FILTER, &kPostFilter},
               {BERTH_POINT_PRE_SCORE, &kPreScore},
               {BERTH_POINT_SCORE, &kScore},
               {BERTH_POINT_RESERVE, &kReserve},
               {BERTH_POINT_PERMIT, &kPermit},
               {BERTH_POINT_PRE_BIND, &kPreBind},
               {BERTH_POINT_BIND, &kBind},
               {BERTH_POINT_POST_BIND, &kPostBind},
               {BERTH_POINT_ATTEMPT_FAILED, &kAttemptFailed},
               {BERTH_POINT_ENTITY, &kEntity},
               {BERTH_POINT_CHANGES, &kChanges},
               {BERTH_POINT_HAND_OVER, &kHandOver}};

static const void* GetPoint(const berth_plugin* plugin, const char* id) {
  (void)plugin;
  for (size_t i = 0; i < sizeof(kTables) / sizeof(kTables[0]); ++i) {
    if (strcmp(kTables[i].id, id) == 0) return kTables[i].table;
  }
  return NULL;
}

static int Compare(const void* a, const void* b) { return strcmp((const char*)a, (const char*)b); }

static void Quiesce(berth_plugin* plugin) {
  golden* g = (golden*)plugin->self;
  if (g->filters > 0) Note(g, "point Filter");
  if (g->scores > 0) Note(g, "point Score");
  qsort(g->notes, (size_t)g->n_notes, kNoteSize, Compare);
  for (int i = 0; i < g->n_notes; ++i) {
    g->log->log(g->host, BERTH_LOG_WARN, Str(g->notes[i]), NULL, 0);
  }
}

static void Destroy(berth_plugin* plugin) { free(plugin->self); }

static const berth_column_request kColumns[] = {
    {sizeof(berth_column_request), 0, "pods.count", BERTH_TYPE_I64, 0},
    {sizeof(berth_column_request), BERTH_COLUMN_OPTIONAL, "no.such-column", BERTH_TYPE_I64, 0}};
static const berth_slot kSlots[] = {
    {sizeof(berth_slot), sizeof(state), _Alignof(state), 0, "golden.state/1", NULL, NULL, NULL}};

static void GetServices(golden* g) {
  const struct {
    const char* id;
    const void** to;
  } wanted[] = {{BERTH_SERVICE_LOG, (const void**)&g->log},
                {BERTH_SERVICE_STRINGS, (const void**)&g->strings},
                {BERTH_SERVICE_REFS, (const void**)&g->refs},
                {BERTH_SERVICE_COLUMNS, (const void**)&g->columns},
                {BERTH_SERVICE_VALUES, (const void**)&g->values},
                {BERTH_SERVICE_SELECTORS, (const void**)&g->selectors},
                {BERTH_SERVICE_METRICS, (const void**)&g->metrics},
                {BERTH_SERVICE_OBJECTS, (const void**)&g->objects},
                {BERTH_SERVICE_NODES, (const void**)&g->nodes},
                {BERTH_SERVICE_WHATIF, (const void**)&g->whatif},
                {BERTH_SERVICE_NOMINATOR, (const void**)&g->nominator},
                {BERTH_SERVICE_ACTIVATE, (const void**)&g->activate},
                {BERTH_SERVICE_WAITING, (const void**)&g->waiting},
                {BERTH_SERVICE_TIMER, (const void**)&g->timer},
                {BERTH_SERVICE_RANDOM, (const void**)&g->random},
                {BERTH_SERVICE_SHARED, (const void**)&g->shared},
                {BERTH_SERVICE_API, (const void**)&g->api},
                {BERTH_SERVICE_COMPLETION, (const void**)&g->completion},
                {BERTH_SERVICE_HTTP, (const void**)&g->http}};
  const void* none = NULL;
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    Note(g, "get_service %s %d", wanted[i].id,
         g->host->get_service(g->host, wanted[i].id, wanted[i].to));
  }
  Note(g, "get_service of no service %d", g->host->get_service(g->host, "golden.none/1", &none));
}

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  golden* g = (golden*)calloc(1, sizeof(golden));
  uint64_t timer = 0;
  uint64_t hold = 0;
  (void)status;
  if (g == NULL) return BERTH_ERROR;
  g->host = host;
  GetServices(g);
  Note(g, "init was called %d", initialised);
  Note(g, "create %.*s for %.*s", (int)request->name.len, request->name.ptr,
       (int)request->profile.len, request->profile.ptr);
  Note(g, "create enables %u points", (unsigned)request->points.count);
  UseStrings(g);
  UseValues(g, request->args);
  UseMetrics(g);
  UseShared(g);
  Note(g, "objects.watch %d", g->objects->watch(host, Str("v1/Namespace"), Watched, g));
  Note(g, "timer.start %d", g->timer->start(host, kSecond, Cancelled, g, &timer));
  Note(g, "timer.cancel %d", g->timer->cancel(host, timer));
  Note(g, "timer.cancel again %d", g->timer->cancel(host, timer));
  Note(g, "timer.start %d", g->timer->start(host, kSecond, Tick, g, &timer));
  Note(g, "timer.now_ns %d", g->timer->now_ns(host) >= 0);
  Note(g, "timer.wall_ns %d", g->timer->wall_ns(host) > 0);
  Note(g, "timer.hold %d", g->timer->hold(host, &hold));
  g->timer->release(host, hold);
  g->abi.struct_size = sizeof(berth_plugin);
  g->abi.self = g;
  g->abi.columns = (berth_array){kColumns, 2, sizeof(kColumns[0])};
  g->abi.slots = (berth_array){kSlots, 1, sizeof(kSlots[0])};
  g->abi.get_point = GetPoint;
  g->abi.quiesce = Quiesce;
  g->abi.destroy = Destroy;
  static berth_str reasons[1];
  reasons[0] = Str("the victim is there");
  g->abi.reasons = (berth_array){reasons, 1, sizeof(reasons[0])};
  *out = &g->abi;
  return BERTH_SUCCESS;
}

/* ---- The library ----------------------------------------------------------------------------- */

static const char* const kPoints[] = {BERTH_POINT_PRE_ENQUEUE,
                                      BERTH_POINT_ENQUEUE_EXTENSIONS,
                                      BERTH_POINT_QUEUE_SORT,
                                      BERTH_POINT_QUEUE_SORT_2,
                                      BERTH_POINT_PRE_FILTER,
                                      BERTH_POINT_FILTER,
                                      BERTH_POINT_POST_FILTER,
                                      BERTH_POINT_PRE_SCORE,
                                      BERTH_POINT_SCORE,
                                      BERTH_POINT_RESERVE,
                                      BERTH_POINT_PERMIT,
                                      BERTH_POINT_PRE_BIND,
                                      BERTH_POINT_BIND,
                                      BERTH_POINT_POST_BIND,
                                      BERTH_POINT_ATTEMPT_FAILED,
                                      BERTH_POINT_CHANGES,
                                      BERTH_POINT_ENTITY,
                                      BERTH_POINT_HAND_OVER,
                                      NULL};
static const char* const kServices[] = {BERTH_SERVICE_LOG,       BERTH_SERVICE_STRINGS,
                                        BERTH_SERVICE_REFS,      BERTH_SERVICE_COLUMNS,
                                        BERTH_SERVICE_VALUES,    BERTH_SERVICE_SELECTORS,
                                        BERTH_SERVICE_METRICS,   BERTH_SERVICE_OBJECTS,
                                        BERTH_SERVICE_NODES,     BERTH_SERVICE_WHATIF,
                                        BERTH_SERVICE_NOMINATOR, BERTH_SERVICE_ACTIVATE,
                                        BERTH_SERVICE_WAITING,   BERTH_SERVICE_TIMER,
                                        BERTH_SERVICE_RANDOM,    BERTH_SERVICE_SHARED,
                                        BERTH_SERVICE_API,       BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_HTTP,      NULL};
static const char* const kKinds[] = {"v1/Namespace", NULL};
static const char* const kNone[] = {NULL};
static const berth_plugin_info kInfo = {
    sizeof(berth_plugin_info),
    0,
    "golden.Everything",
    "1.0.0",
    "Uses every extension point and every service.",
    kPoints,
    kServices,
    kKinds,
    kNone,
    kNone,
    "{\"type\":\"object\",\"properties\":{\"greeting\":{\"type\":\"string\"}}}"};
static const berth_plugin_info* const kPlugins[] = {&kInfo};

static berth_code Init(const berth_host* host, berth_status* status) {
  (void)host, (void)status;
  ++initialised;
  return BERTH_SUCCESS;
}

static void Deinit(void) { --initialised; }

const berth_entry berth_entry_v1 = {.magic = BERTH_MAGIC,
                                    .struct_size = sizeof(berth_entry),
                                    .abi_major = BERTH_ABI_MAJOR,
                                    .abi_minor = BERTH_ABI_MINOR,
                                    .min_host_minor = 0,
                                    .pointer_bits = 64,
                                    .n_plugins = 1,
                                    .plugins = kPlugins,
                                    .init = Init,
                                    .deinit = Deinit,
                                    .create = Create,
                                    .abi_draft = BERTH_ABI_DRAFT};

BERTH_NOTE(
    "{\"abi\":[1,0],\"minHostMinor\":0,\"plugins\":[{\"name\":\"golden.Everything\","
    "\"version\":\"1.0.0\",\"points\":[\"berth.pre_enqueue/1\",\"berth.enqueue_extensions/1\","
    "\"berth.queue_sort/1\",\"berth.queue_sort/2\",\"berth.pre_filter/1\",\"berth.filter/1\","
    "\"berth.post_filter/1\",\"berth.pre_score/1\",\"berth.score/1\",\"berth.reserve/1\","
    "\"berth.permit/1\",\"berth.pre_bind/1\",\"berth.bind/1\",\"berth.post_bind/1\","
    "\"berth.attempt_failed/1\",\"berth.changes/1\",\"berth.entity/1\","
    "\"berth.hand_over/1\"]}]}");

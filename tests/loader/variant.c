/* A plugin library for the loader's tests, built once per variant. Each macro breaks one rule of
 * the contract in the binary; the profile name that create() gets selects a rule that the plugin
 * breaks at run time. Plain C11 against <berth/abi.h>, as an author in C writes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <berth/abi.h>

#ifndef TEST_NAME
#define TEST_NAME "test.Variant"
#endif
#ifndef TEST_VERSION
#define TEST_VERSION "1.0.0"
#endif
#ifndef TEST_POINTS
#define TEST_POINTS "berth.filter/1", "berth.score/1"
#define TEST_POINTS_JSON "[\"berth.filter/1\",\"berth.score/1\"]"
#endif
#ifndef TEST_SERVICES
#define TEST_SERVICES BERTH_SERVICE_LOG
#endif
#ifndef TEST_MAGIC
#define TEST_MAGIC BERTH_MAGIC
#endif
#ifndef TEST_ENTRY_SIZE
#define TEST_ENTRY_SIZE sizeof(berth_entry)
#endif
#ifndef TEST_ABI_MAJOR
#define TEST_ABI_MAJOR 1
#endif
#ifndef TEST_ABI_MINOR
#define TEST_ABI_MINOR 0
#endif
#ifndef TEST_MIN_HOST_MINOR
#define TEST_MIN_HOST_MINOR 0
#endif
#ifndef TEST_ABI_DRAFT
#define TEST_ABI_DRAFT BERTH_ABI_DRAFT
#endif
#ifndef TEST_CREATE
#define TEST_CREATE Create
#endif
#ifndef TEST_INFO_FLAGS
#define TEST_INFO_FLAGS 0
#endif
#ifndef TEST_ABOUT
#define TEST_ABOUT "Breaks one rule at a time."
#endif

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#ifndef TEST_NOTE
#define TEST_NOTE                                                                                  \
  "{\"abi\":[" TEXT_OF(TEST_ABI_MAJOR) "," TEXT_OF(TEST_ABI_MINOR) "],\"minHostMinor\":" TEXT_OF(  \
      TEST_MIN_HOST_MINOR) ",\"plugins\":[{\"name\":\"" TEST_NAME "\",\"version\":\"" TEST_VERSION \
                           "\",\"points\":" TEST_POINTS_JSON "}]}"
#endif
#ifndef TEST_WITHOUT_NOTE
BERTH_NOTE(TEST_NOTE);
#endif

/* Appends a line to the file that the test names, so that the test can see which code ran. */
static void Trace(const char* what) {
  const char* path = getenv("BERTH_TEST_TRACE");
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  fprintf(file, "%s\n", what);
  fclose(file);
}

#if defined(TEST_FLUSHES_TO_ZERO) && defined(__x86_64__)
#include <xmmintrin.h>
static void SpoilArithmetic(void) { _mm_setcsr(_mm_getcsr() | 0x8040u); }
#else
static void SpoilArithmetic(void) {}
#endif

/* Ends or blocks the process that loads the library. */
static void MisbehaveOnLoad(void) {
#ifdef TEST_ABORTS
  abort();
#elif defined(TEST_EXITS)
  exit(0);
#elif defined(TEST_HANGS)
  for (;;) pause();
#elif defined(TEST_MARKS)
  setenv("BERTH_TEST_MARK", "1", 1);
#elif defined(TEST_ABORTS_AFTER_MARK)
  if (getenv("BERTH_TEST_MARK") != NULL) abort();
#endif
}

#ifdef TEST_NEEDS_SIDE
int SideNumber(void);
static void TraceSide(void) {
  const char text[] = {'s', 'i', 'd', 'e', ' ', (char)('0' + SideNumber()), 0};
  Trace(text);
}
#else
static void TraceSide(void) {}
#endif

__attribute__((constructor)) static void Construct(void) {
  Trace("constructor");
  TraceSide();
  SpoilArithmetic();
  MisbehaveOnLoad();
}

#ifdef TEST_UNRESOLVED
void berth_test_undefined_function(void);
#endif

#ifndef TEST_SECOND_NAME
#define TEST_SECOND_NAME berth_test_second_export
#endif
#ifdef TEST_SECOND_EXPORT
extern BERTH_EXPORT const int TEST_SECOND_NAME;
const int TEST_SECOND_NAME = 1;
#endif

static berth_str Str(const char* text) {
  berth_str str = {text, strlen(text)};
  return str;
}

static int Is(berth_str text, const char* expected) {
  return text.len == strlen(expected) && memcmp(text.ptr, expected, text.len) == 0;
}

/* The profile name of the last create(): selects the rule to break. */
static char broken[64];
static int Breaks(const char* promise) { return strcmp(broken, promise) == 0; }

static berth_code FilterWhole(void* self, const berth_cycle* cycle, const berth_nodes* survivors,
                              berth_filter_whole_out* out, berth_status* status) {
  (void)self, (void)cycle, (void)survivors, (void)out, (void)status;
  return BERTH_SUCCESS;
}

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  (void)self, (void)cycle, (void)status;
#ifdef TEST_UNRESOLVED
  berth_test_undefined_function();
#endif
  for (uint32_t i = 0; i < block->count; ++i) out->codes[i] = BERTH_SUCCESS;
  return BERTH_SUCCESS;
}

static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  (void)self, (void)cycle, (void)status;
  for (uint32_t i = 0; i < block->count; ++i) out->scores[i] = 7;
  return BERTH_SUCCESS;
}

static berth_dependence dependence = {.struct_size = sizeof(berth_dependence),
                                      .cluster = BERTH_DEPENDS_NODE,
                                      .pod_parts = BERTH_PART(LABELS)};
static berth_dependence on_pods = {.struct_size = sizeof(berth_dependence),
                                   .cluster = BERTH_DEPENDS_NODE_PODS};
static berth_filter filter;
/* A struct of a later header, with one more member than in the header of this host. */
static struct {
  berth_score score;
  uint64_t later;
} score;

static const void* GetPoint(const berth_plugin* plugin, const char* id) {
  (void)plugin;
  if (strcmp(id, BERTH_POINT_FILTER) == 0 && !Breaks("missing-point")) return &filter;
  if (strcmp(id, BERTH_POINT_SCORE) == 0) return &score;
  return NULL;
}

static void Quiesce(berth_plugin* plugin) {
  (void)plugin;
  Trace("quiesce");
}

static berth_column_request columns[2];
static berth_slot slots[1];
static berth_str reasons[65];

static void Destroy(berth_plugin* plugin) {
  Trace("destroy");
  /* Overwrites the memory, so that a pointer that the host still holds shows in the test. */
  memset(columns, 0xee, sizeof columns);
  memset(slots, 0xee, sizeof slots);
  memset(reasons, 0xee, sizeof reasons);
  memset(&filter, 0xee, sizeof filter);
  memset(&score, 0xee, sizeof score);
  free(plugin);
}

static void FillTables(void) {
  const berth_column_request cpu = {sizeof cpu, 0, "alloc.cpu", BERTH_TYPE_I64, 0};
  const berth_column_request gpu = {sizeof gpu, BERTH_COLUMN_OPTIONAL, "alloc:example.com/gpu",
                                    BERTH_TYPE_I64, 0};
  columns[0] = cpu;
  columns[1] = gpu;
  if (Breaks("unknown-column")) columns[0].name = "alloc.luck";
  if (Breaks("column-type")) columns[0].type = BERTH_TYPE_U8;
  if (Breaks("column-name")) columns[0].name = NULL;
  if (Breaks("column-flag")) columns[1].flags |= 2;

  const berth_slot slot = {sizeof slot, 24, 16, 0, "test.state/1", NULL, NULL, NULL};
  slots[0] = slot;
  if (Breaks("slot-align-3")) slots[0].align = 3;
  if (Breaks("slot-align-0")) slots[0].align = 0;
  if (Breaks("slot-align-128")) slots[0].align = 128;
  if (Breaks("slot-size-0")) slots[0].size = 0;
  if (Breaks("slot-size-huge")) slots[0].size = UINT32_MAX;
  if (Breaks("slot-flag")) slots[0].reserved = 1;

  for (int i = 0; i < 65; ++i) reasons[i] = Str(i == 0 ? "node(s) were unlucky" : "another reason");
  if (Breaks("reason-null")) reasons[0].ptr = NULL;

  memset(&filter, 0, sizeof filter);
  filter.struct_size = Breaks("point-size") ? 8 : sizeof filter;
  filter.filter = Breaks("point-function") ? NULL : Filter;
  if (Breaks("whole-function") || Breaks("whole-dependence") || Breaks("whole-kept")) {
    filter.flags = BERTH_FILTER_WHOLE;
    filter.filter = NULL;
    filter.filter_whole = Breaks("whole-function") ? NULL : FilterWhole;
  }
  if (Breaks("filter-flag")) filter.flags = 4 | BERTH_FILTER_SERIAL;
  if (Breaks("filter-serial")) filter.flags = BERTH_FILTER_SERIAL;
  filter.dependence = Breaks("whole-kept") ? NULL : &dependence;
  dependence.cluster = BERTH_DEPENDS_NODE;
  dependence.pod_parts = BERTH_PART(LABELS);
  if (Breaks("unknown-cluster")) dependence.cluster |= 8;
  if (Breaks("unknown-part")) dependence.pod_parts |= (uint64_t)1 << BERTH_PART_COUNT;
  memset(&score, 0, sizeof score);
  score.score.struct_size = sizeof score;
  score.score.score = Score;
  score.score.dependence = &on_pods;
  score.score.normalize_mode =
      Breaks("normalize-missing") ? BERTH_NORMALIZE_CUSTOM : BERTH_NORMALIZE_MAX;
  if (Breaks("normalize-unknown")) score.score.normalize_mode = 99;
  if (Breaks("score-flag")) score.score.flags = 0x80000000u;
  score.later = 1;
}

__attribute__((unused)) static berth_code Create(const berth_host* host,
                                                 const berth_instance_request* request,
                                                 berth_plugin** out, berth_status* status) {
  const berth_str profile = request->profile;
  (void)host;
  Trace("create");
  if (!Is(request->name, TEST_NAME)) return BERTH_NOT_FOUND;
  if (profile.len >= sizeof broken) return BERTH_ERROR;
  memcpy(broken, profile.ptr, profile.len);
  broken[profile.len] = 0;
  if (Breaks("create-fails")) {
    status->add_reason(status, Str("the rack map is empty"));
    return BERTH_ERROR;
  }
  if (Breaks("no-instance")) return BERTH_SUCCESS;
  if (Breaks("bad-arguments") || Breaks("bad-arguments-and-success")) {
    status->add_argument_error(status, Str("/weight"), Str("expected 1 to 100, found 0"));
    status->add_argument_error(status, Str("/colour"), Str("unknown, expected weight"));
    if (Breaks("bad-arguments")) return BERTH_BAD_ARGUMENT;
  }
  if (Breaks("bad-arguments-unnamed")) return BERTH_BAD_ARGUMENT;
  FillTables();
  berth_plugin* plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  plugin->struct_size = Breaks("instance-size") ? 16 : sizeof *plugin;
  plugin->self = plugin;
  plugin->columns = (berth_array){columns, 2, sizeof columns[0]};
  plugin->slots = (berth_array){slots, 1, sizeof slots[0]};
  plugin->reasons = (berth_array){reasons,
                                  Breaks("reasons-65")   ? 65
                                  : Breaks("reasons-64") ? 64
                                                         : 1,
                                  sizeof(berth_str)};
  if (Breaks("column-stride")) plugin->columns.stride = 8;
  if (Breaks("column-data")) plugin->columns.data = NULL;
  if (Breaks("column-count")) plugin->columns.count = UINT32_MAX;
  if (Breaks("plugin-flag")) plugin->flags = 1;
  plugin->get_point = Breaks("no-get-point") ? NULL : GetPoint;
  plugin->quiesce = Breaks("no-quiesce") ? NULL : Quiesce;
  plugin->destroy = Destroy;
  *out = plugin;
  if (Breaks("instance-size"))
    free(plugin), *out = (berth_plugin*)(void*)slots, slots[0].struct_size = 16;
  return BERTH_SUCCESS;
}

static berth_code Init(const berth_host* host, berth_status* status) {
  (void)host;
  Trace("init");
#ifdef TEST_INIT_FAILS
  status->add_reason(status, Str("no rack map"));
  return BERTH_ERROR;
#else
  (void)status;
  return BERTH_SUCCESS;
#endif
}

static void Deinit(void) { Trace("deinit"); }

/* A function of another library, declared with the type of create(). */
__attribute__((unused)) extern berth_code CreateElsewhere(const berth_host* host,
                                                          const berth_instance_request* request,
                                                          berth_plugin** out,
                                                          berth_status* status) __asm__("abort");

static const char* const points[] = {TEST_POINTS, NULL};
static const char* const services[] = {TEST_SERVICES, NULL};
static const char* const kinds[] = {"v1/Namespace", NULL};
#ifdef TEST_FIELD
static const char* const fields[] = {TEST_FIELD, NULL};
#endif
static const berth_plugin_info info = {
    .struct_size = sizeof info,
    .flags = BERTH_PLUGIN_BLOCKS_IN_BIND | TEST_INFO_FLAGS,
#ifdef TEST_INFO_WITHOUT_NAME
    .name = NULL,
#elif defined(TEST_ENTRY_NAME)
    .name = TEST_ENTRY_NAME,
#else
    .name = TEST_NAME,
#endif
    .version = TEST_VERSION,
    .about = TEST_ABOUT,
    .points = points,
    .services = services,
    .kinds = kinds,
#ifdef TEST_FIELD
    .fields = fields,
#endif
    .args_schema = "{\"type\":\"object\"}",
};
static const berth_plugin_info* const infos[] = {&info};

#ifndef TEST_ENTRY_SYMBOL
#define TEST_ENTRY_SYMBOL berth_entry_v1
#endif
extern BERTH_EXPORT const berth_entry TEST_ENTRY_SYMBOL;
const berth_entry TEST_ENTRY_SYMBOL = {
    .magic = TEST_MAGIC,
    .struct_size = TEST_ENTRY_SIZE,
    .abi_major = TEST_ABI_MAJOR,
    .abi_minor = TEST_ABI_MINOR,
    .min_host_minor = TEST_MIN_HOST_MINOR,
    .pointer_bits = 64,
    .build_flags = BERTH_BUILD_ASSERTS,
    .n_plugins = 1,
    .plugins = infos,
    .init = Init,
    .deinit = Deinit,
    .create = TEST_CREATE,
    .abi_draft = TEST_ABI_DRAFT,
};

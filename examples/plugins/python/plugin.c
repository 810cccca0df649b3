/* Embeds CPython, and calls the policy in policy.py, whose text is part of this library: the host
 * loads a private copy of the library, which has no folder beside it. */
#include <Python.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <structseq.h>

#include <berth/plugin_c.h>

/* clang-format off */
__asm__(
    ".pushsection .rodata\n"
    "policy_text: .incbin \"" POLICY_FILE "\"\n"
    ".byte 0\n"
    ".popsection\n");
/* clang-format on */
extern const char policy_text[] __attribute__((visibility("hidden")));

/* ---- What the policy sees -------------------------------------------------------------------- */

/* The columns that the host passes for every node, and the members of `node` in policy.py. */
enum { kAllocCpu, kReqCpu, kAllocMemory, kReqMemory, kColumns };
#define COLUMN(name) \
  { sizeof(berth_column_request), 0, name, BERTH_TYPE_I64, 0 }
static const berth_column_request kColumnRequests[kColumns] = {
    COLUMN("alloc.cpu"), COLUMN("req.cpu"), COLUMN("alloc.memory"), COLUMN("req.memory")};
static PyStructSequence_Field node_fields[] = {
    {"alloc_cpu", NULL}, {"req_cpu", NULL}, {"alloc_memory", NULL}, {"req_memory", NULL}, {0}};
static PyStructSequence_Desc node_desc = {"policy.Node", NULL, node_fields, kColumns};

static PyStructSequence_Field pod_fields[] = {{"cpu", NULL}, {"memory", NULL}, {0}};
static PyStructSequence_Desc pod_desc = {"policy.Pod", NULL, pod_fields, 2};

/* The texts of the reasons. Bit i of a verdict means reason i. */
static const berth_str kReasons[] = {BERTH_STR_INIT("the pod would strand cpu or memory")};

/* The data that the results depend on. The host may reuse a result until this data changes. */
static const berth_dependence kDependence = {sizeof(berth_dependence), BERTH_DEPENDS_NODE_PODS,
                                             BERTH_PART(REQUESTS), NULL, NULL};

static const char kSchema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"maxGapPercent\":{"
    "\"type\":\"integer\",\"minimum\":0,\"maximum\":100,\"default\":50,"
    "\"description\":\"How far the used shares of cpu and memory may be apart, in percent.\"}}}";

/* One plugin instance: the policy of one profile. */
typedef struct Instance {
  berth_plugin abi;
  PyTypeObject* node_type;
  PyTypeObject* pod_type;
  PyObject* filter; /* the methods of the policy */
  PyObject* score;
} Instance;

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Clears the exception of Python, and adds it to the status with its line of policy.py. */
static void AddException(berth_status* status) {
  PyObject *type = NULL, *value = NULL, *trace = NULL, *text = NULL;
  berth_str reason = BERTH_STR("policy.py: an exception without a text");
  long line = 0;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  while (trace != NULL && trace != Py_None) {
    PyObject* number = PyObject_GetAttrString(trace, "tb_lineno");
    PyObject* next = PyObject_GetAttrString(trace, "tb_next");
    line = number == NULL ? 0 : PyLong_AsLong(number);
    Py_XDECREF(number);
    Py_DECREF(trace);
    trace = next;
  }
  Py_XDECREF(trace);
  if (type != NULL && value != NULL) {
    const char* name = ((PyTypeObject*)type)->tp_name;
    /* An error of the syntax has its line in its text, and no trace. */
    text = line > 0 ? PyUnicode_FromFormat("policy.py:%ld: %s: %S", line, name, value)
                    : PyUnicode_FromFormat("policy.py: %s: %S", name, value);
  }
  if (text != NULL) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 != NULL) reason = (berth_str){utf8, (uint64_t)size};
  }
  status->add_reason(status, reason);
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
}

/* ---- Extension points ------------------------------------------------------------------------ */

/* Returns a new object of `type` with the numbers as its members, or NULL. */
static PyObject* MakeObject(PyTypeObject* type, const int64_t* numbers, int count) {
  PyObject* object = PyStructSequence_New(type);
  if (object == NULL) return NULL;
  for (int i = 0; i < count; ++i) {
    PyObject* number = PyLong_FromLongLong(numbers[i]);
    if (number == NULL) {
      Py_DECREF(object);
      return NULL;
    }
    PyStructSequence_SetItem(object, i, number);
  }
  return object;
}

static PyObject* MakePod(const Instance* plugin, const berth_cycle* cycle) {
  const int64_t numbers[] = {cycle->pod->request->milli_cpu, cycle->pod->request->memory};
  return MakeObject(plugin->pod_type, numbers, 2);
}

/* Returns what `method` returns for the pod and node i of the block, or NULL. */
static PyObject* Ask(const Instance* plugin, PyObject* method, PyObject* pod,
                     const berth_block* block, uint32_t i) {
  int64_t numbers[kColumns];
  PyObject *node = NULL, *answer = NULL;
  for (int column = 0; column < kColumns; ++column) {
    numbers[column] = BERTH_CELL(int64_t, block, column, i);
  }
  node = MakeObject(plugin->node_type, numbers, kColumns);
  if (node == NULL) return NULL;
  answer = PyObject_CallFunctionObjArgs(method, pod, node, NULL);
  Py_DECREF(node);
  return answer;
}

static int FilterNodes(const Instance* plugin, PyObject* pod, const berth_block* block,
                       berth_filter_out* out) {
  BERTH_FOR_EACH_SELECTED(block, i) {
    PyObject* answer = Ask(plugin, plugin->filter, pod, block, i);
    const int fits = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    if (fits < 0) return 0;
    out->codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
    out->reasons[i] = fits ? 0u : 1u;
  }
  return 1;
}

static int ScoreNodes(const Instance* plugin, PyObject* pod, const berth_block* block,
                      berth_score_out* out) {
  BERTH_FOR_EACH_SELECTED(block, i) {
    PyObject* answer = Ask(plugin, plugin->score, pod, block, i);
    if (answer == NULL) return 0;
    out->scores[i] = PyLong_AsLongLong(answer);
    Py_DECREF(answer);
    if (PyErr_Occurred()) return 0;
  }
  return 1;
}

/* Calls FilterNodes() or ScoreNodes() with the lock of the interpreter. */
#define CALL(Nodes)                                               \
  const Instance* plugin = self;                                  \
  const PyGILState_STATE lock = PyGILState_Ensure();              \
  PyObject* pod = MakePod(plugin, cycle);                         \
  const int good = pod != NULL && Nodes(plugin, pod, block, out); \
  if (!good) AddException(status);                                \
  Py_XDECREF(pod);                                                \
  PyGILState_Release(lock);                                       \
  return good ? BERTH_SUCCESS : BERTH_BUG

static berth_code Filter(void* self, const berth_cycle* cycle, const berth_block* block,
                         berth_filter_out* out, berth_status* status) {
  CALL(FilterNodes);
}

static berth_code Score(void* self, const berth_cycle* cycle, const berth_block* block,
                        berth_score_out* out, berth_status* status) {
  CALL(ScoreNodes);
}

/* SERIAL: one block at a time, because the interpreter runs only one thread at a time anyway. */
static const berth_filter kFilter = {sizeof(berth_filter), BERTH_FILTER_SERIAL, &kDependence,
                                     Filter, NULL};
static const berth_score kScore = {
    sizeof(berth_score), BERTH_SCORE_SERIAL, BERTH_NORMALIZE_NONE, 0, &kDependence, Score, NULL};

/* ---- The library ----------------------------------------------------------------------------- */

static const char* const kServices[] = {BERTH_SERVICE_VALUES, NULL};
#define POINTS(POINT) POINT(FILTER, kFilter), POINT(SCORE, kScore)
BERTH_LIBRARY("acme.SameShape", "1.0.0", POINTS, Create,
              .about = "Keeps the free cpu and the free memory of every node in proportion.",
              .services = kServices, .args_schema = kSchema);

/* Starts the interpreter, unless the process has one. It is never ended: another plugin may use it,
 * and modules in C seldom start twice. Returns 1, or 0 with a reason. */
static int StartPython(berth_status* status) {
  Dl_info info;
  PyConfig config;
  PyStatus done;
  if (Py_IsInitialized()) return 1;
  /* Modules in C, such as _json, find the interpreter only among the global symbols. */
  if (dladdr((const void*)&Py_IsInitialized, &info) == 0 ||
      dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) == NULL) {
    status->add_reason(status, BERTH_STR("libpython is not among the loaded libraries"));
    return 0;
  }
  /* Isolated: no handlers of signals, no locale, no environment variables. */
  PyConfig_InitIsolatedConfig(&config);
  done = PyConfig_SetString(&config, &config.home, PYTHON_HOME);
  if (!PyStatus_Exception(done)) done = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(done)) {
    const char* text = done.err_msg == NULL ? "Python does not start" : done.err_msg;
    status->add_reason(status, (berth_str){text, strlen(text)});
    return 0;
  }
  PyEval_SaveThread(); /* Releases the lock, which the extension points take. */
  return 1;
}

/* Appends a piece of JSON to the bytearray `to`. */
static void PutJson(void* to, berth_str piece) {
  PyObject** all = to;
  PyBytes_ConcatAndDel(all, PyBytes_FromStringAndSize(piece.ptr, (Py_ssize_t)piece.len));
}

/* Returns the arguments as a dict, or NULL. */
static PyObject* ReadArgs(const berth_values* values, const berth_value* args) {
  PyObject *text = NULL, *json = NULL, *read = NULL;
  if (args == NULL) return PyDict_New();
  text = PyBytes_FromString("");
  values->write_json(args, PutJson, &text);
  json = text == NULL ? NULL : PyImport_ImportModule("json");
  read = json == NULL ? NULL : PyObject_CallMethod(json, "loads", "O", text);
  Py_XDECREF(json);
  Py_XDECREF(text);
  return read;
}

/* Runs policy.py, and returns a new Policy(args), or NULL. */
static PyObject* MakePolicy(const berth_values* values, const berth_value* args_value) {
  PyObject *names = NULL, *code = NULL, *done = NULL, *args = NULL, *policy = NULL;
  names = Py_BuildValue("{s:s,s:O}", "__name__", "policy", "__builtins__", PyEval_GetBuiltins());
  code = Py_CompileString(policy_text, "policy.py", Py_file_input);
  done = names == NULL || code == NULL ? NULL : PyEval_EvalCode(code, names, names);
  args = done == NULL ? NULL : ReadArgs(values, args_value);
  if (args != NULL) {
    PyObject* type = PyDict_GetItemString(names, "Policy");
    if (type == NULL) PyErr_SetString(PyExc_NameError, "policy.py has no class Policy");
    if (type != NULL) policy = PyObject_CallOneArg(type, args);
  }
  Py_XDECREF(args);
  Py_XDECREF(done);
  Py_XDECREF(code);
  Py_XDECREF(names);
  return policy;
}

static void Destroy(berth_plugin* abi) {
  Instance* plugin = abi->self;
  const PyGILState_STATE lock = PyGILState_Ensure();
  Py_XDECREF(plugin->filter);
  Py_XDECREF(plugin->score);
  Py_XDECREF(plugin->node_type);
  Py_XDECREF(plugin->pod_type);
  PyGC_Collect(); /* The functions of policy.py and their names refer to each other. */
  PyGILState_Release(lock);
  free(plugin);
}

/* Sets the members of the instance that belong to Python. Returns 1, or 0 with an exception. */
static int FillInstance(Instance* plugin, const berth_values* values, const berth_value* args) {
  PyObject* policy = MakePolicy(values, args);
  if (policy == NULL) return 0;
  plugin->filter = PyObject_GetAttrString(policy, "filter");
  plugin->score = PyObject_GetAttrString(policy, "score");
  Py_DECREF(policy);
  plugin->node_type = PyStructSequence_NewType(&node_desc);
  plugin->pod_type = PyStructSequence_NewType(&pod_desc);
  return plugin->filter && plugin->score && plugin->node_type && plugin->pod_type;
}

static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  const void* values = NULL;
  Instance* plugin = NULL;
  PyGILState_STATE lock;
  int good = 0;
  if (host->get_service(host, BERTH_SERVICE_VALUES, &values) != BERTH_SUCCESS) return BERTH_ERROR;
  if (!StartPython(status)) return BERTH_ERROR;
  plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) return BERTH_ERROR;
  lock = PyGILState_Ensure();
  good = FillInstance(plugin, values, request->args);
  if (!good) AddException(status);
  PyGILState_Release(lock);
  plugin->abi.struct_size = sizeof plugin->abi;
  plugin->abi.self = plugin;
  plugin->abi.columns = BERTH_ARRAY_OF(kColumnRequests);
  plugin->abi.reasons = BERTH_ARRAY_OF(kReasons);
  plugin->abi.get_point = berth_get_point;
  plugin->abi.destroy = Destroy;
  if (!good) {
    Destroy(&plugin->abi);
    return BERTH_ERROR;
  }
  *out = &plugin->abi;
  return BERTH_SUCCESS;
}

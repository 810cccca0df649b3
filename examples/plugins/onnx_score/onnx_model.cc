#include "onnx_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <berth/plugin.h>

// ---- The C API of ONNX Runtime -----------------------------------------------------------------
//
// The packages for Python and Java have the library without its header. This file declares the part
// of onnxruntime_c_api.h that it calls; use the header if you have it. OrtApi is a table that only
// grows at its end: the places of its functions stay the same in later versions.

struct OrtEnv;
struct OrtMemoryInfo;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtValue;

struct OrtApi {
  using Other = void (*)();

  Other others_0[2];
  const char* (*GetErrorMessage)(const OrtStatus* status);
  OrtStatus* (*CreateEnv)(int log_level, const char* log_id, OrtEnv** out);
  Other others_4[3];
  OrtStatus* (*CreateSession)(const OrtEnv* env, const char* path, const OrtSessionOptions* options,
                              OrtSession** out);
  Other others_8[1];
  OrtStatus* (*Run)(OrtSession* session, const OrtRunOptions* options, const char* const* inputs,
                    const OrtValue* const* input, std::size_t input_count,
                    const char* const* outputs, std::size_t output_count, OrtValue** output);
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions** out);
  Other others_11[6];
  OrtStatus* (*DisableMemPattern)(OrtSessionOptions* options);
  Other others_18[1];
  OrtStatus* (*DisableCpuMemArena)(OrtSessionOptions* options);
  Other others_20[4];
  OrtStatus* (*SetIntraOpNumThreads)(OrtSessionOptions* options, int threads);
  Other others_25[24];
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* memory, void* data,
                                               std::size_t bytes, const int64_t* shape,
                                               std::size_t dimensions, int type, OrtValue** out);
  Other others_50[19];
  OrtStatus* (*CreateCpuMemoryInfo)(int allocator, int memory_type, OrtMemoryInfo** out);
  Other others_70[22];
  void (*ReleaseEnv)(OrtEnv* env);
  void (*ReleaseStatus)(OrtStatus* status);
  void (*ReleaseMemoryInfo)(OrtMemoryInfo* memory);
  void (*ReleaseSession)(OrtSession* session);
  void (*ReleaseValue)(OrtValue* value);
  Other others_97[3];
  void (*ReleaseSessionOptions)(OrtSessionOptions* options);
};
static_assert(offsetof(OrtApi, SetIntraOpNumThreads) == 24 * sizeof(void*));
static_assert(offsetof(OrtApi, CreateCpuMemoryInfo) == 69 * sizeof(void*));
static_assert(offsetof(OrtApi, ReleaseSessionOptions) == 100 * sizeof(void*));

struct OrtApiBase {
  const OrtApi* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};
extern "C" const OrtApiBase* OrtGetApiBase();

namespace {

constexpr uint32_t kApiVersion = 1;  // The first version that has these functions.
constexpr int kLogWarnings = 2;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;
constexpr int kFloat = 1;

const OrtApi& Api() {
  const OrtApi* const api = OrtGetApiBase()->GetApi(kApiVersion);
  if (api == nullptr) throw berth::Error("this ONNX Runtime does not have the first C API");
  return *api;
}

// Throws the error of a call that failed.
void Check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string text = Api().GetErrorMessage(status);
  Api().ReleaseStatus(status);
  throw berth::Error("ONNX Runtime: " + text);
}

template <class T, void (*OrtApi::*kRelease)(T*)>
struct Release {
  void operator()(T* object) const { (Api().*kRelease)(object); }
};
template <class T, void (*OrtApi::*kRelease)(T*)>
using Owned = std::unique_ptr<T, Release<T, kRelease>>;
using Env = Owned<OrtEnv, &OrtApi::ReleaseEnv>;
using MemoryInfo = Owned<OrtMemoryInfo, &OrtApi::ReleaseMemoryInfo>;
using Session = Owned<OrtSession, &OrtApi::ReleaseSession>;
using SessionOptions = Owned<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>;
using Value = Owned<OrtValue, &OrtApi::ReleaseValue>;

// Returns the object that `create` makes, which takes the address of a pointer to it last.
template <class Result, class Create, class... Args>
Result Make(Create create, Args... args) {
  typename Result::pointer made = nullptr;
  Check(create(args..., &made));
  return Result(made);
}

Session MakeSession(const OrtEnv* env, const std::string& path) {
  const SessionOptions options = Make<SessionOptions>(Api().CreateSessionOptions);
  // One thread, that of the caller: the host already calls Score for several blocks at a time.
  Check(Api().SetIntraOpNumThreads(options.get(), 1));
  // The arena keeps the memory of the largest run, and patterns that of every number of rows.
  Check(Api().DisableCpuMemArena(options.get()));
  Check(Api().DisableMemPattern(options.get()));
  return Make<Session>(Api().CreateSession, env, path.c_str(), options.get());
}

}  // namespace

// All instances of the process share one OrtEnv, which counts its owners.
struct OnnxModel::Parts {
  explicit Parts(const std::string& path)
      : env(Make<Env>(Api().CreateEnv, kLogWarnings, "onnx_score")),
        memory(Make<MemoryInfo>(Api().CreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory)),
        session(MakeSession(env.get(), path)) {}

  // Returns a tensor of the shape [rows, columns] over the numbers, which are not copied.
  Value Tensor(std::span<float> numbers, std::size_t columns) const {
    const std::array<int64_t, 2> shape{static_cast<int64_t>(numbers.size() / columns),
                                       static_cast<int64_t>(columns)};
    return Make<Value>(Api().CreateTensorWithDataAsOrtValue, memory.get(), numbers.data(),
                       numbers.size_bytes(), shape.data(), shape.size(), kFloat);
  }

  Env env;
  MemoryInfo memory;
  Session session;
};

OnnxModel::OnnxModel(const std::string& path, std::size_t columns)
    : columns_(columns), parts_(std::make_unique<const Parts>(path)) {
  // A model with other names, types or shapes fails here, rather than at the first pod. There are
  // two rows, because a model for a single node accepts one.
  std::vector<float> features(2 * columns);
  std::array<float, 2> scores{};
  Rate(features, scores);
}

OnnxModel::~OnnxModel() = default;

void OnnxModel::Rate(std::span<float> features, std::span<float> scores) const {
  const Value input = parts_->Tensor(features, columns_);
  const Value output = parts_->Tensor(scores, 1);
  constexpr const char* kInput = "features";
  constexpr const char* kOutput = "scores";
  const OrtValue* const inputs = input.get();
  OrtValue* outputs = output.get();
  Check(Api().Run(parts_->session.get(), nullptr, &kInput, &inputs, 1, &kOutput, 1, &outputs));
}

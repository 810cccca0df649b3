// A model in the format ONNX that rates rows of numbers, run by ONNX Runtime.
#ifndef BERTH_EXAMPLES_PLUGINS_ONNX_SCORE_ONNX_MODEL_H_
#define BERTH_EXAMPLES_PLUGINS_ONNX_SCORE_ONNX_MODEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

class OnnxModel {
 public:
  // Loads a model with the input `features`, floats of the shape [any number, columns], and the
  // output `scores`, floats of the shape [the same number, 1].
  // Errors: throws a berth::Error if the file is no such model.
  OnnxModel(const std::string& path, std::size_t columns);
  ~OnnxModel();

  // Writes the score of every row of `features` to `scores`, in one run of the model.
  // Threading: any, several at the same time.
  // Errors: throws a berth::Error if the model fails.
  // REQUIRES: features.size() is scores.size() * columns.
  void Rate(std::span<float> features, std::span<float> scores) const;

 private:
  struct Parts;

  std::size_t columns_;
  std::unique_ptr<const Parts> parts_;
};

#endif  // BERTH_EXAMPLES_PLUGINS_ONNX_SCORE_ONNX_MODEL_H_

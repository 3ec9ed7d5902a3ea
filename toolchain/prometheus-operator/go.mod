// Only files (the custom resource definitions) are taken from this module: nothing is built, so "go mod tidy" would drop it.
module gpu-inference/toolchain/prometheus-operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0

// Only files (the custom resource definitions) are taken from this module: nothing is built, so "go mod tidy" would drop it.
module gpu-inference/toolchain/keda

go 1.26.0

require github.com/kedacore/keda/v2 v2.20.2

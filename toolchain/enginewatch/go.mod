module gpu-inference/toolchain/enginewatch

go 1.26.0

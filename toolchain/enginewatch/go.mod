// The name has a dot because `go mod verify` takes a path without one for a malformed module.
module gpu-inference.internal/enginewatch

go 1.26.0

// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider, built from its Go module.
//
// The module's own main package embeds files that only its release process generates. The schema and the
// mapping that the module does carry serve the same end: toolchain/build.py has the compiler find them beside this file.
package main

import (
	_ "embed"
	"os"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"

	"gpu-inference.internal/enginewatch"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	// Left to itself, the provider notices a killed engine minutes later, and goes on waiting for resources until then.
	enginewatch.OnExit(func() { os.Exit(1) })
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}

// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider, built from its Go module.
//
// The module's own main package embeds files that only its release process generates. The schema and the
// mapping that the module does carry serve the same end: toolchain/build.py copies them beside this file.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}

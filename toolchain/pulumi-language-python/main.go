// Command pulumi-language-python runs Python programs and policy packs for the Pulumi engine.
//
// It serves pulumirpc.LanguageRuntime on a loopback port that it prints, and stands in for the official language host,
// which no Go module carries. It covers what this project needs: running programs, policy packs and plugins.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"gpu-inference.internal/enginewatch"
)

// version is the SDK version whose protocol this host speaks; the build sets it.
var version = "0.0.0"

func main() {
	if err := serve(); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-python: %v\n", err)
		os.Exit(1)
	}
}

func serve() error {
	engineAddress, err := parseArguments()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	host := &languageHost{
		executor:      filepath.Join(filepath.Dir(executable), "pulumi-language-python-exec"),
		engineAddress: engineAddress,
	}

	enginewatch.OnExit(func() {
		host.children.endAll()
		os.Exit(1)
	})
	// The engine starts its plugins in process groups of their own, so a Ctrl-C in a terminal doesn't come here: this is
	// the engine's own request to end, and it waits five seconds for that.
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM)

	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port)

	select {
	case <-asked:
		host.children.endAll()
		return nil
	case err := <-handle.Done:
		return err
	}
}

// parseArguments returns the engine's address. The engine also passes logging and tracing flags, which this host has no
// use for.
func parseArguments() (string, error) {
	flags := flag.NewFlagSet("pulumi-language-python", flag.ContinueOnError)
	flags.Bool("logtostderr", false, "accepted and ignored")
	flags.Int("v", 0, "accepted and ignored")
	flags.String("tracing", "", "accepted and ignored")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return "", err
	}
	if flags.NArg() != 1 {
		return "", errors.New("usage: pulumi-language-python ENGINE_ADDRESS (the Pulumi engine starts this program)")
	}
	return flags.Arg(0), nil
}

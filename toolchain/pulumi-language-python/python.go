package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// python is the interpreter of a program or a plugin.
type python struct {
	path       string
	virtualenv string // "" without one
}

// findPython follows the runtime option virtualenv, whose path is relative to the folder of the Pulumi.yaml,
// PulumiPolicy.yaml or PulumiPlugin.yaml that sets it. Without the option it is the python3 on PATH.
func findPython(info *pulumirpc.ProgramInfo) (python, error) {
	options := info.GetOptions().GetFields()
	for name, value := range options {
		pip := name == "toolchain" && value.GetStringValue() == "pip"
		if name != "virtualenv" && !pip {
			return python{}, status.Errorf(codes.InvalidArgument,
				"this Python language host doesn't know the runtime option %s: %v; it knows virtualenv, and toolchain: pip",
				name, value.AsInterface())
		}
	}
	virtualenv := options["virtualenv"].GetStringValue()
	if virtualenv == "" {
		path, err := exec.LookPath("python3")
		if err != nil {
			return python{}, status.Error(codes.FailedPrecondition,
				"python3 is not on PATH; install Python 3.11 or later, or set the runtime option virtualenv")
		}
		return python{path: path}, nil
	}
	if !filepath.IsAbs(virtualenv) {
		virtualenv = filepath.Join(info.GetRootDirectory(), virtualenv)
	}
	path := filepath.Join(virtualenv, "bin", "python")
	if _, err := os.Stat(path); err != nil {
		return python{}, status.Errorf(codes.FailedPrecondition,
			"the virtual environment %s that the runtime option virtualenv names has no bin/python; run `make setup`", virtualenv)
	}
	return python{path: path, virtualenv: virtualenv}, nil
}

// environment is base with what the interpreter needs: output that isn't held back, and, as after activation, its
// virtual environment's programs first on PATH.
func (python python) environment(base []string) []string {
	environment := append(slices.Clone(base), "PYTHONUNBUFFERED=1")
	if python.virtualenv == "" {
		return environment
	}
	path := filepath.Join(python.virtualenv, "bin") + string(os.PathListSeparator) + lookup(base, "PATH")
	environment = slices.DeleteFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, "PYTHONHOME=") })
	return append(environment, "VIRTUAL_ENV="+python.virtualenv, "PATH="+path)
}

func lookup(environment []string, name string) string {
	for _, entry := range slices.Backward(environment) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// command is the interpreter with arguments, in a folder, with an environment made from base.
func (python python) command(folder string, base []string, arguments ...string) *exec.Cmd {
	command := exec.Command(python.path, arguments...)
	command.Dir = folder
	command.Env = python.environment(base)
	return command
}

// describeExit says how a program ended, other than well.
func describeExit(state *os.ProcessState) string {
	if code := state.ExitCode(); code >= 0 {
		return fmt.Sprintf("program exited with code %d", code)
	}
	return fmt.Sprintf("program was ended (%s)", state)
}

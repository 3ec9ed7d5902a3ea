package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// languageHost answers the engine. The calls that start a program or a plugin have files of their own.
type languageHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	executor      string // the SDK's script that runs a program
	engineAddress string
	children      children
}

func (host *languageHost) Handshake(
	_ context.Context, _ *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (host *languageHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

// GetRequiredPackages names none: the engine would only use it to download plugins ahead of the run, and each resource
// says its plugin's version itself.
func (host *languageHost) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// GetRequiredPlugins is the older form of GetRequiredPackages.
func (host *languageHost) GetRequiredPlugins(
	context.Context, *pulumirpc.GetRequiredPluginsRequest,
) (*pulumirpc.GetRequiredPluginsResponse, error) {
	return &pulumirpc.GetRequiredPluginsResponse{}, nil
}

func (host *languageHost) About(
	ctx context.Context, request *pulumirpc.AboutRequest,
) (*pulumirpc.AboutResponse, error) {
	python, err := findPython(request.GetInfo())
	if err != nil {
		return nil, err
	}
	answer, err := exec.CommandContext(ctx, python.path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", python.path, err)
	}
	return &pulumirpc.AboutResponse{
		Executable: python.path,
		Version:    strings.TrimPrefix(strings.TrimSpace(string(answer)), "Python "),
	}, nil
}

//go:embed dependencies.py
var dependenciesScript string

func (host *languageHost) GetProgramDependencies(
	ctx context.Context, request *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	python, err := findPython(request.GetInfo())
	if err != nil {
		return nil, err
	}
	arguments := []string{"-c", dependenciesScript}
	if request.GetTransitiveDependencies() {
		arguments = append(arguments, "--transitive")
	}
	answer, err := exec.CommandContext(ctx, python.path, arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", python.path, err)
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	if err := json.Unmarshal(answer, &response.Dependencies); err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", python.path, err)
	}
	return response, nil
}

// InstallDependencies leaves installing to the project, and says so. It fails where the Pulumi SDK isn't there, since
// then nothing would run.
func (host *languageHost) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest, stream pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	python, err := findPython(request.GetInfo())
	if err == nil {
		err = exec.CommandContext(stream.Context(), python.path, "-c", "import pulumi").Run()
	}
	if err != nil {
		return status.Error(codes.FailedPrecondition,
			"this Python language host installs no packages, and the Pulumi SDK is not there yet; run `make setup`")
	}
	return stream.Send(&pulumirpc.InstallDependenciesResponse{
		Stdout: []byte("This Python language host installs no packages; to renew them, run `make setup`.\n"),
	})
}

// Cancel ends everything that was started; the calls that wait for it then return.
func (host *languageHost) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	host.children.endAll()
	return &emptypb.Empty{}, nil
}

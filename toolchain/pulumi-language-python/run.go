package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// exitCodeShown is the executor script's way to say that it has shown the error to the user already.
const exitCodeShown = 32

// Run executes a program and returns when it has ended and all that it printed is with the engine.
func (host *languageHost) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	python, err := findPython(request.GetInfo())
	if err != nil {
		return &pulumirpc.RunResponse{Error: status.Convert(err).Message()}, nil
	}
	environment, err := configEnvironment(request)
	if err != nil {
		return nil, err
	}
	log, err := newEngineLog(ctx, host.engineAddress)
	if err != nil {
		return nil, err
	}
	defer log.close()

	command := python.command(request.GetPwd(), append(os.Environ(), environment...), host.executorArguments(request)...)
	// One pipe for both, so that the engine sees them in the order in which the program wrote them.
	command.Stdout, command.Stderr = log, log
	if err := host.children.run(ctx, command); err != nil {
		return nil, status.Errorf(codes.Internal, "could not run %s: %v", python.path, err)
	}
	log.flush()

	switch code := command.ProcessState.ExitCode(); {
	case code == 0:
		return &pulumirpc.RunResponse{}, nil
	case code == exitCodeShown, host.children.isEnding():
		return &pulumirpc.RunResponse{Bail: true}, nil
	default:
		return &pulumirpc.RunResponse{Error: describeExit(command.ProcessState)}, nil
	}
}

func (host *languageHost) executorArguments(request *pulumirpc.RunRequest) []string {
	arguments := []string{
		host.executor,
		"--project", request.GetProject(),
		"--stack", request.GetStack(),
		"--organization", request.GetOrganization(),
		"--root_directory", request.GetInfo().GetRootDirectory(),
		"--pwd", request.GetPwd(),
		"--monitor", request.GetMonitorAddress(),
		"--engine", host.engineAddress,
		"--dry_run", strconv.FormatBool(request.GetDryRun()),
		"--parallel", strconv.Itoa(int(request.GetParallel())),
		request.GetInfo().GetEntryPoint(),
	}
	return append(arguments, request.GetArgs()...)
}

// configEnvironment hands the stack's configuration to the SDK. Secrets are in it decrypted, and named as such.
func configEnvironment(request *pulumirpc.RunRequest) ([]string, error) {
	// Never nil, which would be the JSON null: the SDK expects an object and a list.
	config := map[string]string{}
	maps.Copy(config, request.GetConfig())
	secretKeys := append([]string{}, request.GetConfigSecretKeys()...)

	configJSON, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	secretKeysJSON, err := json.Marshal(secretKeys)
	if err != nil {
		return nil, err
	}
	return []string{"PULUMI_CONFIG=" + string(configJSON), "PULUMI_CONFIG_SECRET_KEYS=" + string(secretKeysJSON)}, nil
}

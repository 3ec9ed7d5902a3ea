package main

import (
	"context"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// RunPlugin runs a policy pack (kind "analyzer") or a plugin that is a Python program, and streams its output, whose
// first line is its port. It goes on until the plugin ends or the engine cancels the call.
func (host *languageHost) RunPlugin(
	request *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	python, err := findPython(request.GetInfo())
	if err != nil {
		return err
	}
	command := python.command(request.GetPwd(), request.GetEnv(), pluginArguments(request)...)
	output := &pluginOutput{stream: stream}
	command.Stdout = writerFunc(func(data []byte) error {
		return output.send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: data}})
	})
	command.Stderr = writerFunc(func(data []byte) error {
		return output.send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: data}})
	})
	if err := host.children.run(stream.Context(), command); err != nil {
		return status.Errorf(codes.Internal, "could not run %s: %v", python.path, err)
	}
	if stream.Context().Err() != nil {
		return context.Cause(stream.Context())
	}
	code := int32(command.ProcessState.ExitCode())
	return output.send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: code}})
}

func pluginArguments(request *pulumirpc.RunPluginRequest) []string {
	folder := request.GetInfo().GetProgramDirectory()
	if request.GetKind() == "analyzer" {
		return append(append([]string{"-m", "pulumi.policy"}, request.GetArgs()...), folder)
	}
	return append([]string{folder}, request.GetArgs()...)
}

// pluginOutput lets the two streams of a plugin share one call, on which only one message may be sent at a time.
type pluginOutput struct {
	mutex  sync.Mutex
	stream pulumirpc.LanguageRuntime_RunPluginServer
}

func (output *pluginOutput) send(response *pulumirpc.RunPluginResponse) error {
	output.mutex.Lock()
	defer output.mutex.Unlock()
	return output.stream.Send(response)
}

type writerFunc func(data []byte) error

func (write writerFunc) Write(data []byte) (int, error) {
	if err := write(data); err != nil {
		return 0, err
	}
	return len(data), nil
}

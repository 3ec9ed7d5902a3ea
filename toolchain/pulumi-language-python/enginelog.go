package main

import (
	"bytes"
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// engineLog is a writer that shows a program's output through the engine.
//
// The engine also shows what a language host prints, but when it has read the pipe: lines can come after the run's end.
// A call to the engine returns when it has the line.
type engineLog struct {
	ctx        context.Context
	connection *grpc.ClientConn
	engine     pulumirpc.EngineClient
	partial    []byte // the beginning of a line whose end has not been written yet
}

func newEngineLog(ctx context.Context, address string) (*engineLog, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &engineLog{ctx: ctx, connection: connection, engine: pulumirpc.NewEngineClient(connection)}, nil
}

// Write passes on every line that is complete. It never fails: a program must not stop because its output can't be
// shown, as when the run is being cancelled.
func (log *engineLog) Write(data []byte) (int, error) {
	log.partial = append(log.partial, data...)
	if end := bytes.LastIndexByte(log.partial, '\n'); end >= 0 {
		log.send(log.partial[:end])
		log.partial = append([]byte(nil), log.partial[end+1:]...)
	}
	return len(data), nil
}

// flush passes on a last line that has no end.
func (log *engineLog) flush() {
	if len(log.partial) > 0 {
		log.send(log.partial)
		log.partial = nil
	}
}

func (log *engineLog) send(lines []byte) {
	_, _ = log.engine.Log(log.ctx, &pulumirpc.LogRequest{
		Severity: pulumirpc.LogSeverity_INFO,
		// Protobuf strings are UTF-8; a program may print anything.
		Message: string(bytes.ToValidUTF8(lines, []byte("\uFFFD"))),
	})
}

func (log *engineLog) close() {
	_ = log.connection.Close()
}

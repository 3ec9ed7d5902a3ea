package main

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// How long a child may take to end after a polite request. The engine gives this host five seconds in all.
	graceTime = 2 * time.Second
	// How long the output of an ended child is still read, where a process that it left behind holds the pipe open.
	drainTime = 2 * time.Second
)

// children are the processes that this host started. None of them outlives it, however it ends.
type children struct {
	mutex   sync.Mutex
	ending  bool
	running sync.WaitGroup
	cancels map[*exec.Cmd]context.CancelFunc
}

// errEnding is returned for a start after the host was asked to end.
var errEnding = errors.New("the language host is shutting down")

// run starts the command and waits for it. It ends the command when ctx is done or all children are to end.
//
// An exit code other than 0 is no error; command.ProcessState has it.
func (children *children) run(ctx context.Context, command *exec.Cmd) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !children.add(command, cancel) {
		return errEnding
	}
	defer children.remove(command)

	result := make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the thread ends that started the child, so this one must stay
		// for as long as the child. It ends with the goroutine, since it is never unlocked.
		runtime.LockOSThread()
		result <- startAndWait(ctx, command)
	}()
	return <-result
}

func startAndWait(ctx context.Context, command *exec.Cmd) error {
	// A group of its own, so that what the child starts is reached too.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.WaitDelay = drainTime
	if err := command.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-exited:
		case <-ctx.Done():
			signalGroup(command, syscall.SIGTERM)
			select {
			case <-exited:
			case <-time.After(graceTime):
			}
		}
		// Also after a good end: nothing that the program started stays.
		signalGroup(command, syscall.SIGKILL)
	}()
	err := command.Wait()
	close(exited)
	<-ended

	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

func signalGroup(command *exec.Cmd, signal syscall.Signal) {
	// It fails when the group is gone already, which is what is wanted.
	_ = syscall.Kill(-command.Process.Pid, signal)
}

func (children *children) add(command *exec.Cmd, cancel context.CancelFunc) bool {
	children.mutex.Lock()
	defer children.mutex.Unlock()
	if children.ending {
		return false
	}
	if children.cancels == nil {
		children.cancels = map[*exec.Cmd]context.CancelFunc{}
	}
	children.cancels[command] = cancel
	children.running.Add(1)
	return true
}

func (children *children) remove(command *exec.Cmd) {
	children.mutex.Lock()
	defer children.mutex.Unlock()
	delete(children.cancels, command)
	children.running.Done()
}

// endAll ends every child, politely first, and returns when all have ended. No further one starts.
func (children *children) endAll() {
	children.mutex.Lock()
	children.ending = true
	for _, cancel := range children.cancels {
		cancel()
	}
	children.mutex.Unlock()
	children.running.Wait()
}

func (children *children) isEnding() bool {
	children.mutex.Lock()
	defer children.mutex.Unlock()
	return children.ending
}

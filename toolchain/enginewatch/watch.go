// Package enginewatch ends a plugin whose engine is gone.
//
// The engine ends its plugins itself, but not when it is killed. The plugins' own health check then takes up to five
// minutes, in which a provider can go on changing the cluster while the next run has begun.
package enginewatch

import (
	"os"
	"time"
)

const interval = 250 * time.Millisecond

// OnExit calls gone, once, when the process that started this one has ended: the kernel then gives it another parent.
//
// A parent-death signal would come at once but is tied to the parent's thread, and a Go parent's threads come and go.
func OnExit(gone func()) {
	engine := os.Getppid()
	go func() {
		for os.Getppid() == engine {
			time.Sleep(interval)
		}
		gone()
	}()
}

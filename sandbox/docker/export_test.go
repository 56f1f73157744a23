package docker

import "time"

// AwaitSpares returns when nothing is being started ahead any more.
func (b *Backend) AwaitSpares() { b.pool.work.Wait() }

// SetAckPatience replaces how long a container may take nothing.
func (b *Backend) SetAckPatience(patience time.Duration) { b.ackPatience = patience }

// Session is the label of this backend's containers.
func (b *Backend) Session() string { return labelSession + "=" + b.owner.session }

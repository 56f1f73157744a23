package docker

// AwaitSpares returns when nothing is being started ahead any more.
func (b *Backend) AwaitSpares() { b.pool.work.Wait() }

// Session is the label of this backend's containers.
func (b *Backend) Session() string { return labelSession + "=" + b.owner.session }

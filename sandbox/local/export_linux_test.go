//go:build amd64 || arm64

package local

// AwaitSpare returns when no spare enclosure is being made.
func (b *Backend) AwaitSpare() { b.spares.making.Wait() }

// DropSpare makes the next run start without a spare enclosure.
func (b *Backend) DropSpare() {
	b.AwaitSpare()
	b.spares.mu.Lock()
	ready := b.spares.ready
	b.spares.mu.Unlock()
	b.spares.drop(ready)
}

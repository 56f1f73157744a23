package tempdir

// Reaped returns when what [New] removes in the background is removed. What
// it still looks at is locked, and left alone by others.
func (d *Dir) Reaped() { d.reaping.Wait() }

package host

// WarmPID returns the process id of the supervisor that waits for the next run,
// which has been started then, or 0.
func (b *Backend) WarmPID() int {
	w := &b.starter.warm
	w.mu.Lock()
	next := w.next
	w.mu.Unlock()
	if next == nil {
		return 0
	}
	<-next.done
	return next.made.PID()
}

// Expire has what waits for the next run have waited long enough.
func (b *Backend) Expire() {
	w := &b.starter.warm
	w.expire(w.next)
	w.work.Wait()
}

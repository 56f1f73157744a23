package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressAfter is how long something takes of which nothing is said.
const progressAfter = time.Second

// Progress says what is being done, in the last line of a terminal, where it takes
// longer than a second. Done removes that and has to be called before anything else
// is shown. Where out is no terminal nothing is said.
func Progress(out io.Writer, what string) (done func()) {
	if !Is(out) {
		return func() {}
	}
	ended := make(chan struct{})
	var saying sync.WaitGroup
	saying.Go(func() { say(out, Shorten(what, 60), ended) })
	return sync.OnceFunc(func() {
		close(ended)
		saying.Wait()
	})
}

// say says each second for how long something has been done, until it has ended.
func say(out io.Writer, what string, ended <-chan struct{}) {
	began, second := time.Now(), time.NewTicker(progressAfter)
	defer second.Stop()
	end := ""
	for {
		select {
		case <-ended:
			_, _ = io.WriteString(out, end)
			return
		case <-second.C:
			_, _ = fmt.Fprintf(out, "\r\x1b[K… %s, %v", what, time.Since(began).Round(time.Second))
			end = "\r\x1b[K"
		}
	}
}

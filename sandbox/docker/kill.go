package docker

import (
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// These bound how long a container may take from the order to kill its program.
// Programs can keep its entry program from running, or have their output come
// on and on, so their end counts; after it the entry program looks at all files
// before it sends them.
const (
	killTimeout    = 10 * time.Second // to the end of the program's output
	silenceTimeout = 30 * time.Second // after that, without a word
	returnTimeout  = 15 * time.Minute // all in all
)

// Kill implements [process.Tree].
func (x *execution) Kill() { x.kill() }

// writeKill has the entry program kill its program, once that is asked for.
// What goes wrong shows in that nothing comes.
func (x *execution) writeKill() {
	select {
	case <-x.copied:
	case <-x.killed:
		if x.canReturn() { // else there would be something before it
			x.container.streams.Conn.Write([]byte{protocol.Kill})
		}
	}
}

// canReturn reports whether there are files that a container can send back.
func (x *execution) canReturn() bool { return x.files != nil && x.reply.acked.Load() }

// killInside waits for the entry program to kill the program and to send back
// its files, and reports whether it did.
func (x *execution) killInside() bool {
	if !x.canReturn() { // nothing would be lost
		return false
	}
	select {
	case <-x.copied:
		return true
	case <-x.reply.ended:
	case <-time.After(killTimeout):
		return false
	}
	return await(x.copied, &x.reply.said, silenceTimeout, time.After(returnTimeout))
}

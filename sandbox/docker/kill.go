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
	killPatience    = 10 * time.Second // to the end of the program's output
	silencePatience = 30 * time.Second // after that, without a word
	returnPatience  = 15 * time.Minute // all in all
)

// Kill implements [process.Tree].
func (t *tree) Kill() { t.killOnce.Do(func() { close(t.toKill) }) }

// writeKill tells the entry program to kill its program, once that is asked for.
// What goes wrong shows in that nothing comes.
func (t *tree) writeKill() {
	select {
	case <-t.copied:
	case <-t.toKill:
		if t.canReturn() { // else there would be something before it
			t.container.streams.Conn.Write([]byte{protocol.Kill})
		}
	}
}

// canReturn tells whether there are files that a container can send back.
func (t *tree) canReturn() bool { return t.files != nil && t.reply.hasAcked() }

// killInside waits for the entry program to kill the program and to send back
// its files, and tells whether it did.
func (t *tree) killInside() bool {
	if !t.canReturn() { // nothing would be lost
		return false
	}
	select {
	case <-t.copied:
		return true
	case <-t.reply.ended:
	case <-time.After(killPatience):
		return false
	}
	giveUp := time.Now().Add(returnPatience)
	for said := t.reply.said.Load(); ; {
		select {
		case <-t.copied:
			return true
		case <-time.After(silencePatience):
		}
		now := t.reply.said.Load()
		if now == said || time.Now().After(giveUp) {
			return false
		}
		said = now
	}
}

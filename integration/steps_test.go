//go:build unix

package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testprocess"
)

// step is a part of a client's day.
type step struct {
	name string
	take func(t *testing.T, v visit)
}

// steps are what every client has to get through, one after the other on one
// connection: what a host of it does in a day.
var steps = []step{
	{"connect", checkConnected},
	{"lists", onPeer(checkLists)},
	{"find", onPeer(checkFinding)},
	{"activate", onPeer(checkActivation)},
	{"read", onPeer(checkReading)},
	{"read an image", onPeer(checkImage)},
	{"execute", onPeer(checkExecution)},
	{"prompt", onPeer(checkPrompt)},
	{"complete", onPeer(checkCompletion)},
	{"errors", onPeer(checkErrors)},
	{"skills", checkSkills},
	{"subscribe", checkSubscription},
	{"progress", checkProgress},
	{"cancel", checkCancel},
	{"50 calls at once", checkManyCalls},
	{"after all that", onPeer(checkFinding)},
}

// visit is one client that is connected to a server of its own.
type visit struct {
	client
	*peer
	root string // of a skill of its own, tide, which may be changed and may run anything
}

func onPeer(check func(t *testing.T, p *peer)) func(t *testing.T, v visit) {
	return func(t *testing.T, v visit) {
		t.Helper()
		check(t, v.peer)
	}
}

// The clients that hosts are built on get through everything that the server
// has, on every transport and in every era of the protocol that they know.
func TestClients(t *testing.T) {
	many := t.TempDir()
	for _, name := range crowd() {
		writeSkill(t, many, name, "One of many.")
	}
	forEachWay(t, clients(), func(t *testing.T, c client) {
		root := t.TempDir()
		writeSkill(t, root, "tide", "Low water at nine.")
		v := visit{c, connect(t, c, sampleRoot(t), many, root), root}
		for _, step := range steps {
			e := c.except(step.name)
			if e == nil {
				t.Run(step.name, func(t *testing.T) { step.take(t, v) })
				continue
			}
			var result any
			if e.lacks != "" && v.try(t, &result, e.lacks) == nil {
				t.Errorf("%s gives %v: there is no more reason for an exception: %s", e.lacks, result, e.reason)
			}
		}
	})
}

// An exception is about a step and a client that there are.
func TestExceptionsAreOfClients(t *testing.T) {
	t.Parallel()
	for _, e := range exceptions {
		named := slices.ContainsFunc(steps, func(s step) bool { return s.name == e.step })
		for _, library := range e.libraries {
			is := func(c client) bool { return c.library.name == library && e.ways(c.way) }
			if !named || !slices.ContainsFunc(clients(), is) {
				t.Errorf("no client %s takes a step %s", library, e.step)
			}
		}
	}
}

func checkConnected(t *testing.T, v visit) {
	if v.connected.Server.Name != "skills-mcp" || v.connected.Instructions == "" {
		t.Errorf("the server is %+v, its instructions %q", v.connected.Server, v.connected.Instructions)
	}
	if agreed := v.connected.Revision; agreed == modern != (v.revision == modern) {
		t.Errorf("%s is agreed upon", agreed)
	}
}

// checkSkills asks for the skills as the extension has them.
func checkSkills(t *testing.T, v visit) {
	var listing struct {
		Skills []manifest `json:"skills"`
	}
	v.call(t, &listing, "skills.list")
	var listed []string
	for _, skill := range listing.Skills {
		listed = append(listed, skill.name())
	}
	for _, want := range append(sampleNames(t), crowd()...) {
		if !slices.Contains(listed, want) {
			t.Errorf("skills/list has %d skills, without %s", len(listed), want)
		}
	}
}

// checkSubscription changes a file that the client watches, and lets it stop
// watching.
func checkSubscription(t *testing.T, v visit) {
	const uri = "skill://tide/SKILL.md"
	var result any
	v.call(t, &result, "watch", uri)
	change := func(water string) { writeSkill(t, v.root, "tide", "Low water at "+water+".") }
	change("ten")
	if v.translates() {
		// The bridge says that it watches some time before it does.
		again := 0
		program.Eventually(t, "the client is told of a change", func() bool {
			_, told := v.lines.within(time.Second, isNotification(resourceUpdated, uri))
			again++
			change(fmt.Sprint("ten, said ", again, " times"))
			return told
		})
	} else {
		v.notified(t, resourceUpdated, uri)
	}
	if text := v.resource(t, uri).Text; !strings.Contains(text, "Low water at ten") {
		t.Errorf("after the update, %s = %q", uri, text)
	}
	v.call(t, &result, "unwatch", uri)
}

// run asks for a run of a command that reports its progress.
func (v visit) run(t *testing.T, command string) (id int) {
	t.Helper()
	return v.send(t, request{Method: "callTool", Progress: true, Args: []any{map[string]any{
		"name": "exec", "arguments": map[string]any{"name": "tide", "command": command},
	}}})
}

// told returns what the client is told of a call's progress.
func (v visit) told(t *testing.T, id int) string {
	t.Helper()
	return v.lines.take(t, "progress", func(l peerLine) bool { return l.Progress != nil && l.Progress.ID == id }).Progress.Message
}

// checkProgress lets a program go on once it is known that it runs.
func checkProgress(t *testing.T, v visit) {
	signal := filepath.Join(v.root, "signal")
	id := v.run(t, "echo begun; until [ -e '"+signal+"' ]; do sleep 0.1; done; echo ended")
	if told := v.told(t, id); told != "begun" {
		t.Errorf("the client is told %q", told)
	}
	writeFile(t, signal, "")
	var result toolResult
	if err := v.answer(t, id, &result); err != nil || !strings.Contains(result.text(), "ended") {
		t.Errorf("the call is answered with %v %s", err, result.text())
	}
}

// checkCancel gives up a call whose program has said that it runs.
func checkCancel(t *testing.T, v visit) {
	id := v.run(t, "echo $$; exec sleep 600")
	told := v.told(t, id)
	pid, err := strconv.Atoi(told)
	if err != nil || !testprocess.Alive(pid) {
		t.Fatalf("the client is told %q, want the number of a process that runs", told)
	}
	var result any
	v.call(t, &result, "cancel", id)
	if err := v.answer(t, id, &result); err == nil {
		t.Errorf("the call that was given up is answered: %v", result)
	}
	program.Eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !testprocess.Alive(pid) })
}

// checkManyCalls waits for no answer before it makes the next call.
func checkManyCalls(t *testing.T, v visit) {
	ids := map[int]string{}
	for i := range 50 {
		mark := fmt.Sprintf("call number %d.", i)
		call := map[string]any{"name": "activate", "arguments": map[string]any{"name": triage, "arguments": mark}}
		if i%10 == 0 { // not more: what these return makes clients validate a large schema anew
			call = map[string]any{"name": "exec", "arguments": map[string]any{"name": "tide", "command": "echo '" + mark + "'"}}
		}
		ids[v.send(t, request{Method: "callTool", Args: []any{call}})] = mark
	}
	for id, mark := range ids {
		var result toolResult
		if err := v.answer(t, id, &result); err != nil || result.IsError || !strings.Contains(result.text(), mark) {
			t.Errorf("%s: %v %s", mark, err, result.text())
		}
	}
}

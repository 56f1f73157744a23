package consent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// client is one before 2026-07-28, whose user answers by a function.
type client func(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error)

func (c client) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return c(ctx, request)
}

// call calls a tool that asks these questions, and returns their errors' code.
func call(ctx context.Context, d *Door, c client, ask func(context.Context) error) (failure.Code, error) {
	library := mcpserver.NewMCPServer("test", "1")
	session := mcpserver.NewInProcessSessionWithHandlers("session", nil, c, nil)
	session.SetClientCapabilities(mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}})
	var err error
	library.AddTool(mcp.NewTool("do"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var result *mcp.CallToolResult
		result, err = d.Serve(ctx, Call{Tool: "do"}, func(ctx context.Context) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), ask(ctx)
		})
		return result, err
	})
	library.HandleMessage(library.WithContext(ctx, session), []byte(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "do"}}`))
	if err == nil {
		return "", nil
	}
	return failure.Of(err).Code, err
}

func newDoor() *Door {
	return New(Options{Modes: approval.Modes{Runs: approval.Ask}, Logger: slog.New(slog.DiscardHandler)})
}

func accepted(choice string) *mcp.ElicitationResult {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{answerField: choice},
	}}
}

// TestUnanswered: a call waits ten minutes for an answer, or until it is
// canceled, and leaves nothing behind.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	silent := client(func(ctx context.Context, _ mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for name, test := range map[string]struct {
		cancelAfter, want time.Duration
		code              failure.Code
	}{
		"nobody answers": {time.Hour, 10 * time.Minute, failure.ConsentExpired},
		"canceled":       {time.Minute, time.Minute, failure.ExecutionCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.cancelAfter)
				defer cancel()
				d, begun := newDoor(), time.Now()
				code, _ := call(ctx, d, silent, func(ctx context.Context) error {
					_, err := d.Ask(ctx, Question{Kind: approval.Run, Title: "Run it."})
					return err
				})
				if took := time.Since(begun); code != test.code || took != test.want {
					t.Errorf("after %v with %s, want after %v with %s", took, code, test.want, test.code)
				}
				if d.waiting.all != 0 || len(d.waiting.callers) != 0 {
					t.Errorf("%d are waited for in the end", d.waiting.all)
				}
			})
		})
	}
}

// TestSeveralQuestions: a call may ask more than one thing, and asks nothing
// twice.
func TestSeveralQuestions(t *testing.T) {
	t.Parallel()
	var asked []string
	user := client(func(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
		title, _, _ := strings.Cut(request.Params.Message, "\n")
		asked = append(asked, title)
		return accepted(choiceOnce), nil
	})
	d := newDoor()
	_, err := call(t.Context(), d, user, func(ctx context.Context) error {
		for _, title := range []string{"First.", "Second.", "First.", "Third."} {
			if _, err := d.Ask(ctx, Question{Kind: approval.Run, Title: title}); err != nil {
				return err
			}
		}
		return nil
	})
	if got := strings.Join(asked, " "); err != nil || got != "First. Second. Third." {
		t.Errorf("asked was %q, %v", got, err)
	}
}

// TestEndlessQuestions: a call that asks ever new questions ends.
func TestEndlessQuestions(t *testing.T) {
	t.Parallel()
	asked := 0
	user := client(func(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
		asked++
		return accepted(choiceOnce), nil
	})
	d := newDoor()
	code, _ := call(t.Context(), d, user, func(ctx context.Context) error {
		for title := "x"; ; title += "x" {
			if _, err := d.Ask(ctx, Question{Kind: approval.Run, Title: title}); err != nil {
				return err
			}
		}
	})
	if code != failure.ConsentBusy || asked != maxRounds {
		t.Errorf("after %d questions: %s", asked, code)
	}
}

// TestSessionAnswers: they are of one session and end with it, and a skill's are
// of one version.
func TestSessionAnswers(t *testing.T) {
	t.Parallel()
	asked := 0
	user := client(func(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
		asked++
		return accepted(choiceSession), nil
	})
	d := newDoor()
	for i, step := range []struct {
		q      Question
		forget bool
		asked  int
	}{
		{Question{Kind: approval.Run, Skill: "a", Dir: "/a", Digest: "1", Grant: "g"}, false, 1},
		{Question{Kind: approval.Run, Skill: "a", Dir: "/a", Digest: "1", Grant: "g", Detail: "other"}, false, 1},
		{Question{Kind: approval.Run, Skill: "a", Dir: "/a", Digest: "2", Grant: "g"}, false, 2},
		{Question{Kind: approval.Run, Skill: "a", Dir: "/a", Digest: "1", Grant: "h"}, false, 3},
		{Question{Kind: approval.Run, Skill: "b", Dir: "/a", Digest: "1", Grant: "g"}, false, 4},
		{Question{Kind: approval.Run, Skill: "a", Dir: "/b", Digest: "1", Grant: "g"}, false, 5},
		{Question{Kind: approval.Run, Skill: "a", Dir: "/a", Digest: "1", Grant: "g"}, true, 6},
	} {
		if step.forget {
			d.Forget("session")
		}
		_, err := call(t.Context(), d, user, func(ctx context.Context) error {
			_, err := d.Ask(ctx, step.q)
			return err
		})
		if err != nil || asked != step.asked {
			t.Errorf("step %d: asked %d times, want %d, %v", i, asked, step.asked, err)
		}
	}
	// Without a version, or without a grant, there is nothing to bind it to.
	for _, q := range []Question{{Kind: approval.Run, Skill: "a", Dir: "/a", Grant: "g"}, {Kind: approval.Run}} {
		code, _ := call(t.Context(), d, user, func(ctx context.Context) error {
			_, err := d.Ask(ctx, q)
			return err
		})
		if code != failure.ConsentUnclear {
			t.Errorf("%+v is allowed for the session: %q", q, code)
		}
	}
}

// TestBounds: what is outstanding and what waits is bounded, for each caller and
// for all.
func TestBounds(t *testing.T) {
	t.Parallel()
	var o outstanding
	s, now := newSealer(), time.Unix(1000, 0)
	for i := range maxOutstanding + 100 {
		o.issue(s.mark("caller", string(rune(i))), now, now.Add(lifetime))
	}
	if len(o.byNonce) != maxOutstanding || o.order.Len() != maxOutstanding || len(o.callers) != maxOutstanding {
		t.Errorf("%d questions of %d callers are kept", len(o.byNonce), len(o.callers))
	}
	o.issue(mark{}, now.Add(lifetime), now.Add(2*lifetime))
	if len(o.byNonce) != 1 || len(o.callers) != 1 {
		t.Errorf("%d questions of %d callers are left of those that are over", len(o.byNonce)-1, len(o.callers)-1)
	}
	var w waiting
	var leave []func()
	for i := range 2 * maxWaiting {
		if one, ok := w.enter(string(rune(i % 100))); ok {
			leave = append(leave, one)
		}
	}
	if len(leave) != maxWaiting {
		t.Errorf("%d wait", len(leave))
	}
	for _, one := range leave {
		one()
	}
	if w.all != 0 || len(w.callers) != 0 {
		t.Errorf("%d wait in the end", w.all)
	}
}

// FuzzState: no text but one that was sealed is a state.
func FuzzState(f *testing.F) {
	s := newSealer()
	sealed := s.seal(state{nonce: s.mark("nonce"), expires: 1000, caller: s.mark("caller"), granted: []mark{s.mark("one")}})
	f.Add("")
	f.Add(sealed[:len(sealed)-1])
	f.Add(newSealer().seal(state{}))
	f.Add(strings.Repeat("A", 160))
	f.Fuzz(func(t *testing.T, text string) {
		st, err := s.open(text)
		if err == nil && text != sealed {
			t.Errorf("%q is taken for %+v", text, st)
		}
		if err != nil && failure.Of(err).Code == failure.Internal {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestSealed(t *testing.T) {
	t.Parallel()
	s := newSealer()
	want := state{nonce: s.mark("a"), expires: 1000, caller: s.mark("b"), call: s.mark("c"), asked: s.mark("d"), granted: []mark{s.mark("e"), s.mark("f")}}
	got, err := s.open(s.seal(want))
	if err != nil || got.nonce != want.nonce || got.expires != want.expires || got.caller != want.caller || got.call != want.call ||
		got.asked != want.asked || len(got.granted) != 2 || got.granted[0] != want.granted[0] || got.granted[1] != want.granted[1] {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if s.mark("a", "bc") == s.mark("a", "b", "c") || s.mark("a", "b") == s.mark("ab") {
		t.Error("marks of different texts are equal")
	}
}

// FuzzMessage: whatever a question holds, its message is text that shows all
// there is to it, bounded, and no line of what it is about looks like one of
// ours.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "plain\ntext", "\r\n\x00\x1b[2J", "\u202e\u2066x\u200b", "\xff\xfe", strings.Repeat("x", 10_000), strings.Repeat("\n", 500), strings.Repeat("\u00e9 ", 5000)} {
		f.Add("Run it.", seed)
		f.Add(seed, "detail")
	}
	f.Fuzz(func(t *testing.T, title, detail string) {
		message := Question{Title: title, Detail: detail}.message()
		if !utf8.ValidString(message) {
			t.Errorf("no text: %q", message)
		}
		if len(message) > maxDetailBytes+4*maxTitleRunes+200 || strings.Count(message, "\n") > maxDetailLines+5 {
			t.Errorf("%d bytes in %d lines", len(message), strings.Count(message, "\n"))
		}
		for i, line := range strings.Split(message, "\n") {
			if i > 0 && line != "" && !strings.HasPrefix(line, "    ") {
				t.Errorf("line %d stands out: %q", i, line)
			}
			for _, c := range line {
				if unicode.IsControl(c) && c != '\t' || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
					t.Errorf("line %d hides %U: %q", i, c, line)
				}
			}
		}
	})
}

func TestDeclined(t *testing.T) {
	t.Parallel()
	user := client(func(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
		return accepted(choiceDecline), nil
	})
	d := newDoor()
	_, err := call(t.Context(), d, user, func(ctx context.Context) error {
		_, err := d.Ask(ctx, Question{Kind: approval.Run, Title: "Run it."})
		return err
	})
	var declined *Declined
	if !errors.As(err, &declined) || declined.ToolResult().IsError || declined.Answer.Outcome != Refused {
		t.Errorf("%v", err)
	}
}

// TestUnansweredMeanwhile: a program waits for an answer no longer than its run has
// for that, and the same is asked before it is run again, as long as the user does
// not leave that unanswered too often.
func TestUnansweredMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, answers := 0, false
		user := client(func(ctx context.Context, _ mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
			if asked++; answers {
				return accepted(choiceOnce), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		d := New(Options{Modes: approval.Modes{Network: approval.Ask}, Logger: slog.New(slog.DiscardHandler)})
		q := Question{Kind: approval.Network, Skill: "s", Dir: "/s", Digest: "sha256:0", Title: "Reach it.", Grant: "it"}
		run := func(want Outcome, wantAsked int) {
			t.Helper()
			_, err := call(t.Context(), d, user, func(ctx context.Context) error {
				if err := d.AskBefore(ctx, q, "program"); err != nil {
					return err
				}
				begun, limits := time.Now(), Run{Program: "program", Questions: 8, Wait: 30 * time.Second}
				if got := d.AskMeanwhile(ctx, q, &limits); got.Outcome != want || time.Since(begun) > 30*time.Second {
					t.Errorf("%+v after %v, want %s", got, time.Since(begun), want)
				}
				if got := d.AskMeanwhile(ctx, q, &limits); want == Unanswered && got.Outcome != "" {
					t.Errorf("asked again in the same run: %+v", got)
				}
				return nil
			})
			if err != nil || asked != wantAsked {
				t.Errorf("%v; asked %d times, want %d", err, asked, wantAsked)
			}
		}
		run(Unanswered, 1)
		answers = true
		run(Allowed, 2) // before it begins
		answers = false
		q.Skill, q.Dir = "another", "/another"
		run(Unanswered, 3)
		if d.waiting.all != 0 {
			t.Errorf("%d are waited for in the end", d.waiting.all)
		}
	})
}

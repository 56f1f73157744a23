package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/policy/grants"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/server"
)

// visit prints what URLs without TLS answer, with the secret in the request.
const visit = `#!/bin/bash
for url; do
	host=${url#http://} host=${host%%/*}
	exec 3<>/dev/tcp/127.0.0.1/3128 || exit 7
	printf 'GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nConnection: close\r\n\r\n' "$url" "$host" "$API_KEY" >&3
	cat <&3
	echo
done
`

// askingServer is a server that asks about hosts, at a URL, with the skills weather
// and other, and a proxy of its user that answers for every host.
type askingServer struct {
	*fixture
	url string

	mu      sync.Mutex
	visited []string // hosts, with the secrets that came along
}

func newAskingServer(t *testing.T, configured grants.Configured, options ...string) *askingServer {
	t.Helper()
	needBash(t)
	s := &askingServer{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.visited = append(s.visited, strings.TrimSpace(r.Host+" "+r.Header.Get("Authorization")))
		fmt.Fprintf(w, "page of %s", r.Host)
	}))
	t.Cleanup(web.Close)
	root := t.TempDir()
	for _, name := range []string{"weather", "other"} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Fetches.\n---\n"))
		writeFile(t, filepath.Join(root, name, "visit.bash"), []byte(visit))
		writeFile(t, filepath.Join(root, name, "again.bash"), []byte(visit))
		writeFile(t, filepath.Join(root, name, "pages.sh"), []byte("#!/bin/sh\ncurl http://pages.test-service.net/index\n"))
	}
	configured.Root, configured.Pin = root, grants.PinName
	s.fixture = newFixtureOf(t, root, func(opts *server.Options) {
		useLocal(t, opts, local.Full)
		grantTo(t, opts, func(skill string) (grants.Configured, error) {
			if skill != "weather" {
				return grants.Configured{}, nil
			}
			return configured, nil
		})
		opts.Grants.Resolver, opts.Grants.Environ = everywhere{}, []string{"HTTP_PROXY=" + web.URL}
		opts.Approval.Skills = map[string]approval.Modes{"other": {Network: approval.Deny}}
		if slices.Contains(options, "other") {
			opts.Approval.Skills = nil
		}
	}, append([]string{"approval.network=ask", "audit"}, options...)...)
	s.url = s.serveHTTP(t)
	return s
}

// visits returns what was visited since the last time.
func (s *askingServer) visits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	visited := s.visited
	s.visited = nil
	return visited
}

// visiting is a run that visits hosts.
func visiting(skill string, hosts ...string) map[string]any {
	urls := make([]string, len(hosts))
	for i, host := range hosts {
		urls[i] = "http://" + host + "/"
	}
	return map[string]any{"name": skill, "script": "visit.bash", "args": urls}
}

// visited is what exec says of a run that visits.
type visited struct {
	called
	granted
	Asked []struct{ Host, Answer, Scope, Notice string }
}

func readVisited(t *testing.T, c called) (v visited) {
	t.Helper()
	v.called = c
	if c.Structured != nil {
		must(t, json.Unmarshal(c.Structured, &v.granted))
		var asked struct {
			Asked []struct{ Host, Answer, Scope, Notice string }
		}
		must(t, json.Unmarshal(c.Structured, &asked))
		v.Asked = asked.Asked
	}
	return v
}

// asked lists what was asked, with the answers.
func (v visited) asked() string {
	var list []string
	for _, asked := range v.Asked {
		list = append(list, strings.TrimSpace(asked.Host+" "+asked.Answer+" "+asked.Scope))
	}
	return strings.Join(list, ", ")
}

// reason is why the last request for a host was refused, if it was.
func (v visited) reason(host string) string {
	for _, used := range v.Used.Hosts {
		if used.Host == host {
			return used.Reason
		}
	}
	return "not asked for"
}

// run runs something in a session whose user answers, and returns the questions.
func (s *askingServer) run(t *testing.T, session []string, arguments map[string]any, answer func(question string) any) (visited, []string) {
	t.Helper()
	call := startExec(t, s.url, session, arguments)
	var questions []string
	for {
		next := call.next(t)
		if next.Method == "" {
			var result called
			must(t, json.Unmarshal(next.Result, &result))
			return readVisited(t, result), questions
		}
		var params struct{ Message string }
		must(t, json.Unmarshal(next.Params, &params))
		questions = append(questions, params.Message)
		post(t, s.url+"/mcp", map[string]any{"jsonrpc": "2.0", "id": next.ID, "result": answer(params.Message)}, session...)
	}
}

// answering is a user who always answers one thing.
func answering(choice string) func(string) any {
	return func(string) any { return accepts(choice) }
}

// TestAskedDuringRun: before 2026-07-28 a program waits while its user is asked
// about a host, goes on with the answer, and the result and the log have it.
func TestAskedDuringRun(t *testing.T) {
	t.Parallel()
	s := newAskingServer(t, grants.Configured{})
	mine := askingSession(t, s.url)
	for i, test := range []struct {
		name, answer, host  string
		asks                bool
		asked, reason, says string
	}{
		{"once", once, "one.example.com", true, "http://one.example.com allowed once", "", "page of one.example.com"},
		{"once is not twice", decline, "one.example.com", true, "http://one.example.com declined", "denied", "the user was asked"},
		{"declined is not asked again", once, "one.example.com", false, "http://one.example.com declined", "denied", "the user was asked"},
		{"a session", session, "two.example.com", true, "http://two.example.com allowed session", "", "page of two.example.com"},
		{"the session again", decline, "two.example.com", false, "http://two.example.com allowed session", "", "page of two.example.com"},
		{"named by a file", once, "pages.test-service.net", true, "http://pages.test-service.net allowed once", "", "page of pages.test-service.net"},
		{"always", always, "three.example.com", true, "http://three.example.com allowed always", "", "page of three.example.com"},
	} {
		v, questions := s.run(t, mine, visiting("weather", test.host), answering(test.answer))
		if (len(questions) == 1) != test.asks || v.asked() != test.asked || v.reason(test.host) != test.reason || !strings.Contains(v.Stdout, test.says) {
			t.Errorf("%s: asked %q, told %q: %s", test.name, questions, v.asked(), v.text())
		}
		if reached := s.visits(); (len(reached) == 1) != (test.reason == "") {
			t.Errorf("%s: visited %q", test.name, reached)
		}
		if test.reason == "denied" && (!strings.Contains(v.Asked[0].Notice, "Do not try it again") || !strings.Contains(v.text(), v.Asked[0].Notice) || strings.Contains(v.Stdout, "skills-mcp grant")) {
			t.Errorf("%s: what to do next is not said: %s", test.name, v.text())
		}
		if i == 0 && !strings.HasPrefix(questions[0], "Reach http://one.example.com from a program of the skill weather.\n\nSkill: weather (version sha256:") ||
			i == 0 && !strings.Contains(questions[0], "\n    host: one.example.com\n    belongs to: example.com\n    port: 80, without TLS, so that") ||
			test.host == "pages.test-service.net" && !strings.Contains(questions[0], "\n    named by the skill: pages.sh, line 2\n") ||
			test.host == "two.example.com" && test.asks && !strings.Contains(questions[0], "\n    beware: no script of the skill names this host\n") {
			t.Errorf("the question is %s", questions[0])
		}
	}

	if v, questions := s.run(t, legacy(t, s.url), visiting("weather", "three.example.com"), answering(decline)); len(questions) > 0 || v.asked() != "http://three.example.com allowed always" {
		t.Errorf("another session, of a client that cannot ask: %q, %s", questions, v.text())
	}
	if v, questions := s.run(t, askingSession(t, s.url), visiting("weather", "two.example.com", "one.example.com"), answering(decline)); len(questions) != 2 {
		t.Errorf("another session goes by answers of the first: %q, %s", questions, v.text())
	}
	s.checkAskedRecords(t)
}

// checkAskedRecords checks what the audit log has of the first runs of
// TestAskedDuringRun.
func (s *askingServer) checkAskedRecords(t *testing.T) {
	t.Helper()
	var log []string
	for _, record := range s.recorded(t) {
		log = append(log, strings.TrimSpace(fmt.Sprint(record.Event, " ", record.Answer, " ", record.Outcome, " ", strings.Join(record.Asked, ", "))))
		if record.Event == "answer" && !strings.Contains(string(record.Input), `"question":"Reach http://`) {
			t.Errorf("the question is not recorded: %s", record.Input)
		}
	}
	want := []string{"answer once ok", "call  ok http://one.example.com once", "answer declined denied", "call  ok http://one.example.com declined"}
	if !slices.Equal(log[:min(len(log), len(want))], want) {
		t.Errorf("recorded is %q, want %q first", log, want)
	}
}

// TestAskedBeforeRun: from 2026-07-28 on nobody can be asked while a program waits.
// It is refused, and the same is asked about before it is run again, which the
// caller decides on: nothing runs twice by itself.
func TestAskedBeforeRun(t *testing.T) {
	t.Parallel()
	s := newAskingServer(t, grants.Configured{})
	alice, bob := []string{"Authorization", "alice"}, []string{"Authorization", "bob"}
	run := func(caller []string, response any, state string, hosts ...string) visited {
		return readVisited(t, callModern(t, s.url, "exec", visiting("weather", hosts...), response, state, caller...))
	}
	first := run(alice, nil, "", "one.example.com", "two.example.com")
	if first.asked() != "http://one.example.com later, http://two.example.com later" || first.reason("one.example.com") != "not_granted" ||
		!strings.Contains(first.Stdout, "skills-mcp grant weather --host http://one.example.com") || !strings.Contains(first.text(), "call exec for it again: the user is asked before it begins") {
		t.Fatalf("at first: %s", first.text())
	}
	if v := run(bob, nil, "", "two.example.com"); v.asked() != "http://two.example.com later" {
		t.Errorf("another caller: %s", v.text())
	}
	other := visiting("weather", "one.example.com")
	other["script"] = "again.bash"
	if v := readVisited(t, callModern(t, s.url, "exec", other, nil, "", alice...)); v.asked() != "http://one.example.com later" {
		t.Errorf("another program: %s", v.text())
	}

	again := run(alice, nil, "", "one.example.com", "two.example.com") // which may have other arguments
	if again.RequestState == "" || len(s.visits()) > 0 || !strings.HasPrefix(again.InputRequests["consent"].Params.Message, "Reach http://one.example.com from a program of the skill weather.") {
		t.Fatalf("nobody is asked: %+v", again.called)
	}
	if v := run(bob, accepts(once), again.RequestState, "one.example.com", "two.example.com"); v.code() != "consent_mismatch" {
		t.Errorf("another caller answers: %s", v.text())
	}
	next := run(alice, accepts(decline), again.RequestState, "one.example.com", "two.example.com")
	if next.RequestState == "" || !strings.Contains(next.InputRequests["consent"].Params.Message, "Reach http://two.example.com from") {
		t.Fatalf("the second question does not come: %s", next.text())
	}
	last := run(alice, accepts(once), next.RequestState, "one.example.com", "two.example.com")
	if last.asked() != "http://one.example.com declined, http://two.example.com allowed once" || last.reason("one.example.com") != "denied" || !strings.Contains(last.Stdout, "page of two.example.com") {
		t.Errorf("in the end: %s", last.text())
	}
	if reached := s.visits(); !slices.Equal(reached, []string{"two.example.com"}) {
		t.Errorf("visited %q", reached)
	}

	v := run(alice, nil, "", "two.example.com")
	if v = run(alice, accepts(always), v.RequestState, "two.example.com"); v.asked() != "http://two.example.com allowed always" {
		t.Errorf("for always: %s", v.text())
	}
	if v := run(bob, nil, "", "two.example.com"); v.asked() != "http://two.example.com allowed always" || len(s.visits()) != 2 {
		t.Errorf("another caller, of the same user: %s", v.text())
	}
}

// TestNotAsked: what nobody is asked about is refused as ever.
func TestNotAsked(t *testing.T) {
	t.Parallel()
	s := newAskingServer(t, grants.Configured{})
	mine := askingSession(t, s.url)
	for _, test := range []struct{ host, reason string }{
		{"127.0.0.1", "invalid_host"},
		{"169.254.169.254", "invalid_host"},
		{"0x7f.1", "invalid_host"},
		{"[::1]", "invalid_host"},
		{"localhost", "not_granted"},
		{"intranet", "not_granted"},
		{"printer.local", "not_granted"},
		{"metadata.google.internal", "not_granted"},
		{"db.corp", "not_granted"},
		{"1.0.0.127.in-addr.arpa", "not_granted"},
		{"nas.home.arpa", "not_granted"},
		{"hidden.onion", "not_granted"},
		{"co.uk", "not_granted"},
		{strings.Repeat("secret.", 12) + "example.com", "not_granted"},
	} {
		v, questions := s.run(t, mine, visiting("weather", test.host), answering(always))
		if len(questions) > 0 || len(v.Asked) > 0 || v.reason(strings.Trim(test.host, "[]")) != test.reason || len(s.visits()) > 0 {
			t.Errorf("%s: asked %q: %s", test.host, questions, v.text())
		}
	}
	if v, questions := s.run(t, mine, visiting("other", "one.example.com"), answering(always)); len(questions) > 0 || v.exit() != 7 {
		t.Errorf("a skill for which that is denied: %q, %s", questions, v.text())
	}
	if v, _ := s.run(t, mine, map[string]any{"command": strings.TrimPrefix(visit, "#!/bin/bash\n")}, answering(always)); v.Granted.Network != nil || len(v.Asked) > 0 {
		t.Errorf("what is of no skill: %s", v.text())
	}
	v, _ := s.run(t, legacy(t, s.url), visiting("weather", "one.example.com"), answering(always))
	if v.reason("one.example.com") != "not_granted" || !strings.Contains(v.text(), "skills-mcp grant weather --host http://one.example.com") {
		t.Errorf("a client that cannot ask: %s", v.text())
	}
}

// TestAskedLittle: a program cannot have its user asked until they give in, nor
// make a question look like another one.
func TestAskedLittle(t *testing.T) {
	t.Parallel()
	s := newAskingServer(t, grants.Configured{}, "other")
	mine := askingSession(t, s.url)
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("host-%d.example.com", i))
	}
	if v, questions := s.run(t, mine, visiting("weather", many...), answering(once)); len(questions) != 8 || len(s.visits()) != 8 {
		t.Errorf("one run asks %d questions: %s", len(questions), v.text())
	}
	refusing := func(string) any { return map[string]any{"action": "cancel"} }
	if v, questions := s.run(t, mine, visiting("weather", many...), refusing); len(questions) != 3 || len(s.visits()) != 0 {
		t.Errorf("who refuses is asked %d questions: %s", len(questions), v.text())
	}
	if v, questions := s.run(t, mine, visiting("weather", "new.example.com"), answering(once)); len(questions) != 0 {
		t.Errorf("and then another one: %s", v.text())
	}
	v, questions := s.run(t, mine, visiting("other", "xn--pple-43d.com", "accounts.google.com.evil.example.co.uk", "UPPER.example.com"), answering(once))
	if len(questions) != 3 {
		t.Fatalf("another skill asks %d questions: %s", len(questions), v.text())
	}
	for i, want := range []string{"beware: the name has letters that are not ASCII", "belongs to: example.co.uk\n", "host: upper.example.com\n"} {
		if !strings.Contains(questions[i], "\n    "+want) || !strings.Contains(questions[i], "\n\nSkill: other (") {
			t.Errorf("the question does not say %q: %s", want, questions[i])
		}
	}
}

// TestAskedSecret: an answer about a host gives it no secret, and no private
// address.
func TestAskedSecret(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	s := newAskingServer(t, grants.Configured{Grants: a.weather(t, "").Grants})
	mine := askingSession(t, s.url)
	v, questions := s.run(t, mine, visiting("weather", "one.example.com"), answering(once))
	if len(questions) != 1 || !strings.Contains(v.Stdout, "page of one.example.com") {
		t.Fatalf("%s", v.text())
	}
	if reached := s.visits(); len(reached) != 1 || !strings.HasPrefix(reached[0], "one.example.com sk-") || strings.Contains(reached[0], apiKey) || len(v.Used.Secrets) > 0 {
		t.Errorf("visited %q, sent %q", reached, v.Used.Secrets)
	}
	v, _ = s.run(t, mine, visiting("weather", "api.example.com:"+a.port), answering(decline))
	if sent := a.secrets(); len(sent) != 1 || sent[0] != apiKey {
		t.Errorf("what is granted got %q: %s", sent, v.text())
	}
}

// TestAskedRevoked: an answer for always that is taken back ends the network of the
// runs that go by it, and is asked for again.
func TestAskedRevoked(t *testing.T) {
	t.Parallel()
	s := newAskingServer(t, grants.Configured{Grants: grants.Grants{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	mine := askingSession(t, s.url)
	s.run(t, mine, visiting("weather", "one.example.com"), answering(always))
	s.visits()
	other := s.connect(t) // which cannot ask, and goes by the answer
	ran := other.startExec(t, "weather", map[string]any{"command": "while out=$(bash $SKILL_DIR/visit.bash http://one.example.com/); [[ $out == *'page of'* ]]; do :; done; echo at last"})
	for s.visits() == nil {
		runtime.Gosched()
	}
	store := answers.New(answers.Options{Dir: s.answers, Now: s.clock})
	revoked, err := store.Revoke(func(answer answers.Answer) bool {
		return answer.Kind == "network" && answer.Grant == "http://one.example.com"
	})
	if err != nil || len(revoked) != 1 {
		t.Fatalf("revoked %+v, %v", revoked, err)
	}
	var result called
	must(t, json.Unmarshal(other.await(t, ran, "exec").Result, &result))
	if v := readVisited(t, result); !strings.Contains(v.Stdout, "at last") || !strings.Contains(v.text(), "The user took part of it back while the program ran") {
		t.Errorf("%s", v.text())
	}
	if _, questions := s.run(t, mine, visiting("weather", "one.example.com"), answering(decline)); len(questions) != 1 {
		t.Errorf("asked again: %q", questions)
	}
}

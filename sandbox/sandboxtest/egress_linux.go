package sandboxtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

func egresses() []contract {
	return []contract{
		{name: "grant-egress", test: testEgress},
		{name: "grant-egress-alone", test: testEgressAlone},
		{name: "grant-egress-apart", test: testEgressApart},
		{name: "grant-egress-ended", test: testEgressEnded},
		{name: "grant-egress-killed", test: testEgressKilled},
		{name: "grant-egress-stubborn", test: testEgressStubborn},
		{name: "grant-egress-flood", test: testEgressFlood},
		{name: "grant-egress-descriptors", test: testEgressDescriptors, alone: true},
		{name: "grant-no-egress", test: testNoEgress},
	}
}

// addressSpace is more than what a program of the race detector takes.
const addressSpace = 1 << 46

// answering is an Egress that answers each line with its name and the line.
type answering struct {
	name string
	// said, if set, is called with each line.
	said func(line string)
	// flood has it write without end instead.
	flood bool

	serving, most, now, all atomic.Int64 // most is of now, which are open; all were
}

func (a *answering) Serve(listener net.Listener) {
	a.serving.Add(1)
	defer a.serving.Add(-1)
	var open sync.WaitGroup
	defer open.Wait()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		a.all.Add(1)
		for now := a.now.Add(1); ; {
			if most := a.most.Load(); now <= most || a.most.CompareAndSwap(most, now) {
				break
			}
		}
		open.Go(func() {
			defer a.now.Add(-1)
			defer connection.Close()
			a.answer(connection)
		})
	}
}

func (a *answering) answer(connection net.Conn) {
	for lines := bufio.NewScanner(connection); lines.Scan(); {
		if a.said != nil {
			a.said(lines.Text())
		}
		for again := true; again; again = a.flood {
			if _, err := fmt.Fprintf(connection, "%s: %s\n", a.name, lines.Text()); err != nil {
				return
			}
		}
	}
}

// expectOver expects that nothing of an egress is at work.
func (a *answering) expectOver(t *testing.T) {
	t.Helper()
	if serving, open := a.serving.Load(), a.now.Load(); serving != 0 || open != 0 {
		t.Errorf("after the run, %d are serving and %d connections are open", serving, open)
	}
}

// dialing returns a spec that runs this test's binary as a program that connects.
func dialing(t *testing.T, egress sandbox.Egress, arguments ...string) sandbox.Spec {
	t.Helper()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	testfiles.WriteMode(t, filepath.Join(dir, dialerName), string(program), 0o755)
	return sandbox.Spec{
		SkillDir: dir, Script: dialerName, Args: arguments, Egress: egress,
		Limits: sandbox.Limits{MemoryBytes: addressSpace},
	}
}

// requireEgress skips a case for backends that have no network for programs.
func requireEgress(t *testing.T, f *fixture) {
	t.Helper()
	if !f.backend.Info().Egress {
		t.Skip("this backend serves no connections of programs")
	}
}

func testEgress(t *testing.T, f *fixture) {
	requireEgress(t, f)
	spec := dialing(t, nil, "ask", sandbox.ProxyAddress, "hello", "again")
	for _, name := range []string{"one", "two"} { // one after the other, where one may have been made ready
		egress := &answering{name: name}
		spec.Egress = egress
		if out, want := f.succeed(t, spec), name+": hello\n"+name+": again\n"; out != want {
			t.Errorf("the program was answered %q, want %q", out, want)
		}
		egress.expectOver(t)
	}
	spec.Egress = nil
	if result := f.run(t, spec); result.Status != sandbox.Exited || result.ExitCode != exitRefused {
		t.Errorf("the next run, without a grant, ended as %s, exit code %d: %s%s", result.Status, result.ExitCode, result.Stdout.Data, result.Stderr.Data)
	}
}

// A program with an egress reaches nothing else, be it on this machine or behind
// it.
func testEgressAlone(t *testing.T, f *fixture) {
	requireEgress(t, f)
	targets := append(listeners(t),
		"tcp 192.0.2.1:443", "udp 192.0.2.1:53", "udp 192.0.2.1:443", "tcp [2001:db8::1]:443", "udp [2001:db8::1]:53",
		"tcp 169.254.169.254:80", "udp 127.0.0.53:53", "tcp 127.0.0.53:53", "tcp 127.0.0.2:3128", "tcp [::1]:3128")
	out := f.succeed(t, dialing(t, &answering{name: "egress"}, append([]string{"reach", "tcp " + sandbox.ProxyAddress}, targets...)...))
	if want := "tcp " + sandbox.ProxyAddress + "\n"; out != want {
		t.Errorf("the program reaches %q, want only %q", out, want)
	}
}

// listeners are some on this machine, each with its network.
func listeners(t *testing.T) (addresses []string) {
	t.Helper()
	for _, network := range []string{"tcp4", "tcp6", "udp4", "udp6", "unix"} {
		address := map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "udp4": "127.0.0.1:0", "udp6": "[::1]:0", "unix": fmt.Sprint("@", t.Name(), os.Getpid())}[network]
		var opened interface {
			io.Closer
		}
		var err error
		if strings.HasPrefix(network, "udp") {
			var packets net.PacketConn
			if packets, err = net.ListenPacket(network, address); err == nil {
				opened, address = packets, packets.LocalAddr().String()
				go echo(packets)
			}
		} else {
			var listener net.Listener
			if listener, err = net.Listen(network, address); err == nil {
				opened, address = listener, listener.Addr().String()
			}
		}
		if err != nil {
			if strings.HasSuffix(network, "6") {
				continue // not every machine has it
			}
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		addresses = append(addresses, network+" "+address)
	}
	return addresses
}

func echo(packets net.PacketConn) {
	buffer := make([]byte, 64)
	for {
		n, from, err := packets.ReadFrom(buffer)
		if err != nil {
			return
		}
		packets.WriteTo(buffer[:n], from)
	}
}

func testEgressApart(t *testing.T, f *fixture) {
	requireEgress(t, f)
	var all sync.WaitGroup
	var meeting sync.WaitGroup // that all have asked before any goes on
	names := []string{"left", "right"}
	meeting.Add(len(names))
	for _, name := range names {
		egress := &answering{name: name}
		met := sync.OnceFunc(func() {
			meeting.Done()
			meeting.Wait()
		})
		egress.said = func(string) { met() }
		spec := dialing(t, egress, "ask", sandbox.ProxyAddress, "first", "second", "third")
		all.Go(func() {
			out := f.succeed(t, spec)
			if want := strings.ReplaceAll("NAME: first\nNAME: second\nNAME: third\n", "NAME", name); out != want {
				t.Errorf("the program of %s was answered %q", name, out)
			}
			egress.expectOver(t)
		})
	}
	all.Wait()
}

// Connections that a program leaves open, in whatever state, end with it.
func testEgressEnded(t *testing.T, f *fixture) {
	requireEgress(t, f)
	for name, c := range map[string]struct {
		flood bool
		shell string
	}{
		"idle":               {false, `"$DIALER" leave "$ADDRESS" 20`},
		"not read":           {true, `"$DIALER" leave "$ADDRESS" 20`},
		"of a process apart": {false, `setsid "$DIALER" hold "$ADDRESS" 20 & until [ -e held ]; do sleep 0.01; done`},
	} {
		egress := &answering{name: name, flood: c.flood}
		spec := dialing(t, egress)
		spec.Shell = `DIALER=$SKILL_DIR/` + dialerName + "; " + c.shell
		spec.Script, spec.Env = "", map[string]string{"ADDRESS": sandbox.ProxyAddress}
		expectExit(t, f.run(t, spec), 0)
		egress.expectOver(t)
		if egress.all.Load() == 0 {
			t.Errorf("%s: nothing was connected", name)
		}
	}
}

func testEgressKilled(t *testing.T, f *fixture) {
	requireEgress(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	egress := &answering{name: "killed", said: func(string) { cancel() }}
	result := f.runContext(ctx, t, dialing(t, egress, "hold", sandbox.ProxyAddress, "20"))
	expectStatus(t, result, sandbox.Canceled)
	egress.expectOver(t)
}

// stubborn is an Egress that lets go of no connection by itself.
type stubborn struct{ taken atomic.Int64 }

func (s *stubborn) Serve(listener net.Listener) {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		s.taken.Add(1)
		connection.Write([]byte("."))
		open.Go(func() {
			for err := error(nil); !errors.Is(err, net.ErrClosed); time.Sleep(time.Millisecond) {
				_, err = connection.Read(make([]byte, 64))
			}
		})
	}
}

// Nothing that serves connections keeps a run from its end.
func testEgressStubborn(t *testing.T, f *fixture) {
	requireEgress(t, f)
	testenv.Slow(t, "waits until connections are closed by force")
	egress := new(stubborn)
	expectExit(t, f.run(t, dialing(t, egress, "leave", sandbox.ProxyAddress, "3")), 0)
	if egress.taken.Load() == 0 {
		t.Error("nothing was connected")
	}
}

// A program with more connections than anybody serves costs others nothing, and
// is served again when it has closed them.
func testEgressFlood(t *testing.T, f *fixture) {
	requireEgress(t, f)
	const connections, bound = 10_000, 1000
	egress := &answering{name: "flooded"}
	before := countDescriptors(t)
	if out := f.succeed(t, dialing(t, egress, "flood", sandbox.ProxyAddress, strconv.Itoa(connections))); out != "flooded: after all\n" {
		t.Errorf("the program was answered %q in the end", out)
	}
	if most := egress.most.Load(); most > bound {
		t.Errorf("%d connections were open at once, of %d", most, egress.all.Load())
	}
	egress.expectOver(t)
	t.Logf("%d of %d connections were served, %d at once; %d descriptors before and %d after",
		egress.all.Load(), connections, egress.most.Load(), before, countDescriptors(t))
}

func testEgressDescriptors(t *testing.T, f *fixture) {
	spec := sandbox.Spec{Argv: []string{"ls", "/proc/self/fd"}, Egress: new(answering)}
	if got := strings.Fields(f.succeed(t, spec)); len(got) != 4 || got[3] != "3" { // 3 is what ls reads
		t.Errorf("the program has descriptors %v", got)
	}
}

// Nothing is at the address where no egress is given, or where the backend does
// not serve it. One that leaves programs this machine's network is as it is.
func testNoEgress(t *testing.T, f *fixture) {
	if f.backend.Info().Network {
		t.Skip("programs have the network of the machine")
	}
	egress := &answering{name: "unserved"}
	for _, given := range []sandbox.Egress{nil, egress} {
		if given != nil && f.backend.Info().Egress {
			continue
		}
		result := f.run(t, dialing(t, given, "ask", sandbox.ProxyAddress, "hello"))
		if result.Status != sandbox.Exited || result.ExitCode != exitRefused {
			t.Errorf("with %v, the program ended as %s, exit code %d: %s%s", given, result.Status, result.ExitCode, result.Stdout.Data, result.Stderr.Data)
		}
	}
	if egress.all.Load() != 0 {
		t.Error("it was served nevertheless")
	}
}

func init() {
	if len(os.Args) > 2 && filepath.Base(os.Args[0]) == dialerName {
		unix.Exit(dialer(os.Args[1], os.Args[2], os.Args[3:]))
	}
}

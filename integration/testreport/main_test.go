package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const events = `go: downloading something
{"Action":"run","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestGood","Output":"    a_test.go:1: noise\n"}
{"Action":"pass","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestGood","Elapsed":2.5}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestBad","Output":"    a_test.go:2: what went wrong\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestBad","Elapsed":0.5}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestParent","Output":"=== RUN   TestParent\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestParent","Output":"--- FAIL: TestParent (0.00s)\n"}
{"Action":"fail","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestParent","Elapsed":0.1}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/a","Output":"FAIL\ta\t3s\n"}
{"Action":"fail","Package":"github.com/skills-mcp/skills-mcp/a","Elapsed":3}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/b","Test":"TestClients","Output":"    b_test.go:3: needs node: executable not found\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/b","Test":"TestClients","Output":"--- SKIP: TestClients (0.00s)\n"}
{"Action":"skip","Package":"github.com/skills-mcp/skills-mcp/b","Test":"TestClients","Elapsed":0}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/b","Output":"PASS\n"}
{"Action":"output","Package":"github.com/skills-mcp/skills-mcp/b","Output":"ok  \tb\t1s\n"}
{"Action":"pass","Package":"github.com/skills-mcp/skills-mcp/b","Elapsed":1}
left behind:
process 7: sleep
`

func TestReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := report{out: &out, logs: make(map[test][]string), skipped: make(map[string][]test)}
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	r.printSkipped()
	r.printSlowest()
	r.printFailed()
	const want = `go: downloading something
=== a.TestBad
    a_test.go:2: what went wrong
--- FAIL: TestBad (0.00s)
=== a.TestParent
--- FAIL: TestParent (0.00s)
FAIL	a	3s
=== a.TestHangs
panic: test timed out
ok  	b	1s
left behind:
process 7: sleep

Left out:
    1  needs node: make test-setup installs it
       b.TestClients

Slowest tests:
   2.5 s  a.TestGood
   0.5 s  a.TestBad
   0.1 s  a.TestParent
   0.0 s  b.TestClients

Failed:
  a.TestBad
      a_test.go:2: what went wrong
  a.TestHangs
  panic: test timed out
  FAIL	a	3s
  left behind:
  process 7: sleep
`
	if out.String() != want {
		t.Errorf("the report is\n%s\nwant\n%s", out.String(), want)
	}
	if left := slices.Collect(maps.Keys(r.logs)); len(left) > 0 {
		t.Errorf("logs are kept of %v", left)
	}
}

package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// What `make run` shows: the skills found, and the line that registers the
// server, with the address that it really has.
func TestServeSaysHowToRegisterIt(t *testing.T) {
	t.Parallel()
	p, url := program.Serve(t, program.Home(t), sampleRoot(t))
	program.Eventually(t, "the registration line", func() bool {
		return strings.Contains(p.Stderr.String(), "claude mcp add --transport http skills "+url+"/mcp")
	})
	if !strings.Contains(p.Stderr.String(), triage) {
		t.Errorf("serve does not name the skill %s:\n%s", triage, p.Stderr)
	}
	response, err := http.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("/healthz answers %s", response.Status)
	}
}

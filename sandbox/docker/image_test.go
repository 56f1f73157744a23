package docker_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
)

// Programs have the variables of the image, but none of those that tell them where
// they are, and no directory of a search that depends on where they start.
func TestVariablesOfTheImage(t *testing.T) {
	t.Parallel()
	shared(t) // so that there is the image
	image := "skills-mcp-test/" + strings.ToLower(t.Name()) + ":latest"
	build := exec.Command("docker", "build", "--quiet", "--tag", image, "-")
	build.Stdin = strings.NewReader("FROM " + docker.DefaultImage + `
USER root
RUN mkdir /opt/tool && printf '#!/bin/sh\necho from opt\n' > /opt/tool/own && chmod 755 /opt/tool/own
USER sandbox
ENV MODEL_DIR=/models PATH=/opt/tool:/usr/bin:/bin:. HOME=/elsewhere PROJECT=/elsewhere WORKSPACE=/elsewhere LD_LIBRARY_PATH=/opt/lib: PERL5LIB=. PYTHONUNBUFFERED=
`)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("docker", "rmi", "--force", image).Run() })
	backend := openWith(t, docker.Options{Image: image})
	result := run(t, backend, sandbox.Spec{Argv: []string{"own"}})
	if string(result.Stdout.Data) != "from opt\n" {
		t.Errorf("a program on the image's PATH: %+v", result)
	}
	result = run(t, backend, sandbox.Spec{
		Shell: `echo "$MODEL_DIR|$PATH|$WORKSPACE|${PROJECT-none}|$LD_LIBRARY_PATH|${PERL5LIB-none}|$OWN|$HOME"`, Env: map[string]string{"OWN": "mine"},
	})
	const want = "/models|/opt/tool:/usr/bin:/bin|/workspace|none|/opt/lib|none|mine|"
	if got := string(result.Stdout.Data); !strings.HasPrefix(got, want) || strings.Contains(got, "elsewhere") {
		t.Errorf("variables are %q, want %q: %s", got, want, result.Stderr.Data)
	}
}

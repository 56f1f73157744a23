package advice

import (
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

var (
	// networkFaults are what programs say of a network that is not there.
	networkFaults = lazyregexp.New(`(?i)network is unreachable|\bENETUNREACH\b|no route to host|\bEHOSTUNREACH\b|` +
		`address family not supported|\bEAFNOSUPPORT\b|name resolution|\bEAI_AGAIN\b|\bENOTFOUND\b|getaddrinfo|` +
		`name or service not known|nodename nor servname|no address associated with host|unknown host\b|bad address '|` +
		`(could not|cannot|can't|failed to|unable to|temporary failure) (resolve|resolving|look ?up)|dial tcp`)
	// networkPrograms are commands that do little without a network.
	networkPrograms = lazyregexp.New(`\b(npm|pnpm|yarn|bun|cargo|gem|composer|poetry|uv|conda|apt|apt-get|apk|dnf|brew)\s+([a-z-]+\s+)*` +
		`(install|i|ci|add|update|upgrade|sync|create|publish)\b|\bpip[0-9.]*\s+(install|download)\b|\b(npx|uvx|curl|wget|ssh|scp|rsync)\s|` +
		`\bgit\s+(clone|fetch|pull|push)\b|\bgo\s+(get|install)\b|\b(docker|podman)\s+pull\b`)
	readOnlyFaults = lazyregexp.New(`(?i)read-only file system|\bEROFS\b`)
	deniedFaults   = lazyregexp.New(`(?i)permission denied|\bEACCES\b`)
)

const (
	noNetwork = "There is no network in the sandbox, which the program seems to need: do it without, from what the skill and the workspace hold, or tell the user" +
		"%s."
	// howToGrant says what the user can do about it.
	howToGrant = ", who can grant the skill what it needs with 'skills-mcp grant NAME --host HOST'"
	readOnly   = "The skill is read-only, and so is all else but %sthe workspace, $HOME, $TMPDIR and /tmp: let the program write %s."
)

// Refused says what of a program's failure is the sandbox's doing, which did not
// show it what is hidden. Only the program's output shows it.
func Refused(spec sandbox.Spec, result sandbox.Result, hidden []project.Masked) string {
	var advice []string
	failed := result.Status == sandbox.Exited && result.ExitCode != 0 || result.Status == sandbox.Signaled
	// Of a proxy's refusals the result has a list.
	if !result.Info.Network && spec.Egress == nil && (failed || result.Status == sandbox.TimedOut) && wantedNetwork(spec, result) {
		advice = append(advice, networkAdvice(spec, result))
	}
	if failed && wroteReadOnly(spec, result) {
		advice = append(advice, readOnlyAdvice(spec, result))
	}
	if failed && wroteOthers(spec, result) {
		advice = append(advice, otherOwner)
	}
	if failed {
		advice = append(advice, wantedHidden(result, hidden))
	}
	return strings.TrimSpace(strings.Join(advice, " "))
}

// networkAdvice says what to do without a network.
func networkAdvice(spec sandbox.Spec, result sandbox.Result) string {
	if spec.SkillDir == "" || !result.Info.Egress {
		return fmt.Sprintf(noNetwork, "")
	}
	return fmt.Sprintf(noNetwork, howToGrant)
}

// readOnlyAdvice says where a program can write.
func readOnlyAdvice(spec sandbox.Spec, result sandbox.Result) string {
	if spec.Project && len(result.Shared) > 0 && result.Shared[0].Access == sandbox.AccessReview {
		return fmt.Sprintf(readOnly, "the project, ", "to one of these")
	}
	return fmt.Sprintf(readOnly, "", "to the workspace")
}

// wantedNetwork reports whether a program failed for want of a network. One that
// was killed for its time may have said nothing yet.
func wantedNetwork(spec sandbox.Spec, result sandbox.Result) bool {
	if networkFaults().Match(result.Stderr.Data) || networkFaults().Match(result.Stdout.Data) {
		return true
	}
	return result.Status == sandbox.TimedOut && networkPrograms().MatchString(spec.Shell+"\n"+strings.Join(spec.Argv, " "))
}

// wroteReadOnly reports whether a program failed to write what it may not.
// Without a mount of its own the skill is protected by modes.
func wroteReadOnly(spec sandbox.Spec, result sandbox.Result) bool {
	for _, output := range [][]byte{result.Stderr.Data, result.Stdout.Data} {
		for line := range strings.Lines(string(output)) {
			names := spec.SkillDir != "" && strings.Contains(line, spec.SkillDir+"/")
			if readOnlyFaults().MatchString(line) || names && deniedFaults().MatchString(line) {
				return true
			}
		}
	}
	return false
}

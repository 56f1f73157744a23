package remote

import (
	"slices"
	"strings"
	"testing"
)

func TestSSHAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"ssh://host":                        {"--", "host", "docker", "system", "dial-stdio"},
		"ssh://host/":                       {"--", "host", "docker", "system", "dial-stdio"},
		"ssh://Some_Host.example-1.org":     {"--", "Some_Host.example-1.org", "docker", "system", "dial-stdio"},
		"ssh://me@host:2222":                {"-l", "me", "-p", "2222", "--", "host", "docker", "system", "dial-stdio"},
		"ssh://me@example.org@192.0.2.1:22": {"-l", "me@example.org", "-p", "22", "--", "192.0.2.1", "docker", "system", "dial-stdio"},
		"ssh://[2001:db8::1]":               {"--", "2001:db8::1", "docker", "system", "dial-stdio"},
		"ssh://host/run/user/1/d.sock":      {"--", "host", "docker", "--host=unix:///run/user/1/d.sock", "system", "dial-stdio"},
	} {
		to, err := parseSSH(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		got := to.arguments()
		for _, option := range []string{"-T", "-a", "-x", "BatchMode=yes"} { // no terminal, no agent, no X11, no questions
			if !slices.Contains(got, option) {
				t.Errorf("%s gives %q without %s", address, got, option)
			}
		}
		if tail := got[len(got)-len(want):]; !slices.Equal(tail, want) || strings.HasPrefix(got[len(got)-len(want)-1], "--") {
			t.Errorf("%s gives %q, want at its end %q", address, got, want)
		}
	}
}

// What is in an address must reach neither ssh as an option nor any shell.
func TestSSHAddressesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"ssh://", "ssh:///run/docker.sock", "ssh://:22", "ssh://me@", "ssh:host",
		"ssh://-oProxyCommand=id", "ssh://-oProxyCommand=id/", "ssh://me@-oProxyCommand=id", "ssh://-W@host", "ssh://-lroot@host",
		"ssh://$(id)", "ssh://`id`", "ssh://a;id", "ssh://a%3Bid", "ssh://a|id", "ssh://a%20b", "ssh://a%0Ab", "ssh://a%00b", "ssh://%25h", "ssh://a\\b",
		"ssh://$(id)@host", "ssh://`id`@host", "ssh://a;id@host", "ssh://a%3Bid@host", "ssh://a%26b@host", "ssh://a%0Ab@host", "ssh://a'b@host", "ssh://%25r@host", "ssh://a%5Cb@host",
		"ssh://me:secret@host", "ssh://me:@host",
		"ssh://host:0", "ssh://host:65536", "ssh://host:99999999999999999999", "ssh://host:22a", "ssh://host:-1",
		"ssh://[fe80::1%25eth0]", "ssh://[fe80::1%25$(id)]", "ssh://[host]",
		"ssh://host/a;id", "ssh://host/$(id)", "ssh://host/a%20b", "ssh://host/a%0Ab", "ssh://host//", "ssh://host/a/", "ssh://host/a'b",
		"ssh://host?a=b", "ssh://host?", "ssh://host#a",
	} {
		if to, err := parseSSH(address); err == nil {
			t.Errorf("%s gives %+v", address, to)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gives away the password: %v", address, err)
		}
	}
}

func TestLastLine(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                               "",
		"one":                            "one",
		"one\n":                          "one",
		"one\r\ntwo\r\n\r\n \n":          "two",
		"one\ntwo":                       "two",
		strings.Repeat("x", lineBytes+1): strings.Repeat("x", lineBytes),
	} {
		var l lastLine
		for _, b := range []byte(said) {
			l.Write([]byte{b})
		}
		if got := l.String(); got != want {
			t.Errorf("of %q there is %q", said, got)
		}
	}
}

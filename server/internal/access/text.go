package access

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/shellword"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// maxWritten is how many hosts a text lists.
const maxWritten = 20

// shownDigest is how much of a digest a text shows.
const shownDigest = len("sha256:") + 12

// WriteText writes what a run had and used, for hosts that show only text.
func (r Report) WriteText(text *strings.Builder) {
	if g := r.Granted; g != nil {
		writeList(text, "could reach", g.Network)
		writeList(text, "secrets, as placeholders", g.Secrets)
		writeList(text, "secrets, as they are", g.PlainSecrets)
		if g.Packages != "" {
			fmt.Fprintf(text, "packages: %s\n", truncate.After(g.Packages, shownDigest))
		}
		writeList(text, "could read", g.Show)
		for _, sentence := range g.Withheld {
			fmt.Fprintf(text, "%s\n", sentence)
		}
	}
	for _, asked := range r.Asked {
		fmt.Fprintf(text, "asked the user: %s: %s\n", asked.Host, strings.TrimSpace(asked.word()+" "+asked.Notice))
	}
	if r.Used != nil {
		r.writeUsed(text)
	}
}

// word is the answer in a word, and the scope of one that allows.
func (a Asked) word() string {
	if a.Answer == consent.Allowed {
		return string(a.Scope)
	}
	return string(a.Answer)
}

func writeList(text *strings.Builder, what string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(text, "%s: %s\n", what, strings.Join(list, ", "))
	}
}

// writeUsed writes what was asked of the network.
func (r Report) writeUsed(text *strings.Builder) {
	for _, host := range r.Used.Hosts[:min(len(r.Used.Hosts), maxWritten)] {
		if host.Requests > 0 {
			fmt.Fprintf(text, "reached: %s, %s, %s\n", host.address(), display.Counted(host.Requests, "request"), display.Size(host.Bytes))
		}
		if host.Refused > 0 {
			fmt.Fprintf(text, "refused: %s, %s: %s\n", host.address(), display.Counted(host.Refused, "request"), host.why(r.skill))
		}
	}
	if more := len(r.Used.Hosts) - maxWritten; more > 0 {
		fmt.Fprintf(text, "hosts not listed: %d\n", more)
	}
	if r.Used.HostsOmitted > 0 {
		fmt.Fprintf(text, "requests not listed: %d\n", r.Used.HostsOmitted)
	}
	writeList(text, "secrets that were sent", r.Used.Secrets)
}

func (h UsedHost) address() string {
	switch {
	case h.Host == "":
		return "a connection to no host"
	case h.Port == 0:
		return display.Path(h.Host)
	}
	return net.JoinHostPort(display.Path(h.Host), strconv.Itoa(h.Port))
}

// reasons say why something was refused, and what can be done about it.
var reasons = map[egress.Reason]string{
	egress.Denied:        "the user was asked, and did not allow it",
	egress.InvalidHost:   "that is no name of a host: hosts are granted, and reached, by name alone",
	egress.PrivateHost:   "its address is one of a private network, or of this machine, which is not granted",
	egress.ForbiddenHost: "its address is one that programs never reach",
	egress.NotTLS:        "the program did not speak TLS there, and nothing else is granted",
	egress.WrongName:     "the program asked for another host inside of the connection than outside",
	egress.HiddenName:    "the program encrypted which host it asks for",
	egress.BadRequest:    "that was no request that the proxy serves: it serves HTTP, CONNECT and SOCKS5",
	egress.TooMuch:       "the run has used up what it may send, receive or ask for",
	egress.Unreachable:   "the host is not found, or nothing answers there",
	egress.Untrusted:     "the program did not accept the certificate by which the proxy puts a secret into its requests; the variables SSL_CERT_FILE, REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS name what it has to trust",
	egress.NoSecret:      "a secret could not be put into the request",
	egress.Revoked:       "the user took the grant back, or the run was over",
}

// why says why the host was refused.
func (h UsedHost) why(skill string) string {
	switch {
	case h.Reason == egress.NotGranted:
		return fmt.Sprintf("it is not granted; the user can allow it with 'skills-mcp grant %s --host %s'", shellword.Name(skill), h.wanted)
	case h.Reason == egress.PrivateHost:
		return reasons[h.Reason] + fmt.Sprintf("; the user can allow it with 'skills-mcp grant %s --allow-private NETWORK'", shellword.Name(skill))
	case reasons[h.Reason] != "":
		return reasons[h.Reason]
	}
	return string(h.Reason)
}

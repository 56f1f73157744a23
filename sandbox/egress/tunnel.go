package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// tunnel serves a connection on which a program has asked for another one to a
// host. reply is called once, with why that is refused, or nil.
func (s *Session) tunnel(ctx context.Context, program *conn, host string, port int, reply func(*refusal)) {
	granted, refused := s.judge(ctx, host, port, schemesOf(port)...)
	if refused != nil {
		s.refuse(refused, "")
		reply(refused)
		return
	}
	secure, plain := bySchemes(granted)
	if plain == (hosts.Rule{}) && !s.hasSecret(secure) {
		s.pass(ctx, program, secure, reply)
		return
	}
	reply(nil)
	_ = program.SetReadDeadline(time.Now().Add(firstTimeout))
	first, err := program.peek(1)
	_ = program.SetReadDeadline(time.Time{})
	isTLS := err == nil && first[0] == recordHandshake
	switch {
	case err != nil:
	case isTLS && s.hasSecret(secure):
		s.endTLS(ctx, program, secure)
	case isTLS && secure != hosts.Rule{}:
		s.pass(ctx, program, secure, func(refused *refusal) { answerInside(program, refused) })
	case !isTLS && plain != hosts.Rule{}:
		program.target, program.inner = plain, true
		s.serveHTTP(program, program)
	case isTLS:
		wanted, _ := hosts.New(hosts.HTTPS, host, port)
		s.refuse(&refusal{host: host, port: port, reason: NotGranted, wanted: wanted}, "")
		answerInside(program, &refusal{})
	default:
		s.refuseInside(program, secure, NotTLS, "only TLS is granted, and something else was sent")
	}
}

// schemesOf returns what a connection to a port may be for, what is likely first.
func schemesOf(port int) []hosts.Scheme {
	if port == hosts.HTTP.DefaultPort() {
		return []hosts.Scheme{hosts.HTTP, hosts.HTTPS}
	}
	return []hosts.Scheme{hosts.HTTPS, hosts.HTTP}
}

func bySchemes(rules []hosts.Rule) (secure, plain hosts.Rule) {
	for _, rule := range rules {
		if rule.Scheme() == hosts.HTTPS {
			secure = rule
		} else {
			plain = rule
		}
	}
	return secure, plain
}

// pass connects a program to a host, between which nobody looks into TLS.
func (s *Session) pass(ctx context.Context, program *conn, rule hosts.Rule, reply func(*refusal)) {
	raw, err := s.dialer.dial(ctx, rule)
	if err != nil {
		refused := s.failed(rule, err)
		s.refuse(refused, "")
		reply(refused)
		return
	}
	server := newConn(raw)
	if !s.keep(server) {
		_ = server.Close()
		return
	}
	defer s.drop(server)
	reply(nil)
	if reason, detail := checkHello(ctx, program, rule.Name()); reason != "" {
		s.refuseInside(program, rule, reason, detail)
		return
	}
	carrier := &relay{session: s, account: s.allow(rule, "")}
	if reason, detail := carrier.sendHello(ctx, program, server, rule.Name()); reason != "" {
		s.refuseInside(program, rule, reason, detail)
		return
	}
	carrier.run(program, server)
}

// failed makes a refusal of what kept the proxy from connecting.
func (s *Session) failed(rule hosts.Rule, err error) *refusal {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused
	}
	reason, detail := Unreachable, "the server does not answer as it should"
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errTooMuch):
		reason, detail = TooMuch, "the run has used up the bytes that it may send and receive"
	case s.ctx.Err() != nil:
		reason, detail = Revoked, "the run is over, or what it was granted was taken back"
	case errors.As(err, &certificate):
		detail = "the server's certificate is not valid for it"
	}
	return &refusal{host: rule.Name(), port: rule.Port(), reason: reason, detail: detail, cause: err}
}

// refuseInside refuses what is on a connection that was replied to.
func (s *Session) refuseInside(program *conn, rule hosts.Rule, reason Reason, detail string) {
	refused := &refusal{host: rule.Name(), port: rule.Port(), reason: reason, detail: detail}
	s.refuse(refused, "")
	answerInside(program, refused)
}

// answerInside answers in the language that the program speaks, as far as that is
// known.
func answerInside(program *conn, refused *refusal) {
	if refused == nil {
		return
	}
	_ = program.SetWriteDeadline(time.Now().Add(firstTimeout))
	switch {
	case len(program.ahead) > 0 && 'A' <= program.ahead[0] && program.ahead[0] <= 'Z':
		refused.send(program)
	default:
		_, _ = program.Write(unrecognizedName)
	}
}

// endTLS is the server of TLS for a host of secrets, and serves the requests in
// it.
func (s *Session) endTLS(ctx context.Context, program *conn, rule hosts.Rule) {
	hello, err := peekHello(ctx, program)
	if err != nil {
		s.refuseInside(program, rule, NotTLS, "the beginning of TLS is not as programs send it")
		return
	}
	if !sameName(hello.ServerName, rule.Name()) {
		s.refuseInside(program, rule, WrongName, "TLS asks for another host (SNI) than the connection")
		return
	}
	leaf, err := s.proxy.authority.leaf(rule.Name())
	if err != nil {
		s.proxy.options.Logger.Error("no certificate could be made for a host of a secret", "error", err)
		return
	}
	secured := tls.Server(program, &tls.Config{Certificates: []tls.Certificate{*leaf}, NextProtos: []string{"h2", "http/1.1"}})
	within, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	if err := secured.HandshakeContext(within); err != nil {
		s.refuse(&refusal{host: rule.Name(), port: rule.Port(), reason: Untrusted, cause: err}, "")
		return
	}
	program.target, program.inner = rule, true
	s.serveHTTP(secured, program)
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

package grants_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/secrets"
	"github.com/skills-mcp/skills-mcp/policy/grants"
)

var equal = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b hosts.Rule) bool { return a == b }),
	cmp.Comparer(func(a, b secrets.Source) bool { return a == b }), cmpopts.EquateEmpty(),
}

func rules(t testing.TB, texts ...string) (rules []hosts.Rule) {
	t.Helper()
	for _, text := range texts {
		rule, err := hosts.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	return rules
}

// all is one of each kind of grant.
func all(t testing.TB) grants.Grants {
	return grants.Grants{
		Hosts: rules(t, "docs.example.com"), AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, MaxBytes: 1 << 20, MaxRequests: 10,
		Secrets:  []grants.Secret{{Name: "API_KEY", Source: secrets.Environment("KEY"), Hosts: rules(t, "api.example.com")}},
		Packages: true, Show: []string{"/opt/tool"},
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const root, dir, digest = "/home/u/skills", "/home/u/skills/weather", "sha256:one"
	skill := grants.Skill{Places: []string{root, dir}, Digest: digest}
	granted := all(t)
	secret := grants.Grants{Secrets: granted.Secrets}
	rest := granted
	rest.Secrets = nil
	for _, test := range []struct {
		name string
		give grants.Configured
		to   grants.Skill
		want grants.Effective
	}{
		{"nothing", grants.Configured{Root: root, Digest: digest}, skill, grants.Effective{}},
		{"all, by the root", grants.Configured{Root: root, Digest: digest, Grants: granted}, skill, grants.Effective{Grants: granted}},
		{"all, by the directory", grants.Configured{Root: dir, Digest: digest, Grants: granted}, skill, grants.Effective{Grants: granted}},
		{"another root", grants.Configured{Root: "/work/.skills", Digest: digest, Grants: granted}, skill, grants.Effective{Withheld: granted, Reason: grants.Elsewhere}},
		{"a root above", grants.Configured{Root: "/home/u", Digest: digest, Grants: granted}, skill, grants.Effective{Withheld: granted, Reason: grants.Elsewhere}},
		{"a root that begins the same", grants.Configured{Root: root + "2", Digest: digest, Grants: granted}, skill, grants.Effective{Withheld: granted, Reason: grants.Elsewhere}},
		{"no root", grants.Configured{Digest: digest, Grants: granted}, grants.Skill{Places: []string{""}, Digest: digest}, grants.Effective{Withheld: granted, Reason: grants.Elsewhere}},
		{"another version, no word", grants.Configured{Root: root, Digest: "sha256:two", Grants: granted}, skill, grants.Effective{Grants: rest, Withheld: secret, Reason: grants.Changed}},
		{"another version without secrets, no word", grants.Configured{Root: root, Digest: "sha256:two", Grants: rest}, skill, grants.Effective{Grants: rest}},
		{"another version, by digest", grants.Configured{Root: root, Digest: "sha256:two", Pin: grants.PinDigest, Grants: granted}, skill,
			grants.Effective{Withheld: granted, Reason: grants.Changed}},
		{"another version, by name", grants.Configured{Root: root, Digest: "sha256:two", Pin: grants.PinName, Grants: granted}, skill, grants.Effective{Grants: granted}},
		{"another version, by what is unknown", grants.Configured{Root: root, Digest: "sha256:two", Pin: "x", Grants: granted}, skill,
			grants.Effective{Withheld: granted, Reason: grants.Changed}},
		{"no version, no word", grants.Configured{Root: root, Grants: granted}, skill, grants.Effective{Grants: rest, Withheld: secret, Reason: grants.Unpinned}},
		{"no version, by digest", grants.Configured{Root: root, Pin: grants.PinDigest, Grants: rest}, skill, grants.Effective{Withheld: rest, Reason: grants.Unpinned}},
		{"no version of a skill without one", grants.Configured{Root: root, Grants: secret}, grants.Skill{Places: []string{root}},
			grants.Effective{Withheld: secret, Reason: grants.Unpinned}},
		{"the same version, by digest", grants.Configured{Root: root, Digest: digest, Pin: grants.PinDigest, Grants: granted}, skill, grants.Effective{Grants: granted}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, grants.Decide(test.give, test.to), equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	granted := all(t)
	granted.Secrets = append(granted.Secrets, grants.Secret{Name: "B", Hosts: rules(t, "docs.example.com", "api.example.com")})
	if diff := cmp.Diff(rules(t, "docs.example.com", "api.example.com"), granted.Network(), equal); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := (grants.Grants{}); len(none.Network()) > 0 || !none.None() {
		t.Error("there is something in nothing")
	}
}

// TestWithin: a run loses its network by each thing that was taken away, and by
// nothing else.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		now  func(g *grants.Grants)
		want bool
	}{
		{"all the same", func(*grants.Grants) {}, true},
		{"a wider host", func(g *grants.Grants) { g.Hosts = rules(t, "*.example.com") }, true},
		{"one more host", func(g *grants.Grants) { g.Hosts = append(g.Hosts, rules(t, "b.example.com")...) }, true},
		{"a wider network", func(g *grants.Grants) { g.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} }, true},
		{"no packages", func(g *grants.Grants) { g.Packages = false }, true},
		{"no host", func(g *grants.Grants) { g.Hosts = nil }, false},
		{"another port", func(g *grants.Grants) { g.Hosts = rules(t, "docs.example.com:8443") }, false},
		{"no private network", func(g *grants.Grants) { g.AllowPrivate = nil }, false},
		{"a smaller private network", func(g *grants.Grants) { g.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24")} }, false},
		{"no secret", func(g *grants.Grants) { g.Hosts, g.Secrets = append(g.Hosts, rules(t, "api.example.com")...), nil }, false},
		{"a secret from elsewhere", func(g *grants.Grants) { g.Secrets[0].Source = secrets.Environment("OTHER") }, false},
		{"a secret for others", func(g *grants.Grants) {
			g.Hosts = append(g.Hosts, rules(t, "api.example.com")...)
			g.Secrets[0].Hosts = rules(t, "b.example.com")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run, now := all(t), all(t)
			test.now(&now)
			if got := run.Within(&now); got != test.want {
				t.Errorf("it goes on: %t", got)
			}
		})
	}
	for name, change := range map[string]func(*grants.Secret){
		"plain": func(s *grants.Secret) { s.Plain = true }, "body": func(s *grants.Secret) { s.Body = true },
	} {
		run, now := all(t), all(t)
		change(&run.Secrets[0])
		if run.Within(&now) {
			t.Errorf("%s: it goes on with less", name)
		}
		if !now.Within(&run) {
			t.Errorf("%s: it ends with more", name)
		}
	}
}

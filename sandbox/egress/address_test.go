package egress_test

import (
	"net/netip"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// TestAddresses: where a name leads decides whether it is connected to. What may be
// is not there in these tests, which is another refusal.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const private, forbidden, open = egress.PrivateHost, egress.ForbiddenHost, egress.Unreachable
	own := []string{"127.0.0.0/8", "::1/128"}
	for _, test := range []struct {
		answer  string
		allowed []string
		want    egress.Reason
	}{
		{"127.0.0.1", nil, private},
		{"127.255.255.254", nil, private},
		{"0.0.0.0", nil, private},
		{"0.0.0.1", nil, private},
		{"::", nil, private},
		{"::1", nil, private},
		{"10.1.2.3", nil, private},
		{"172.16.0.1", nil, private},
		{"172.31.255.255", nil, private},
		{"192.168.1.1", nil, private},
		{"100.64.0.1", nil, private},
		{"198.18.0.1", nil, private},
		{"203.0.113.7", nil, private},
		{"240.0.0.1", nil, private},
		{"fc00::1", nil, private},
		{"fd12:3456::1", nil, private},
		{"fec0::1", nil, private},
		{"2001:db8::1", nil, private},
		{"::ffff:10.0.0.1", nil, private},
		{"::ffff:0:10.0.0.1", nil, private},
		{"::10.0.0.1", nil, private},
		{"64:ff9b::10.0.0.1", nil, private},
		{"64:ff9b:1::10.0.0.1", nil, private},
		{"2002:a00:1::1", nil, private},
		{"2001::f5ff:fffe", nil, private},      // Teredo of 10.0.0.1
		{"2600::5efe:10.0.0.1", nil, private},  // ISATAP
		{"2600::200:5efe:a00:1", nil, private}, // ISATAP
		{"169.254.169.254", nil, forbidden},    // metadata
		{"169.254.0.1", nil, forbidden},        //
		{"100.100.100.200", nil, forbidden},    //
		{"168.63.129.16", nil, forbidden},      //
		{"192.0.0.192", nil, forbidden},        //
		{"fd00:ec2::254", nil, forbidden},      //
		{"fd20:ce::254", nil, forbidden},       //
		{"fe80::1", nil, forbidden},            //
		{"224.0.0.1", nil, forbidden},          //
		{"ff02::1", nil, forbidden},            //
		{"255.255.255.255", nil, forbidden},    //
		{"::ffff:169.254.169.254", nil, forbidden},
		{"64:ff9b::169.254.169.254", nil, forbidden},
		{"2002:a9fe:a9fe::1", nil, forbidden},
		{"127.0.0.1 169.254.169.254", own, forbidden}, // any of them

		{"127.0.0.1", own, open},
		{"::ffff:127.0.0.1", own, open},
		{"10.0.0.1", own, private},
		{"169.254.169.254", []string{"169.254.0.0/16", "0.0.0.0/0"}, forbidden},
		{"fe80::1", []string{"::/0"}, forbidden},
		{"fd00:ec2::254", []string{"fc00::/7"}, forbidden},
		{"64:ff9b::169.254.169.254", []string{"64:ff9b::/96"}, forbidden},
		{"10.0.0.1 127.0.0.1", own, open}, // the one that may be
	} {
		t.Run(test.answer, func(t *testing.T) {
			t.Parallel()
			resolver := &names{}
			resolver.set("api.test", test.answer)
			grant := egress.Grant{Rules: rules(t, "http://"+at("api.test", closedPort(t)))}
			for _, text := range test.allowed {
				grant.AllowPrivate = append(grant.AllowPrivate, netip.MustParsePrefix(text))
			}
			s := openAlone(t, resolver, grant)
			status, body := get(t, client(t, s.address, nil), grant.Rules[0].String())
			usage := s.Usage()
			if len(usage.Hosts) != 1 || usage.Hosts[0].Reason != test.want {
				t.Errorf("%d %q, usage %+v; want %s", status, body, usage, test.want)
			}
		})
	}
}

// TestOwnAddresses: this machine's addresses are its own, public or not.
func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range machineAddresses(t) {
		resolver := &names{}
		resolver.set("api.test", address.String())
		s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://api.test")})
		_, body := get(t, client(t, s.address, nil), "http://api.test")
		if usage := s.Usage(); usage.Hosts[0].Reason != egress.PrivateHost && usage.Hosts[0].Reason != egress.ForbiddenHost {
			t.Errorf("%s: %q, %+v", address, body, usage)
		}
	}
}

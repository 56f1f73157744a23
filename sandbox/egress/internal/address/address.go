// Package address says which addresses programs may be connected to.
package address

import (
	"net"
	"net/netip"
	"slices"
)

// Reach says whether an address may be connected to.
type Reach int

// The kinds, from the laxest on.
const (
	Public    Reach = iota
	Private         // only where it is granted
	Forbidden       // never
)

// forbiddenNets are of no use but to attack: what clouds keep there says who this
// machine is and what it may do, the rest leads to this link or to nobody.
var forbiddenNets = prefixes(
	"169.254.0.0/16", "fe80::/10", // link-local, where most clouds have their metadata
	"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128", // and others
	"224.0.0.0/4", "ff00::/8", "255.255.255.255/32", // multicast and broadcast
)

// privateNets are this machine's own and those of networks that are not public.
var privateNets = prefixes(
	"0.0.0.0/8", "::/128", "127.0.0.0/8", "::1/128",
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10",
	"100.64.0.0/10",                 // carriers' own
	"192.0.0.0/24", "198.18.0.0/15", // protocols, measurements
	"192.0.2.0/24", "198.51.100.0/24", // documentation
	"203.0.113.0/24", "2001:db8::/32", "3fff::/20",
	"240.0.0.0/4", "100::/64", "192.88.99.0/24", "5f00::/16",
)

// embedding is where an IPv6 address holds an IPv4 address that packets to it go
// to in the end.
type embedding struct {
	prefix  netip.Prefix
	at      int
	flipped bool
}

var embeddings = []embedding{
	{prefix: netip.MustParsePrefix("::ffff:0:0/96"), at: 12},            // mapped
	{prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), at: 12},          // translated
	{prefix: netip.MustParsePrefix("::/96"), at: 12},                    // compatible
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), at: 12},             // NAT64
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: 12},           // NAT64 of a network's own
	{prefix: netip.MustParsePrefix("2002::/16"), at: 2},                 // 6to4
	{prefix: netip.MustParsePrefix("2001::/32"), at: 12, flipped: true}, // Teredo
}

func prefixes(texts ...string) []netip.Prefix {
	var nets []netip.Prefix
	for _, text := range texts {
		nets = append(nets, netip.MustParsePrefix(text))
	}
	return nets
}

// Within reports whether an address is in one of the networks.
func Within(nets []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(nets, func(net netip.Prefix) bool { return net.Contains(address) })
}

// ReachOf returns the strictest of what holds for an address and for those that
// are inside of it. own are the addresses of this machine.
func ReachOf(address netip.Addr, own, allowed []netip.Prefix) Reach {
	if !address.IsValid() || address.Zone() != "" {
		return Forbidden
	}
	strictest := Public
	for _, each := range append(embedded(address), address) {
		each = each.Unmap()
		found := Public
		switch {
		case Within(forbiddenNets, each):
			return Forbidden
		case Within(allowed, each) || Within(allowed, address):
		case Within(privateNets, each) || Within(own, each):
			found = Private
		}
		strictest = max(strictest, found)
	}
	return strictest
}

// embedded returns the IPv4 addresses inside of an IPv6 address.
func embedded(address netip.Addr) []netip.Addr {
	if address.Is4() {
		return nil
	}
	bytes, found := address.As16(), []netip.Addr(nil)
	add := func(at int, flipped bool) {
		inner := [4]byte(bytes[at : at+4])
		for i := range inner {
			if flipped {
				inner[i] ^= 0xff
			}
		}
		found = append(found, netip.AddrFrom4(inner))
	}
	for _, e := range embeddings {
		if e.prefix.Contains(address) {
			add(e.at, e.flipped)
		}
	}
	if bytes[8]&^2 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe {
		add(12, false) // ISATAP
	}
	return found
}

// Own returns the addresses that this machine has now.
func Own() ([]netip.Prefix, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Prefix
	for _, address := range addresses {
		if text, ok := address.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(text.IP); ok {
				own = append(own, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
			}
		}
	}
	return own, nil
}

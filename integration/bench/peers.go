package main

import (
	"os"
	"path/filepath"
)

// peer is a server of the same skills that others wrote, or that is made of what
// others wrote.
type peer struct {
	name string
	command
}

// Where the programs are that drive what others wrote, below the directory that
// the run is started in: the root of the sources.
const (
	fastmcpPython = "bin/peers/bin/python"
	fastmcpServer = "integration/bench/fastmcp_server.py"
	gosdkServer   = "bin/gosdk-server"
)

// present returns the absolute paths, or false where one is missing.
func present(paths ...string) ([]string, bool) {
	var found []string
	for _, path := range paths {
		full, err := filepath.Abs(path)
		if err != nil {
			return nil, false
		}
		if _, err := os.Stat(full); err != nil {
			return nil, false
		}
		found = append(found, full)
	}
	return found, true
}

// stdioPeers are the peers on standard input and output that are installed.
func (b *bench) stdioPeers(dir string) []peer {
	var peers []peer
	if !b.peers {
		return nil
	}
	if found, ok := present(fastmcpPython, fastmcpServer); ok {
		peers = append(peers, peer{"FastMCP", command{found[0], []string{found[1], dir}}})
	}
	if found, ok := present(gosdkServer); ok {
		peers = append(peers, peer{"Go SDK", command{found[0], []string{dir}}})
	}
	return peers
}

// webPeers are those over HTTP.
func (b *bench) webPeers(dir string) []webServer {
	var servers []webServer
	for _, p := range b.stdioPeers(dir) {
		servers = append(servers, webServer{name: p.name, binary: p.command.name, args: func(address string) []string {
			return append(p.args, address)
		}})
	}
	return servers
}

package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/server"
)

const serveLong = `Serve MCP over HTTP: streamable HTTP at /mcp, the legacy SSE pair at /sse and
/message, /healthz, and /metrics for Prometheus.

There is no authentication yet, so only loopback addresses are served unless
--allow-host names the host that clients may call this server by.`

func newServeCommand(flags *settings.Settings) *cobra.Command {
	var address string
	var allowedHosts []string
	command := &cobra.Command{
		Use:     "serve --http ADDRESS [ROOT...]",
		Short:   "Serve over HTTP",
		Long:    serveLong,
		Example: "  skills-mcp serve --http 127.0.0.1:8321 ./my-skills",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			return serveHTTP(command, flags, address, allowedHosts, roots)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringVar(&address, "http", "127.0.0.1:8321", "`ADDRESS` to listen on; port 0 takes a free one")
	command.Flags().StringArrayVar(&allowedHosts, "allow-host", nil, "`HOST` name or IP that Host and Origin headers may name besides\nloopback (repeatable); allows other addresses than loopback")
	return command
}

func serveHTTP(command *cobra.Command, flags *settings.Settings, address string, allowedHosts, roots []string) error {
	ctx := command.Context()
	if err := checkAddress(address, allowedHosts); err != nil {
		return err
	}
	flags.Anywhere = true
	runtime, err := open(ctx, flags, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen: %w; another --http address may be free", err)
	}
	runtime.logStart("http")
	printBanner(command.ErrOrStderr(), runtime, listener.Addr())
	return runtime.whileWatching(ctx, func(ctx context.Context) error {
		return runtime.server.Serve(ctx, listener, allowedHosts)
	})
}

// checkAddress refuses to open the server to the network by accident.
func checkAddress(address string, allowedHosts []string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return exit.Misused(fmt.Errorf("--http %q is no HOST:PORT", address))
	}
	if !server.IsLoopback(host) && len(allowedHosts) == 0 {
		return exit.Misused(fmt.Errorf("--http %s is open to the network and there is no authentication; use 127.0.0.1, or name the host with --allow-host", address))
	}
	return nil
}

// printBanner tells a person what was found and how to register it.
func printBanner(out io.Writer, runtime *runtime, address net.Addr) {
	snapshot := runtime.catalog.Snapshot()
	fmt.Fprintf(out, "\n%s:\n", terminal.Counted(len(snapshot.Skills()), "skill"))
	for _, skill := range snapshot.Skills() {
		fmt.Fprintf(out, "  %-26s %s\n", skill.Name, terminal.Shorten(skill.Description, 80))
	}
	if n := len(snapshot.Problems()); n > 0 {
		fmt.Fprintf(out, "%s; 'skills-mcp list' shows them.\n", terminal.Counted(n, "problem"))
	}
	fmt.Fprintf(out, "\nListening on http://%s/mcp\nRegister it in Claude Code:\n\n  claude mcp add --transport http skills http://%s/mcp\n\n", address, address)
}

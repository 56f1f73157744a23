package docker

import (
	"io"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// order finds the program of a spec and returns what the container is told.
func (b *Backend) order(spec sandbox.Spec, by sharing) (protocol.Order, error) {
	at := command.Dirs{Workspace: protocol.Workspace, Home: protocol.Home, Tmp: protocol.Tmp, Project: by.project(spec)}
	if spec.SkillDir != "" {
		at.Skill = protocol.SkillDir
	}
	argv, err := command.Line(spec, protocol.SkillDir, b.programs.look(by, spec, at.Start(spec)))
	if err != nil {
		return protocol.Order{}, err
	}
	env, err := command.Environ(spec, b.searchPath, b.env, at)
	if err != nil {
		return protocol.Order{}, err
	}
	order := protocol.Order{
		Dir: at.Start(spec), Argv: argv, Env: env,
		Timeout:   spec.Limits.Timeout + timeoutGrace,
		FileBytes: uint64(spec.Limits.FileBytes),
		OpenFiles: uint64(spec.Limits.OpenFiles),
		Files:     b.copying,

		WorkspaceBytes: uint64(spec.Limits.WorkspaceBytes),
		WorkspaceFiles: uint64(spec.Limits.WorkspaceFiles),
	}
	if b.copying {
		order.Read, order.Write = by.trees()
		if spec.Library != "" {
			order.Read = append([]string{sandbox.LibraryDir}, order.Read...)
		}
	}
	if wire.Send(io.Discard, &order) != nil { // it is too long
		return protocol.Order{}, process.StartFailed(syscall.E2BIG)
	}
	return order, nil
}

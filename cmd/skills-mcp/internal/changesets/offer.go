package changesets

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/server"
)

// heldChanges are those of the structured content of exec, and bash_tool.
type heldChanges struct {
	ID   string            `json:"id"`
	Held []json.RawMessage `json:"held"`
}

// heldIn returns the ids of the change sets that a tool's answer names and that
// hold something to be applied.
func heldIn(called server.Called) (ids []string) {
	var told struct {
		Changes      heldChanges   `json:"changes"`
		OtherChanges []heldChanges `json:"otherChanges"`
	}
	if json.Unmarshal(called.Structured, &told) != nil {
		return nil // of another tool
	}
	for _, set := range append([]heldChanges{told.Changes}, told.OtherChanges...) {
		if set.ID != "" && len(set.Held) > 0 {
			ids = append(ids, set.ID)
		}
	}
	return ids
}

// Offer asks at a terminal whether to apply what a program changed;
// elsewhere it says how to.
func Offer(command *cobra.Command, s *settings.Settings, called server.Called) error {
	ids := heldIn(called)
	if len(ids) == 0 {
		return nil
	}
	if !terminal.CanAsk(command) || !terminal.Is(command.OutOrStdout()) {
		for _, id := range ids {
			fmt.Fprintf(command.ErrOrStderr(), "Look at the changes with: skills-mcp changes %s\nApply them with: skills-mcp apply %s\n", id, id)
		}
		return nil
	}
	for _, id := range ids {
		own := s.Again() // for the set's own project
		if err := offer(command, own, id); err != nil {
			return err
		}
	}
	return nil
}

func offer(command *cobra.Command, s *settings.Settings, id string) error {
	store, err := Open(s, command.ErrOrStderr())
	if err != nil {
		return err
	}
	set, err := OpenSet(s, store, id)
	if err != nil {
		return err
	}
	defer set.Close()
	return set.Apply(command, nil, false)
}

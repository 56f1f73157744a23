package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// approveRead asks the user where a reading has to be allowed. An answer that
// lasts is for the whole skill, all of whose files are of the version that it is
// bound to.
func (a Access) approveRead(ctx context.Context, skill *catalog.Skill, file string) error {
	if !a.Consent.Needed(approval.Read, skill.Name) {
		return nil
	}
	digest, err := a.version(ctx, skill)
	if err != nil {
		return err
	}
	_, err = a.Consent.Ask(ctx, consent.Question{
		Kind: approval.Read, Skill: skill.Name, Dir: skill.Place(), Digest: digest,
		Title:  "Let the model read a file of the skill " + skill.Name + ".",
		Detail: "file: " + display.Path(file),
		Grant:  "all files", Covers: "all files of this version of the skill",
	})
	return err
}

// version returns a digest of all files of a skill, or nothing where it is too
// large for a manifest: then no answer can be bound to it.
func (a Access) version(ctx context.Context, skill *catalog.Skill) (string, error) {
	files, err := a.Digests.Manifest(ctx, skill)
	if _, ok := errors.AsType[*resources.LimitError](err); ok {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, file := range files {
		fmt.Fprintf(sum, "%q %s\n", file.Path, file.Digest)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

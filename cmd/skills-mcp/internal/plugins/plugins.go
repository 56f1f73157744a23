// Package plugins finds the skills of the plugins that Claude Code has installed for
// a user.
//
// Its directory of plugins, ~/.claude/plugins, has a registry of them; which are
// switched on is in the settings beside that directory. Only these settings of the
// user count: what a project switches on is not what the user did. What a plugin
// says of itself is not trusted, and leads nowhere outside of it.
package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// The files in which Claude Code keeps what there is: the registry in the directory
// of plugins, the settings beside that, and the manifest in each plugin.
const (
	registryFile = "installed_plugins.json"
	settingsFile = "settings.json"
	manifestFile = ".claude-plugin/plugin.json"
)

// maxFileBytes bounds each of them, and maxDirs the directories of a plugin.
const (
	maxFileBytes = 4 << 20
	maxDirs      = 100
)

// LeftOut is a plugin of whose skills some or all are not there.
type LeftOut struct {
	// ID is the plugin and its marketplace, as PLUGIN@MARKETPLACE.
	ID, Reason string
	// Off reports that the user has not switched it on.
	Off bool
}

// installation is one of a plugin, in the registry.
type installation struct {
	Scope       string `json:"scope"`
	InstallPath string `json:"installPath"`
	ProjectPath string `json:"projectPath"`
}

// installations are those of one plugin: a list, or one in an older registry.
type installations []installation

// UnmarshalJSON implements [json.Unmarshaler].
func (all *installations) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*[]installation)(all))
	}
	*all = make(installations, 1)
	return json.Unmarshal(text, &(*all)[0])
}

// Roots returns the directories of skills of the plugins in a directory, each with
// the plugin's name as prefix, sorted by the plugins' IDs, and the plugins that are
// left out. Those that were installed for a project are there in that project alone,
// an absolute path. Where there is no registry, the error is [fs.ErrNotExist].
func Roots(dir, project string) (roots []catalog.Root, leftOut []LeftOut, err error) {
	var registry struct {
		Plugins map[string]installations `json:"plugins"`
	}
	if err := readJSON(filepath.Join(dir, registryFile), &registry); err != nil {
		return nil, nil, err
	}
	var settings struct {
		Enabled map[string]any `json:"enabledPlugins"`
	}
	if err := readJSON(filepath.Join(filepath.Dir(dir), settingsFile), &settings); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(registry.Plugins)) {
		if settings.Enabled[id] != true {
			leftOut = append(leftOut, LeftOut{ID: id, Reason: "it is not switched on in the user's settings", Off: true})
			continue
		}
		found, reason := rootsOf(dir, project, id, registry.Plugins[id])
		if reason != "" {
			leftOut = append(leftOut, LeftOut{ID: id, Reason: reason})
		}
		roots = append(roots, found...)
	}
	return roots, leftOut, nil
}

const isOutside = "it is installed outside of the directory of plugins"

// rootsOf returns the directories of skills of a plugin, or why there are none.
func rootsOf(dir, project, id string, all installations) (roots []catalog.Root, reason string) {
	path := all.pathFor(project)
	switch {
	case path == "":
		return nil, "it is installed for another project alone"
	case !filepath.IsAbs(path) || filepath.Clean(path) != path || !pathname.Within(path, dir) || path == dir:
		return nil, isOutside
	}
	plugin, err := contained.Open(path, contained.Options{Runnable: true})
	if err != nil {
		return nil, "its directory cannot be opened"
	}
	defer plugin.Close()
	realDir, dirErr := filepath.EvalSymlinks(dir)
	real, err := filepath.EvalSymlinks(path)
	if dirErr != nil || err != nil || !pathname.Within(real, realDir) || real == realDir {
		return nil, isOutside
	}
	about, err := readManifest(plugin)
	if err != nil {
		return nil, "its manifest cannot be read"
	}
	if about.Name == "" {
		about.Name, _, _ = strings.Cut(id, "@")
	}
	for _, name := range about.dirs() {
		if root := (catalog.Root{Path: filepath.Join(path, name), Prefix: about.Name, Optional: true, Within: real}); root.Validate() != nil {
			return nil, "its name can be no part of a URI"
		} else if !isIn(real, root.Path) {
			reason = "a directory of its skills leads out of it"
		} else {
			roots = append(roots, root)
		}
	}
	return roots, reason
}

// pathFor returns where a plugin is that is installed for a project, or else for the
// user, or empty.
func (all installations) pathFor(project string) (path string) {
	for _, each := range all {
		switch {
		case each.Scope == "" || each.Scope == "user":
			path = each.InstallPath
		case each.ProjectPath != "" && filepath.Clean(each.ProjectPath) == project:
			return each.InstallPath
		}
	}
	return path
}

// isIn reports whether a path of a plugin leads to something in it, or nowhere.
func isIn(realPlugin, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && pathname.Within(real, realPlugin)
}

// manifest is what a plugin says of itself.
type manifest struct {
	Name   string          `json:"name"`
	Skills json.RawMessage `json:"skills"`
}

// readManifest reads that of a plugin, which may have none.
func readManifest(plugin *contained.Dir) (about manifest, err error) {
	content, err := plugin.ReadAll(manifestFile, maxFileBytes)
	if refused, ok := errors.AsType[*contained.Error](err); ok && refused.Rule == contained.NotFound {
		return about, nil
	}
	if err != nil {
		return about, err
	}
	return about, json.Unmarshal(content.Data, &about)
}

// dirs returns the directories in which a plugin's skills are, none below another:
// "skills", and those that it names.
func (m manifest) dirs() []string {
	var one string
	var named []string
	if json.Unmarshal(m.Skills, &one) == nil {
		named = []string{one}
	} else if json.Unmarshal(m.Skills, &named) != nil {
		named = nil
	}
	dirs := []string{"skills"}
	for _, name := range named[:min(len(named), maxDirs)] {
		name = filepath.Clean(filepath.FromSlash(name))
		within := func(dir string) bool { return pathname.Within(name, dir) }
		if filepath.IsLocal(name) && name != "." && !slices.ContainsFunc(dirs, within) {
			dirs = append(dirs, name)
		}
	}
	return dirs
}

// readJSON reads a file of the user.
func readJSON(name string, to any) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return err
	}
	if len(text) > maxFileBytes {
		return fmt.Errorf("%s has more than %d bytes", name, maxFileBytes)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

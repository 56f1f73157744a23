package anthropictest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
)

// skill is one that is kept, with its versions, the newest first.
type skill struct {
	anthropic.Skill
	Type     string `json:"type"`
	versions []*version
}

type version struct {
	anthropic.SkillVersion
	Type  string `json:"type"`
	files []upload
}

// SkillFiles returns the files of a version by their paths, below the directory
// that they have in common.
func (s *Server) SkillFiles(skillID, id string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := map[string]string{}
	for _, kept := range s.skills {
		for _, v := range kept.versions {
			for _, file := range v.files {
				if kept.ID == skillID && v.ID == id {
					_, path, _ := strings.Cut(file.name, "/")
					files[path] = string(file.data)
				}
			}
		}
	}
	return files
}

var nameLine = regexp.MustCompile(`(?m)^name: *"?([a-z0-9-]{1,64})"?\r?$`)

var descriptionLine = regexp.MustCompile(`(?m)^description: *(.+?)\r?$`)

// readVersion returns the version that an upload makes.
func (s *Server) readVersion(r *http.Request) (*version, error) {
	files, err := uploads(r, "files[]")
	if err != nil {
		return nil, err
	}
	v := &version{Type: "skill_version", files: files}
	directory, _, _ := strings.Cut(files[0].name, "/")
	for _, file := range files {
		below, ok := strings.CutPrefix(file.name, directory+"/")
		if !ok {
			return nil, invalid("files: all files must be in the same top-level directory")
		}
		if name := nameLine.FindSubmatch(file.data); below == "SKILL.md" && name != nil {
			v.Name = string(name[1])
			if description := descriptionLine.FindSubmatch(file.data); description != nil {
				v.Description = string(description[1])
			}
		}
	}
	if v.Name == "" {
		return nil, invalid("files: a SKILL.md with a name is required at the root of the directory")
	}
	v.ID, v.CreatedAt = s.newID("skver"), now()
	return v, nil
}

func (s *Server) createSkill(r *http.Request) (any, error) {
	v, err := s.readVersion(r)
	if err != nil {
		return nil, err
	}
	made := &skill{Type: "skill"}
	made.ID, made.DisplayName, made.Source.Type, made.CreatedAt = s.newID("skill"), v.Name, "custom", v.CreatedAt
	made.add(v)
	s.skills = slices.Insert(s.skills, 0, made)
	return made, nil
}

func (k *skill) add(v *version) {
	v.SkillID = k.ID
	k.versions = slices.Insert(k.versions, 0, v)
	k.LatestVersionID, k.UpdatedAt = v.ID, v.CreatedAt
}

func (s *Server) listSkills(r *http.Request) (any, error) {
	source := r.URL.Query().Get("source")
	return page(r, slices.DeleteFunc(slices.Clone(s.skills), func(k *skill) bool { return source != "" && k.Source.Type != source }))
}

// skillOf returns the skill of a path, and where it is.
func (s *Server) skillOf(r *http.Request) (*skill, int, error) {
	at := slices.IndexFunc(s.skills, func(k *skill) bool { return k.ID == r.PathValue("skill") })
	if at < 0 {
		return nil, 0, notFound("skill")
	}
	return s.skills[at], at, nil
}

func (s *Server) getSkill(r *http.Request) (any, error) {
	k, _, err := s.skillOf(r)
	return k, err
}

func (s *Server) deleteSkill(r *http.Request) (any, error) {
	k, at, err := s.skillOf(r)
	if err != nil {
		return nil, err
	}
	if len(k.versions) > 0 {
		return nil, invalid("the skill still has versions")
	}
	s.skills = slices.Delete(s.skills, at, at+1)
	return map[string]string{"id": k.ID, "type": "skill_deleted"}, nil
}

func (s *Server) createVersion(r *http.Request) (any, error) {
	k, _, err := s.skillOf(r)
	if err != nil {
		return nil, err
	}
	v, err := s.readVersion(r)
	if err != nil {
		return nil, err
	}
	if len(k.versions) > 0 && k.versions[0].Name != v.Name {
		return nil, invalid("name: a skill keeps its name")
	}
	k.add(v)
	return v, nil
}

func (s *Server) listVersions(r *http.Request) (any, error) {
	k, _, err := s.skillOf(r)
	if err != nil {
		return nil, err
	}
	return page(r, k.versions)
}

func (s *Server) versionOf(r *http.Request) (*skill, int, error) {
	k, _, err := s.skillOf(r)
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(k.versions, func(v *version) bool { return v.ID == r.PathValue("id") })
	if at < 0 {
		return nil, 0, notFound("skill version")
	}
	return k, at, nil
}

func (s *Server) getVersion(r *http.Request) (any, error) {
	k, at, err := s.versionOf(r)
	if err != nil {
		return nil, err
	}
	return k.versions[at], nil
}

func (s *Server) deleteVersion(r *http.Request) (any, error) {
	k, at, err := s.versionOf(r)
	if err != nil {
		return nil, err
	}
	deleted := k.versions[at].ID
	k.versions = slices.Delete(k.versions, at, at+1)
	if len(k.versions) > 0 {
		k.LatestVersionID = k.versions[0].ID
	}
	return map[string]string{"id": deleted, "type": "skill_version_deleted"}, nil
}

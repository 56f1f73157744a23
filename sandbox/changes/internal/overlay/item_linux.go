package overlay

import "github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"

// Item is one path that programs changed, or only touched.
type Item struct {
	Path string `json:"path"`
	// Base is what the user had there when programs changed it; nil is nothing.
	Base *files.State `json:"base,omitempty"`
	// Now is what the set has there; nil is nothing.
	Now *files.State `json:"now,omitempty"`
	// Conflict says why Base is not what programs saw.
	Conflict string `json:"conflict,omitempty"`
}

// Unchanged reports whether programs left the path as it was.
func (i *Item) Unchanged() bool {
	return i.Conflict == "" && i.Base != nil && i.Now != nil && (i.Base.SameFile(i.Now) || i.Base.SameContent(i.Now))
}

// Twofold reports whether an item is a deletion and an addition.
func (i *Item) Twofold() bool {
	return i.Base != nil && i.Now != nil && i.Base.Dir() != i.Now.Dir()
}

// ModeOnly reports whether permissions are all that differs.
func (i *Item) ModeOnly() bool {
	return i.Base != nil && i.Now != nil && i.Base.Mode != i.Now.Mode && i.Base.SameData(i.Now)
}

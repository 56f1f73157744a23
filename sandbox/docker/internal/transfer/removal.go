package transfer

import (
	"errors"
	"io/fs"
	"runtime"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// identified reports whether files have identities.
const identified = runtime.GOOS != "windows"

// remove removes a file or an empty directory. One that is not empty holds
// what others have made.
func (p *place) remove(name string) error {
	err := p.open(name, func() error { return p.root.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// doom has a file or an empty directory removed at the end, or now where what
// comes could not be told from it.
func (p *place) doom(name string) error {
	p.doomed = append(p.doomed, name)
	if !identified {
		return p.removeDoomed()
	}
	return nil
}

func (p *place) removeDoomed() error {
	doomed := p.doomed
	p.doomed = nil
	for _, name := range doomed {
		if info, err := p.root.Lstat(name); err == nil && p.new[filestat.Of(info).ID] {
			continue
		}
		if err := p.remove(name); err != nil {
			if !noPlace(err) {
				return err
			}
			p.kept++
		}
	}
	return nil
}

// keep keeps what is there from being removed by another name.
func (p *place) keep(name string) error {
	if len(p.doomed) == 0 {
		return nil
	}
	info, err := p.root.Lstat(name)
	if err == nil {
		p.new[filestat.Of(info).ID] = true
	}
	return err
}

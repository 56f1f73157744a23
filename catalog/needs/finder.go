package needs

import "io/fs"

// finder gathers what files ask for.
type finder struct {
	skill fs.FS
	found Needs
}

func (f *finder) list() ([]string, error) { return nil, nil }

func (f *finder) read([]string) {}

func (f *finder) needs() Needs { return f.found }

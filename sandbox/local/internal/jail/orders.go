package jail

import "github.com/skills-mcp/skills-mcp/sandbox/internal/wire"

// Fields implements [wire.Message].
func (s *Setting) Fields(t *wire.Transfer) {
	enclosed := s.Root != nil
	if t.Bool(&enclosed); enclosed {
		if s.Root == nil {
			s.Root = new(Root)
		}
		s.Root.fields(t)
	}
}

// Fields implements [wire.Message].
func (o *Orders) Fields(t *wire.Transfer) {
	t.Strings(&o.Argv)
	t.Strings(&o.Env)
	t.String(&o.Dir)
	wire.Slice(t, &o.Mounts, mountFields(t))
	wire.Slice(t, &o.Shares, func(s *Share) { s.fields(t) })
	wire.Slice(t, &o.Rights.Landlock, func(g *Grant) {
		t.String(&g.Path)
		t.Bool(&g.Write)
		t.Bool(&g.WriteFiles)
		t.Bool(&g.List)
		t.Bool(&g.Exact)
	})
	t.Bool(&o.Rights.Shared)
	wire.Int(t, &o.Rights.User)
	wire.Slice(t, &o.Limits, func(l *Limit) {
		wire.Int(t, &l.Resource)
		wire.Int(t, &l.Value)
	})
	wire.Int(t, &o.Listen)
}

func (r *Root) fields(t *wire.Transfer) {
	wire.Slice(t, &r.Mounts, mountFields(t))
	wire.Slice(t, &r.Files, func(f *File) {
		t.String(&f.Path)
		t.String(&f.Content)
	})
	wire.Slice(t, &r.Links, func(l *Link) {
		t.String(&l.Path)
		t.String(&l.Target)
	})
	wire.Int(t, &r.TmpBytes)
}

func (s *Share) fields(t *wire.Transfer) {
	t.String(&s.Target)
	wire.Slice(t, &s.Layers, mountFields(t))
	changes := s.Changes != nil
	if t.Bool(&changes); changes {
		if s.Changes == nil {
			s.Changes = new(Mount)
		}
		mountFields(t)(s.Changes)
	}
}

func mountFields(t *wire.Transfer) func(*Mount) {
	return func(m *Mount) {
		t.String(&m.Target)
		t.String(&m.Source)
		wire.Int(t, &m.File)
		t.Bool(&m.Dir)
		t.Bool(&m.Writable)
		t.Bool(&m.Private)
		t.Bool(&m.Single)
	}
}

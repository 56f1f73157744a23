package layers

import (
	"os"
	"testing"
)

// Doubt has [Store] compare contents, as where time stamps are too coarse.
func (m *Manifest) Doubt() { m.uncertain = true }

// WriteFile makes a file of that mode, and calls during while it is written.
func WriteFile(t testing.TB, in string, mode uint32, during func()) {
	t.Helper()
	d, err := openDir(in)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	_, err = d.makeFile("file", 0, 0, stamp{mode: mode}, func(*os.File) error { during(); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// keep copies the file that is about to go. A link would not do, since programs
// can write to files in place.
func (w *work) keep(name string) error {
	kept, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return refusal("a copy of it cannot be kept: " + files.Reason(err))
	}
	defer kept.Close()
	if err = unix.IoctlFileClone(int(kept.Fd()), int(w.old.Fd())); err != nil {
		_, err = io.Copy(kept, io.LimitReader(w.old, w.now.Size+1))
	}
	copyAttributes(w.old, kept)
	if err == nil {
		err = kept.Sync()
	}
	if err != nil {
		return refusal("a copy of it cannot be kept: " + files.Reason(err))
	}
	if w.step.Old.Digest == "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.NewSectionReader(w.old, 0, w.now.Size)); err != nil {
			return refuse(err)
		}
		was := *w.step.Old
		was.Digest = files.DigestPrefix + hex.EncodeToString(hash.Sum(nil))
		w.step.Old = &was
	}
	return w.checkOld()
}

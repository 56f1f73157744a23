package files

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// WriteJSON writes a file so that it is the old or the new one whenever this
// process is killed, and, where it is synced, whenever the machine stops.
func WriteJSON(file string, from any, sync bool) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	temp, err := os.OpenFile(file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil && sync {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), file); err != nil || !sync {
		return err
	}
	return SyncDir(filepath.Dir(file))
}

// SyncDir waits until the names in a directory are on the disk.
func SyncDir(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

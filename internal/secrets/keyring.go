package secrets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	system "github.com/zalando/go-keyring"
)

// readKeyring asks the keyring, which may ask the user and cannot be
// interrupted: who waits for it gives up, and the next one joins them.
func readKeyring(text string) (string, error) {
	if !hasBus() {
		return "", &fault{SourceFailed, "there is no session bus on which the keyring could be asked", "Start the server in the session of the user, or name another source."}
	}
	service, account := splitAccount(text)
	value, err := system.Get(service, account)
	switch {
	case errors.Is(err, system.ErrNotFound):
		return "", &fault{NotFound, "the keyring has no such entry", "Add it, as with 'secret-tool store --label=… service SERVICE username ACCOUNT' on Linux."}
	case errors.Is(err, system.ErrUnsupportedPlatform):
		return "", &fault{SourceFailed, "no keyring of this system can be asked", "Name another source."}
	case err != nil:
		return "", &fault{SourceFailed, "the keyring cannot be asked, or is locked", "Unlock it, and try again."}
	}
	return value, nil
}

// hasBus reports whether the keyring can be asked without a bus being started
// for that, on systems where it is on one.
func hasBus() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return err == nil && os.Getenv("XDG_RUNTIME_DIR") != ""
}

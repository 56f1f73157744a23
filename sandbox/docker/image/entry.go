package image

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
)

// ErrEntry means that a program cannot be the entry program of the image.
var ErrEntry = errors.New("cannot be the entry program")

// maxEntryBytes is more than the program has.
const maxEntryBytes = 256 << 20

// machines are the architectures that have an entry program, as Go calls them.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// openEntry opens the entry program for an engine of that architecture: a file, or
// this program itself where none is named.
func openEntry(name, arch string) (*os.File, error) {
	who := name
	if name == "" {
		who = "this program"
		var err error
		if name, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := checkEntry(file, arch); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s %w: %w", who, ErrEntry, err)
	}
	return file, nil
}

// checkEntry reports why a program would not run in an image.
func checkEntry(file io.ReaderAt, arch string) error {
	machine, known := machines[arch]
	if !known {
		return fmt.Errorf("the engine runs %s programs, and there is none for these", arch)
	}
	program, err := elf.NewFile(file)
	if err != nil {
		return fmt.Errorf("it is no program for Linux, but for %s, and containers run linux/%s", runtime.GOOS, arch)
	}
	switch linked := slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }); {
	case program.Machine != machine || program.Type != elf.ET_EXEC && program.Type != elf.ET_DYN:
		return fmt.Errorf("it is for another machine, and the engine runs linux/%s", arch)
	case linked:
		return errors.New("it is linked with the C library of this machine, which the image does not have: programs of CGO_ENABLED=0 are not")
	}
	return nil
}

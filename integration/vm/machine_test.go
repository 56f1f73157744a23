package vm

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// bootPatience bounds the life of a machine that is emulated on a busy one.
const bootPatience = 30 * time.Minute

// processor is what differs between machines of different processors.
type processor struct {
	qemu    string
	console string // of the kernel
	args    []string
}

var processors = map[string]processor{
	"amd64": {qemu: "qemu-system-x86_64", console: "ttyS0"},
	"arm64": {qemu: "qemu-system-aarch64", console: "ttyAMA0", args: []string{"-machine", "virt"}},
}

// imageDir is where the script image puts what a processor boots.
func imageDir(arch string) string { return filepath.Join(".image", arch) }

// machine is what is booted, and what it is to do.
type machine struct {
	arch    string
	root    string   // which root file system and kernel: "root" or "engines"
	script  string   // that of its cases
	payload string   // a tar archive with all that the cases need
	disks   []string // further ones
}

// missing says what is missing to have the machine.
func (m machine) missing() error {
	made, known := processors[m.arch]
	if !known {
		return fmt.Errorf("there is no image for %s", m.arch)
	}
	_, err := exec.LookPath(made.qemu)
	_, imageErr := os.Stat(filepath.Join(imageDir(m.arch), m.root+".made-from"))
	return errors.Join(err, imageErr)
}

// accelerator returns the arguments for the fastest processor there is. Other
// modules than these emulate one inside of the kernel, which takes for ever.
func accelerator(arch string) []string {
	if arch == runtime.GOARCH {
		for _, module := range []string{"kvm_intel", "kvm_amd"} {
			if _, err := os.Stat(filepath.Join("/sys/module", module)); err != nil {
				continue
			}
			if device, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0); err == nil {
				device.Close()
				return []string{"-accel", "kvm", "-cpu", "host"}
			}
		}
	}
	return []string{"-accel", "tcg,thread=multi", "-cpu", "max"}
}

// arguments are QEMU's. The disks stay as they are.
func (m machine) arguments() []string {
	made, image := processors[m.arch], imageDir(m.arch)
	args := append(accelerator(m.arch), made.args...)
	args = append(args, "-m", "2048", "-smp", "2", "-no-reboot",
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio",
		"-kernel", filepath.Join(image, m.root+".vmlinuz"),
		"-append", "console="+made.console+" quiet loglevel=3 panic=-1 root=/dev/nvme0n1 rw init=/sbin/unpack VM_CASES="+m.script)
	// The machine numbers them in this order.
	for id, file := range append([]string{filepath.Join(image, m.root+".ext4"), m.payload}, m.disks...) {
		name := fmt.Sprintf("disk%d", id)
		args = append(args, "-drive", "snapshot=on,format=raw,if=none,id="+name+",file="+file,
			"-device", "nvme,drive="+name+",serial="+name)
	}
	return args
}

// boot runs the machine until it turns itself off, and hands over its console.
func (m machine) boot(ctx context.Context, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	qemu := exec.CommandContext(ctx, processors[m.arch].qemu, m.arguments()...)
	console, err := qemu.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints strings.Builder
	qemu.Stderr = &complaints
	if err := qemu.Start(); err != nil {
		return err
	}
	err = read(console)
	if waitErr := qemu.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w: %s", qemu.Path, waitErr, complaints.String()))
	}
	return err
}

// pack makes the payload of a machine: a tar archive of the scripts, and of
// files that are given by name.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	scripts, err := filepath.Glob("guest/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		files[filepath.Base(script)] = script
	}
	name := filepath.Join(t.TempDir(), "payload.tar")
	archive, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	writer := tar.NewWriter(archive)
	for name, source := range files {
		content, err := os.ReadFile(source)
		if err == nil {
			err = writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
		}
		if err == nil {
			_, err = writer.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(writer.Close(), archive.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

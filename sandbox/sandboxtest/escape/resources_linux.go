package escape

import (
	"os/exec"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

func resources() []Attempt {
	return group("resources", []Attempt{
		{Name: "exceed-processes", Try: exceedProcesses, Limits: sandbox.Limits{Processes: 40}},
		{
			Name: "exceed-memory", Shell: `head -c 400000000 /dev/zero | tail > /dev/null`,
			Limits: sandbox.Limits{MemoryBytes: 200 << 20},
		},
		{
			Name: "exceed-file-size", Shell: `head -c 20000000 /dev/zero > big && test "$(wc -c < big)" = 20000000`,
			Limits: sandbox.Limits{FileBytes: 10 << 20},
		},
		{
			Name: "exceed-open-files", Shell: `i=10; while [ $i -lt 200 ]; do eval "exec $i< /dev/null" || exit 1; i=$((i+1)); done`,
			Limits: sandbox.Limits{OpenFiles: 64},
		},
		{Name: "dump-core", Shell: `ulimit -c unlimited && test "$(ulimit -c)" = unlimited`},
		{Name: "raise-open-files", Shell: `ulimit -Sn "$(ulimit -Hn)" && test "$(ulimit -n)" -gt 1000`, Limits: sandbox.Limits{OpenFiles: 1000}, Rare: true},
	})
}

// exceedProcesses has more processes at once than the limit allows. A shell
// would try for 15 seconds to start the first one beyond.
func exceedProcesses(Victims) error {
	for range 200 {
		one := exec.Command("sleep", "60")
		if err := one.Start(); err != nil {
			return err
		}
		defer one.Wait() // however it ends
		defer one.Process.Kill()
	}
	return nil
}

package cards

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

// harbour is a skill that has something of everything that cards show.
func harbour(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"harbour-report/SKILL.md": `---
name: harbour-report
description: Writes reports on berths, tides and arrivals from the port's CSV files. Use when the user asks for a harbour report or a plan of berths.
license: Apache-2.0
compatibility: needs sh and awk
allowed-tools: Read Bash(scripts/report.sh:*) Bash(scripts/chart.sh:*) berths Write
---
# Harbour report

Run ` + "`scripts/report.sh`" + ` with the name of the port, then tell the user what is held.
`,
		"harbour-report/references/berths.csv": "berth,length m,depth,note\nnorth 1,182.5,9.4,\"fenders new, 2025\"\nnorth 2,140,7.1,\nsouth,96.25,5.8,\"\"\"reserved\"\"\"\n",
		"harbour-report/references/guide.md":   strings.Repeat("Tides are in metres above chart datum; times are local.\n", 2000),
		"harbour-report/assets/plan.png":       string(picture(t)),
		"harbour-report/scripts/report.sh":     report,
		"harbour-report/scripts/fail.sh":       failing,
		"sums/SKILL.md":                        "---\nname: sums\ndescription: Adds up what berths earned in a year.\n---\nRun scripts/fail.sh.\n",
		"sums/scripts/fail.sh":                 failing,
		"harbour-report/tools.json": `{"tools": [{"name": "berths", "description": "Lists the berths that a ship of this length fits.",
			"argv": ["scripts/report.sh", "{length}"], "inputSchema": {"type": "object", "properties": {"length": {"type": "number"}}, "required": ["length"]}}]}`,
	}
}

const failing = `#!/bin/sh
echo 'reading berths.csv'
echo 'line 14: depth is not a number: "9,4 m"' >&2
exit 3
`

const report = `#!/bin/sh
echo "port: $1"
echo 'berths: 3, longest 182.5 m'
mkdir -p docs
printf '# Harbour report\n\nThree berths, one reserved.\n' > docs/report.md
printf 'berth,length\nnorth 1,182.5\nnorth 2,140\nsouth,96\n' > berths.csv
rm old.txt
cp "$SKILL_DIR/assets/plan.png" docs/plan.png
cp "$SKILL_DIR/assets/plan.png" "$WORKSPACE/plan.png"
printf 'ship,arrives\nAurora,06:10\nBoreas,07:45\n' > "$WORKSPACE/arrivals.csv"
`

// project is what the user has.
var project = map[string]string{
	"berths.csv": "berth,length\nnorth,180\nsouth,96\n",
	"old.txt":    "old\n",
	"notes.txt":  "-- a/x\none\n",
}

// picture is a small image that is seen to be one.
func picture(t *testing.T) []byte {
	t.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, 240, 120))
	for x := range 240 {
		for y := range 120 {
			drawn.Set(x, y, color.RGBA{uint8(40 + x/2), uint8(110 + y/2), 190, 255})
		}
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, drawn); err != nil {
		t.Fatal(err)
	}
	return encoded.Bytes()
}

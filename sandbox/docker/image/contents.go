package image

import (
	"fmt"
	"slices"
	"strings"
)

// Contents are what an image has for programs.
type Contents string

// Each of these has what the one before it has, too.
const (
	// Slim has a shell, Python, git, make, curl and jq.
	Slim Contents = "slim"
	// Full has Node.js, and the Python packages that skills expect which were
	// written for Anthropic's environment.
	Full Contents = "full"
	// Office has what reads, writes and converts documents.
	Office Contents = "office"
)

// packages are those of Debian and Ubuntu, in their names, and of Python.
var packages = []struct {
	contents       Contents
	system, python []string
}{
	{Slim, words("bash ca-certificates curl git jq make python3 python-is-python3"), nil},
	{
		Full, words("nodejs npm poppler-utils python3-pip python3-venv qpdf wget"),
		words("beautifulsoup4 img2pdf matplotlib numpy openpyxl pandas pdf2image pdfkit pdfplumber pillow pyarrow pypdf pypdfium2",
			"python-docx python-pptx pyyaml reportlab requests tabula-py xlrd xlsxwriter"),
	},
	{
		Office, words("libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-writer-nogui pandoc tesseract-ocr",
			// The fonts that office programs name, by others of the same widths, and all scripts.
			"fonts-crosextra-caladea fonts-crosextra-carlito fonts-dejavu-core fonts-droid-fallback fonts-liberation fonts-noto-color-emoji fonts-noto-core"),
		words("defusedxml lxml markitdown[docx,pdf,pptx,xls,xlsx] odfpy pytesseract"),
	},
}

func words(lists ...string) []string { return strings.Fields(strings.Join(lists, " ")) }

// lists returns what is to be installed.
func (c Contents) lists() (system, python []string, err error) {
	for _, each := range packages {
		system, python = append(system, each.system...), append(python, each.python...)
		if each.contents == c {
			slices.Sort(system)
			slices.Sort(python)
			return system, python, nil
		}
	}
	return nil, nil, fmt.Errorf("there are no contents %q", string(c))
}

package integration

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

const documentSkill = `---
name: documents
description: Writes a letter and a table, and converts them.
---
Run scripts/convert.py.
`

// convert makes documents as skills do, and has the image's programs read them.
const convert = `import subprocess
import docx, openpyxl, pdfplumber, pptx

def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

letter = docx.Document()
letter.add_heading("Quarterly report", 0)
letter.add_paragraph("Revenue grew in Zürich.")
letter.save("letter.docx")
run("soffice", "--headless", "--convert-to", "pdf", "letter.docx")
print("pdf:", run("pdftotext", "letter.pdf", "-"))
print("pages:", len(pdfplumber.open("letter.pdf").pages))
book = openpyxl.Workbook()
book.active.append([40, 2, "=A1+B1"])
book.save("book.xlsx")
run("soffice", "--headless", "--convert-to", "csv", "book.xlsx")
print("csv:", open("book.csv").read())
slides = pptx.Presentation()
slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "A slide"
slides.save("talk.pptx")
print("slide:", run("markitdown", "talk.pptx"))
print("pandoc:", run("pandoc", "letter.docx", "--to", "plain"))
run("pdftoppm", "-r", "150", "-png", "-singlefile", "letter.pdf", "page")
print("ocr:", run("tesseract", "page.png", "-"))
`

// A skill that works on documents needs nothing but the image with what does.
func TestDocumentsAreConverted(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "starts LibreOffice")
	require(t, "office")
	root := t.TempDir()
	writeFile(t, root+"/documents/SKILL.md", documentSkill)
	writeFile(t, root+"/documents/scripts/convert.py", convert)
	w := dial(t, program.Home(t), "--sandbox=docker", "--docker-image="+officeImage, "--project=off", root)
	w.handshake(t)
	result := w.callTool(t, "exec", map[string]any{"name": "documents", "script": "scripts/convert.py", "timeoutMs": 300_000})
	text := result.text()
	if result.IsError {
		t.Fatal(text)
	}
	for _, want := range []string{"pdf: Quarterly report", "Revenue grew in Zürich.", "pages: 1", "csv: 40,2,42", "A slide", "pandoc: ", "ocr: Quarterly report", "letter.pdf ("} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
}

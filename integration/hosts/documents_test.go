package hosts

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// formPDF returns a PDF form of one page, with a field for text, a checkbox and
// a choice.
func formPDF() string {
	var pdf strings.Builder
	pdf.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	objects := []string{
		"<</Type /Catalog /Pages 2 0 R /AcroForm <</Fields [4 0 R 5 0 R 6 0 R] /DA (/Helv 11 Tf 0 g) /DR <</Font <</Helv 7 0 R>>>>>>>>",
		"<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Annots [4 0 R 5 0 R 6 0 R]>>",
		"<</Type /Annot /Subtype /Widget /FT /Tx /Ff 2 /T (skipper \\(full name\\)) /DA (/Helv 11 Tf 0 g) /Rect [20 150 300 170] /P 3 0 R>>",
		"<</Type /Annot /Subtype /Widget /FT /Btn /T (member) /V /Off /AS /Off /AP <</N <</On 8 0 R /Off 8 0 R>>>> /Rect [20 110 36 126] /P 3 0 R>>",
		"<</Type /Annot /Subtype /Widget /FT /Ch /T <6265727468> /Opt [(North pier) (South pier)] /DA (/Helv 11 Tf 0 g) /Rect [20 70 300 90] /P 3 0 R>>",
		"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
		"<</Type /XObject /Subtype /Form /BBox [0 0 16 16] /Length 0>>\nstream\n\nendstream",
	}
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = pdf.Len()
		fmt.Fprintf(&pdf, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := pdf.Len()
	fmt.Fprintf(&pdf, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&pdf, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&pdf, "trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return pdf.String()
}

const (
	sheetPart = "xl/worksheets/sheet1.xml"
	stylePart = "xl/styles.xml"
)

// workbook returns a spreadsheet of one sheet, whose cell B4 adds up two others,
// of which B2 has a format.
func workbook(t *testing.T) string {
	t.Helper()
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	const content = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	parts := []struct{ name, text string }{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="` + content + `sheet.main+xml"/>` +
			`<Override PartName="/xl/styles.xml" ContentType="` + content + `styles+xml"/>` +
			`<Override PartName="/xl/sharedStrings.xml" ContentType="` + content + `sharedStrings+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + content + `worksheet+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="` + relations + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook ` + main + ` xmlns:r="` + relations + `"><sheets><sheet name="Dues" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="rId1" Type="` + relations + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="` + relations + `/sharedStrings" Target="sharedStrings.xml"/>` +
			`<Relationship Id="rId3" Type="` + relations + `/styles" Target="styles.xml"/></Relationships>`},
		{"xl/sharedStrings.xml", `<sst ` + main + ` count="2" uniqueCount="2"><si><t>North pier</t></si><si><t>South pier</t></si></sst>`},
		{stylePart, `<styleSheet ` + main + `><fonts count="1"><font><sz val="11"/></font></fonts>` +
			`<fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders>` +
			`<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf xfId="0"/><xf numFmtId="2" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`},
		{sheetPart, `<worksheet ` + main + `><sheetData>` +
			`<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" s="1"><v>120</v></c></row>` +
			`<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>80.5</v></c></row>` +
			`<row r="4"><c r="B4"><f>SUM(B2:B3)</f><v>200.5</v></c></row></sheetData></worksheet>`},
	}
	var book bytes.Buffer
	archive := zip.NewWriter(&book)
	for _, part := range parts {
		w, err := archive.Create(part.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, head+part.text)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return book.String()
}

// partOf returns a part of a workbook.
func partOf(t *testing.T, book, name string) string {
	t.Helper()
	archive, err := zip.NewReader(strings.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

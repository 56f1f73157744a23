package frontmatter

import (
	"maps"
	"slices"
)

// forms are pieces of YAML, one for each thing that the grammar allows or
// nearly allows. Each is a document after name and description.
var forms = slices.Concat(
	plainForms, quotedForms, commentForms, anchorForms, blockForms, keyForms,
	explicitForms, flowForms, streamForms, characterForms, escapeForms)

// formDocuments returns each form and each whole document.
func formDocuments() []document {
	var documents []document
	for _, form := range forms {
		documents = append(documents, document{origin: "form", yaml: header + form})
	}
	for _, whole := range slices.Concat(wholes, directives) {
		documents = append(documents, document{origin: "whole document", yaml: whole})
	}
	for _, form := range slices.Sorted(maps.Keys(forgiven)) {
		documents = append(documents, document{origin: "forgiven", yaml: header + form, means: header + forgiven[form]})
	}
	for _, stream := range slices.Sorted(maps.Keys(streams)) {
		documents = append(documents, document{origin: "stream", yaml: stream, means: streams[stream]})
	}
	for _, form := range slices.Sorted(maps.Keys(limits)) {
		documents = append(documents, document{origin: "limit: " + limits[form], yaml: header + form, limit: limits[form]})
	}
	return documents
}

// wholes are documents that leave no room for name and description in front.
var wholes = []string{
	"{name: @@, description: d}\n", "{name: @@, description: d, k: [a, {b: c}]}\n",
	"{\n  \"name\": \"@@\",\n  \"description\": \"d\",\n  \"k\": {\"a\":1,\"b\":[true,null]}\n}\n",
	"{name: @@, description: d} # c\n", "{name: @@, description: d,\nk: a\n}\n",
	"{name: @@, description: d}\nk: v\n", "{? name : @@, ? description : d}\n",
	"? name\n: @@\n? description\n: d\n", "'name': @@\n\"description\": d\n", " name: @@\n description: d\n",
	"  name: @@\n  description: d\n  k:\n    - a\n", "\nname: @@\ndescription: d\n",
	"# a\n\n# b\nname: @@\n\n# c\ndescription: d\n", "!!map\nname: @@\ndescription: d\n",
	"&a\nname: @@\ndescription: d\n", "!custom\nname: @@\ndescription: d\n",
	"!!map {name: @@, description: d}\n", "name: &a @@\ndescription: *a\n",
	"name: !!str @@\ndescription: !!str d\n", "name: |-\n  @@\ndescription: >\n  a\n  b\n",
	"name: \"@@\"\ndescription: 'd'\n", "name: @@\ndescription: a\n  b\n\n  c\n",
	"name: @@ # n\ndescription: d # d\n", "name: @@\r\ndescription: d\r\n",
	"name: @@\ndescription: >-\n  a\n\n  b\n   c\n", "--- # a\nname: @@\ndescription: d\n",
	"--- # a\n--- # b\nname: @@\ndescription: d\n",
	"# a\n--- # b\nname: @@\ndescription: d\n...\n", "--- {name: @@, description: d}\n",
	"--- !!map {name: @@, description: d}\n", "--- &a {name: @@, description: d}\n", "---\tname: @@\n",
	"\ufeffname: @@\ndescription: d\n", "\ufeff# a\nname: @@\ndescription: d\n",
	"\ufeff{name: @@, description: d}\n", "name: @@\ndescription: d\n\ufeff\n", "description: d\nname: @@\n",
	"k: &a d\nname: @@\ndescription: *a\n", "name: @@\n\"description\": d\nk: {\"name\": x}\n",
}

// directives are documents with lines before them that say how to read them.
var directives = []string{
	"%YAML 2.0\n--- # a\nname: @@\ndescription: d\n",
	"%TAG !e! tag:example.org,2024:\n--- # a\nname: @@\ndescription: d\nk: !e!x a\n",
	"%TAG ! tag:example.org,2024:\n--- # a\nname: @@\ndescription: d\nk: !x a\n",
	"%TAG !y! tag:yaml.org,2002:\n--- # a\nname: @@\ndescription: d\nk: !y!str 12\n",
	"%YAML 1.2\n%YAML 1.2\n--- # a\nname: @@\ndescription: d\n",
	"%YAML 1.2\nname: @@\ndescription: d\n",
}

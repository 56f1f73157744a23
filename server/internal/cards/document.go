package cards

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"strings"
	"sync"
)

// parts holds what the documents are made of: the style, the script that speaks with
// the host, those that all cards share, and one for each card.
//
//go:embed *.css *.js
var parts embed.FS

// shared are the scripts of all cards, in their order.
var shared = []string{"host", "text", "parts", "table", "diff", "files", "held"}

// documents are the cards' documents, made when the first is asked for.
var documents = sync.OnceValue(func() map[Card]string {
	made := map[Card]string{}
	for _, of := range described {
		made[of.card] = document(of.title, source("style.css"), script(of.card))
	}
	return made
})

// script returns all of a card's script, the last of which begins.
func script(card Card) string {
	all := "\"use strict\";\n"
	for _, name := range append(append([]string{}, shared...), string(card)) {
		all += source(name + ".js")
	}
	return all + "begin(render);\n"
}

// source returns one of our own files, which are there.
func source(name string) string {
	text, err := parts.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// document returns a document that may run this script, have this style and show
// images that are part of it, and nothing else: neither load nor send anything,
// nor have text become markup, whatever policy the host has besides.
func document(title, style, script string) string {
	policy := strings.Join([]string{
		"default-src 'none'", "script-src " + hash(script), "style-src " + hash(style), "img-src data:",
		"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; ")
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>` + html.EscapeString(title) + `</title>
<style>` + style + `</style>
</head>
<body>
<main id="card"></main>
<script>` + script + `</script>
</body>
</html>
`
}

// hash is by what a policy names a text that is within the document.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

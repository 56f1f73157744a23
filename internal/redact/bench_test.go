package redact_test

import (
	"io"
	"strings"
	"testing"
)

func BenchmarkBytes(b *testing.B) {
	texts := map[string]string{
		"text":   strings.Repeat("The quick brown fox jumps over the lazy dog, 12 times.\n", 20_000),
		"JSON":   strings.Repeat(`{"key":"a \"quoted\" value\n","n":[1,2,3]},`, 20_000),
		"base64": strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 30_000),
	}
	for name, text := range texts {
		for _, values := range []struct {
			name string
			set  func() []string
		}{{"none", func() []string { return nil }}, {"one", func() []string { return []string{"sk-live-4f9a8b7c6d5e"} }}, {"many", func() []string {
			var all []string
			for i := range 100 {
				all = append(all, strings.Repeat(string(rune('a'+i%26)), 3)+"-live-4f9a8b7c6d5e"+strings.Repeat("x", i))
			}
			return all
		}}} {
			b.Run(name+"/"+values.name, func(b *testing.B) {
				set := setOf(values.set()...)
				whole := []byte(text)
				b.SetBytes(int64(len(whole)))
				for b.Loop() {
					set.Bytes(whole)
				}
			})
		}
	}
	b.Run("writer", func(b *testing.B) {
		set := setOf("sk-live-4f9a8b7c6d5e")
		b.SetBytes(int64(len(texts["text"])))
		for b.Loop() {
			w := set.Writer(io.Discard)
			_, _ = io.WriteString(w, texts["text"])
			_ = w.Close()
		}
	})
}

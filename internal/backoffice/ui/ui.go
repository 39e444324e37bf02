// Package ui has the files that every page of the back office loads: its style sheet, its
// script, its icons, and htmx with its extension for server-sent events. They are part of the
// program. The name of each carries the hash of its content, so browsers may keep it for a
// year and still get a new one at once.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// Prefix begins the path of every file.
const Prefix = "/office/static/"

//go:embed files
var embedded embed.FS

// types are the media types of the files.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// contents are the files that are served, with the embedded ones that they are made of. htmx and
// its extension are one file: as two, htmx may look at the page before it knows the extension.
var contents = map[string][]string{
	"office.css": {"office.css"},
	"office.js":  {"office.js"},
	"live.js":    {"htmx.js", "hx-sse.js"},
	"icons.svg":  {"icons.svg"},
	"mark.svg":   {"mark.svg"},
}

type file struct {
	path    string // with the hash
	content []byte
	mime    string
}

// byName has the files by their plain names, byPath by the paths that pages use.
var byName, byPath = read()

func read() (names, paths map[string]file) {
	names, paths = map[string]file{}, map[string]file{}
	for name, parts := range contents {
		var content []byte
		for _, part := range parts {
			text, err := embedded.ReadFile("files/" + part)
			if err != nil {
				panic(err) // they are embedded
			}
			content = append(append(content, text...), '\n')
		}
		extension := path.Ext(name)
		if extension == ".css" {
			content = tight(content)
		}
		sum := sha256.Sum256(content)
		f := file{path: Prefix + strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:8]) + extension,
			content: content, mime: types[extension]}
		names[name], paths[f.path] = f, f
	}
	return names, paths
}

var (
	remarks = regexp.MustCompile(`(?s)/\*.*?\*/`)
	room    = regexp.MustCompile(`\s*([{};,>])\s*|(:)\s+`)
)

// tight is a style sheet without its comments and the room around its marks. No text in the
// sheet has one of these marks in it.
func tight(css []byte) []byte {
	return bytes.ReplaceAll(room.ReplaceAll(remarks.ReplaceAll(css, nil), []byte("$1$2")), []byte(";}"), []byte("}"))
}

// Path is the path of a file for a page: "office.css" is at /office/static/office.HASH.css. A
// name that no file has is a bug, so it panics.
func Path(name string) string {
	f, ok := byName[name]
	if !ok {
		panic("no file " + name)
	}
	return f.path
}

// Serve answers with the file of a path; it reports false if there is none, and has then
// answered nothing.
func Serve(w http.ResponseWriter, r *http.Request) bool {
	f, ok := byPath[r.URL.Path]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	return true
}

// Package ui has the files that every page of the back office loads: its style sheet, its
// script, its icons, and htmx with its extension for server-sent events. They are part of the
// program.
package ui

import (
	"embed"
	"net/http"

	"purveyor/internal/web"
)

// Prefix begins the path of every file.
const Prefix = "/office/static/"

//go:embed files
var embedded embed.FS

// contents are the files that are served, with the embedded ones that they are made of. htmx and
// its extension are one file: as two, htmx may look at the page before it knows the extension.
var contents = map[string][]string{
	"office.css": {"files/office.css"},
	"office.js":  {"files/office.js"},
	"live.js":    {"files/htmx.js", "files/hx-sse.js"},
	"icons.svg":  {"files/icons.svg"},
	"mark.svg":   {"files/mark.svg"},
}

var files = web.NewFiles(Prefix, embedded, contents)

// Path is the path of a file for a page: "office.css" is at /office/static/office.HASH.css. A
// name that no file has is a bug, so it panics.
func Path(name string) string { return files.Path(name) }

// Serve answers with the file of a path; it reports false if there is none, and has then
// answered nothing.
func Serve(w http.ResponseWriter, r *http.Request) bool { return files.Serve(w, r) }

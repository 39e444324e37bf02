package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// Files are what the pages of a front load: style sheets, scripts and pictures. The path of
// each carries the hash of its content, so browsers may keep a file for a year and still get
// a new one at once.
type Files struct{ byName, byPath map[string]file }

type file struct {
	path    string // with the hash
	content []byte
	mime    string
}

// fileTypes are the media types of files.
var fileTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// NewFiles reads the parts of each file. Paths begin with the prefix, which ends in a slash.
// A part that cannot be read is a bug, since parts are embedded, so NewFiles panics.
func NewFiles(prefix string, parts fs.FS, files map[string][]string) Files {
	f := Files{map[string]file{}, map[string]file{}}
	for name, list := range files {
		var content []byte
		for _, part := range list {
			text, err := fs.ReadFile(parts, part)
			if err != nil {
				panic(err)
			}
			content = append(append(content, text...), '\n')
		}
		extension := path.Ext(name)
		if extension == ".css" {
			content = tight(content)
		}
		sum := sha256.Sum256(content)
		made := file{path: prefix + strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:8]) + extension,
			content: content, mime: fileTypes[extension]}
		f.byName[name], f.byPath[made.path] = made, made
	}
	return f
}

var (
	remarks = regexp.MustCompile(`(?s)/\*.*?\*/`)
	room    = regexp.MustCompile(`\s*([{};,>])\s*|(:)\s+`)
)

// tight returns a style sheet without its comments and the room around its marks. No text in
// the sheets has one of these marks in it.
func tight(css []byte) []byte {
	return bytes.ReplaceAll(room.ReplaceAll(remarks.ReplaceAll(css, nil), []byte("$1$2")), []byte(";}"), []byte("}"))
}

// Path returns the path of a file for a page: "office.css" is at PREFIX/office.HASH.css. A
// name that no file has is a bug, so Path panics.
func (f Files) Path(name string) string { return f.named(name).path }

// Content returns what a file has in it.
func (f Files) Content(name string) []byte { return f.named(name).content }

func (f Files) named(name string) file {
	found, ok := f.byName[name]
	if !ok {
		panic("no file " + name)
	}
	return found
}

// Serve answers with the file of a path; it reports false if there is none, and has then
// answered nothing.
func (f Files) Serve(w http.ResponseWriter, r *http.Request) bool {
	found, ok := f.byPath[r.URL.Path]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", found.mime)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.content))
	return true
}

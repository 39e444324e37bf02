package devdocs

import (
	"embed"

	"purveyor/internal/web"
)

//go:embed files
var embedded embed.FS

// files are the style sheet, the script and the picture of all pages.
var files = web.NewFiles(Prefix+"/static/", embedded, map[string][]string{
	"docs.css": {"files/docs.css"},
	"docs.js":  {"files/docs.js"},
	"mark.svg": {"files/mark.svg"},
})

// Package demo holds the catalog of `purveyor demo`: a small grocery chain with
// stores in three cities, and pictures of its products. Everything is embedded, so
// the demo needs no network.
package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// imagePath is where Images serves the pictures. Every image in catalog.json begins
// with it.
const imagePath = "/demo/images/"

//go:embed catalog.json
var catalogJSON []byte

//go:embed images/*.svg
var imageFiles embed.FS

// Catalog returns the demo catalog as an import file, with the image paths
// made absolute below baseURL, for example "http://localhost:8080".
func Catalog(baseURL string) ([]byte, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("demo catalog: base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("demo catalog: base URL %q is not a plain http(s) URL", baseURL)
	}
	prefix, err := json.Marshal(strings.TrimRight(baseURL, "/") + imagePath)
	if err != nil {
		return nil, fmt.Errorf("demo catalog: %w", err)
	}
	// Only image paths begin with imagePath, so a replacement in the text is enough,
	// and leaves the rest of the file unchanged.
	prefix = bytes.TrimSuffix(prefix, []byte(`"`))
	return bytes.ReplaceAll(catalogJSON, []byte(`"`+imagePath), prefix), nil
}

// Images serves GET /demo/images/{file}.
func Images() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+imagePath+"{file}", serveImage)
	return mux
}

func serveImage(w http.ResponseWriter, r *http.Request) {
	image, err := imageFiles.ReadFile("images/" + r.PathValue("file"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	// An SVG that is opened by itself is a document: it may use styles, and nothing
	// else.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=3600")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image))
}

package api

import (
	_ "embed"
	"net/http"
)

// OpenAPI is the description of the API. Tests keep it true.
//
//go:embed openapi.yaml
var OpenAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(OpenAPI) // the caller has gone
}

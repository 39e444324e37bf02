package devdocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// page is a page that is made once. It is kept compressed, as browsers ask for it; other
// clients get it unpacked.
type page struct {
	kind string // the media type
	made func() packed
}

type packed struct {
	etag string
	gzip []byte
	size int // unpacked
}

func newPage(kind string, text func() []byte) *page {
	return &page{kind, sync.OnceValue(func() packed { return pack(text()) })}
}

func pack(text []byte) packed {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	sum := sha256.Sum256(text)
	return packed{etag: `W/"` + hex.EncodeToString(sum[:12]) + `"`, gzip: b.Bytes(), size: len(text)}
}

// serve answers with the page. Browsers keep it and ask whether it is still the same.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	made := p.made()
	h := w.Header()
	h.Set("ETag", made.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	if same(r.Header.Get("If-None-Match"), made.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.kind)
	unpacked := !takesGzip(r.Header.Values("Accept-Encoding"))
	length := made.size
	if !unpacked {
		h.Set("Content-Encoding", "gzip")
		length = len(made.gzip)
	}
	h.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if !unpacked {
		_, _ = w.Write(made.gzip) // an error means that the browser has gone
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(made.gzip))
	if err != nil {
		panic(err) // pack has made it
	}
	_, _ = io.Copy(w, z) // as above
}

// same reports whether a browser has the page already. Tags are compared without the mark of
// a weak one.
func same(header, etag string) bool {
	for given := range strings.SplitSeq(header, ",") {
		if given = strings.TrimSpace(given); given == "*" || strings.TrimPrefix(given, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// takesGzip reports whether a client takes compressed answers.
func takesGzip(headers []string) bool {
	for _, header := range headers {
		for coding := range strings.SplitSeq(header, ",") {
			name, quality, _ := strings.Cut(coding, ";")
			if q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(quality), "q="), 64); err == nil && q == 0 {
				continue
			}
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return true
			}
		}
	}
	return false
}

package faultproxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// Action is what an HTTP proxy does with a request.
type Action string

const (
	Pass   Action = ""       // it is forwarded and answered
	Drop   Action = "drop"   // the connection is cut, and the service never sees the request
	Lose   Action = "lose"   // the service answers, and the connection is cut in place of the answer
	Hold   Action = "hold"   // the service answers, and the client waits until it gives up
	Twice  Action = "twice"  // the service gets it two times, one after the other; the second answer counts
	Answer Action = "answer" // the proxy answers, and the service never sees the request
)

// Step is what happens to one request.
type Step struct {
	Action Action
	Status int // of Answer
	Header map[string]string
	Body   []byte

	// Edit changes the body of the service's answer; nil: it stays.
	Edit func([]byte) []byte

	// CutAt cuts the connection before the first of these bytes in the service's answer.
	CutAt string
}

// HTTP is a proxy that sees requests, and breaks those that it is told to. Its methods may be
// called concurrently.
type HTTP struct {
	target   string
	listener net.Listener
	server   *http.Server
	client   *http.Transport

	mu    sync.Mutex
	keeps bool
	steps []Step
	seen  []*http.Request
}

// NewHTTP starts a proxy to the service at a TCP address.
func NewHTTP(target string) (*HTTP, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &HTTP{target: target, listener: l, client: &http.Transport{DisableCompression: true}}
	p.server = &http.Server{Handler: p}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// URL returns the base URL of the proxy.
func (p *HTTP) URL() string { return "http://" + p.listener.Addr().String() }

// Close cuts every connection and accepts no new ones.
func (p *HTTP) Close() error {
	err := p.server.Close()
	p.client.CloseIdleConnections()
	return err
}

// Script says what happens to the next requests, one after the other. Later ones pass. It
// forgets the requests that were seen.
func (p *HTTP) Script(steps ...Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps, p.seen = steps, nil
}

// Seen returns the requests since the last script, in the order in which they came, without
// their bodies. left is how many steps of the script no request has met.
func (p *HTTP) Seen() (requests []*http.Request, left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*http.Request(nil), p.seen...), len(p.steps)
}

// KeepConnections says whether connections carry several requests. Some clients send a request
// again by themselves when a connection breaks that they have used before, so they carry one
// at first.
func (p *HTTP) KeepConnections(keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keeps = keep
}

func (p *HTTP) next(r *http.Request) (s Step, keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r.Clone(context.WithoutCancel(r.Context())))
	if len(p.steps) > 0 {
		s, p.steps = p.steps[0], p.steps[1:]
	}
	return s, p.keeps
}

func (p *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s, keep := p.next(r)
	if !keep {
		w.Header().Set("Connection", "close")
	}
	switch s.Action {
	case Drop:
		panic(http.ErrAbortHandler)
	case Answer:
		for name, value := range s.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(s.Status)
		_, _ = w.Write(s.Body) // the client has gone
		return
	case Twice, Lose, Hold:
		_ = p.forward(r, body, func(response *http.Response) error { // the client learns nothing of it
			_, err := io.Copy(io.Discard, response.Body)
			return err
		})
		if s.Action == Hold {
			<-r.Context().Done()
		}
		if s.Action != Twice {
			panic(http.ErrAbortHandler)
		}
	}
	if err := p.forward(r, body, func(response *http.Response) error { return s.answer(w, response) }); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// forward sends a request to the service. It goes on if the client has gone.
func (p *HTTP) forward(r *http.Request, body []byte, answered func(*http.Response) error) error {
	request := r.Clone(context.WithoutCancel(r.Context()))
	request.URL.Scheme, request.URL.Host = "http", p.target
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	request.RequestURI = ""
	response, err := p.client.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return answered(response)
}

// answer writes the service's answer to the client.
func (s Step) answer(w http.ResponseWriter, response *http.Response) error {
	body := io.Reader(response.Body)
	if s.Edit != nil {
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(s.Edit(text))
		response.Header.Del("Content-Length")
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	return s.copy(w, body)
}

// copy writes a body as it comes, and fails where it is to be cut.
func (s Step) copy(w http.ResponseWriter, body io.Reader) error {
	var before []byte
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		part := append(before, buffer[:n]...)
		cut := -1
		if s.CutAt != "" {
			cut = bytes.Index(part, []byte(s.CutAt))
		}
		if cut >= 0 {
			_, _ = w.Write(part[:cut]) // it is cut anyway
			_ = http.NewResponseController(w).Flush()
			return io.ErrUnexpectedEOF
		}
		keep := min(len(part), max(0, len(s.CutAt)-1))
		if err != nil {
			keep = 0
		}
		if _, err := w.Write(part[:len(part)-keep]); err != nil {
			return err
		}
		_ = http.NewResponseController(w).Flush() // a stream is followed as it comes
		before = bytes.Clone(part[len(part)-keep:])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"purveyor/bench/internal/load"
)

// The baseline: net/http's client in a process of its own, which posts what the
// service has sent, as it was signed.

// posting is the hidden command "post".
type posting struct {
	URL, File   string
	Connections int
	// Rate is how many a second, again and again, for so long; 0: each once, as
	// fast as can be.
	Rate float64
	For  time.Duration
}

// start runs the posting in its process, and waits.
func (w *webhooks) start(posts []post, p posting) error {
	p.URL, p.File = w.sink.url, filepath.Join(w.Work, "posts")
	f, err := os.Create(p.File)
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(f).Encode(posts), f.Close()); err != nil {
		return err
	}
	args, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = load.Output(w.Ctx, w.Self, "post", string(args))
	return err
}

func (p posting) run(ctx context.Context) error {
	f, err := os.Open(p.File)
	if err != nil {
		return err
	}
	var posts []post
	if err := errors.Join(gob.NewDecoder(f).Decode(&posts), f.Close()); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: p.Connections, DisableCompression: true}}
	began := time.Now()
	errs := make([]error, p.Connections)
	var group sync.WaitGroup
	for worker := range p.Connections {
		group.Go(func() {
			for i := worker; errs[worker] == nil; i += p.Connections {
				due := began
				if p.Rate > 0 {
					due = began.Add(time.Duration(float64(i) / p.Rate * float64(time.Second)))
				}
				if p.Rate == 0 && i >= len(posts) || due.After(began.Add(p.For)) {
					return
				}
				time.Sleep(time.Until(due))
				errs[worker] = posts[i%len(posts)].send(ctx, client, p.URL)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func (p post) send(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(p.Body))
	if err != nil {
		return err
	}
	request.Header = p.Header.Clone() // a post may be sent on two connections at a time
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	return errors.Join(err, response.Body.Close())
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"purveyor/bench/internal/load"
)

// webhooks is one run: everything that is measured against each other.
type webhooks struct {
	*load.Env
	sizes
	profiles  string // folder for CPU profiles; empty: none
	databases *load.Databases
	sink      *sink
	list      []*contender
}

// contender is a database. The service runs on it only while it is measured.
type contender struct {
	name      string
	data      *load.Dataset
	receivers []load.Receiver
	empty     *contender // what a full one is compared with; else nil
}

func (w *webhooks) open(full bool) (err error) {
	if w.sink, err = openSink(); err != nil {
		return err
	}
	if w.databases, err = w.OpenDatabases(); err != nil {
		return err
	}
	for _, engine := range []string{load.SQLite, load.Postgres} {
		if err := w.addEngine(engine, full); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

func (w *webhooks) addEngine(engine string, full bool) error {
	d, err := w.databases.Empty(engine, w.empty)
	if err != nil {
		return err
	}
	empty, err := w.add(&contender{name: engine, data: d})
	if err != nil || !full {
		return err
	}
	fmt.Fprintf(os.Stderr, "preparing %s with %s\n", engine, w.full.Record())
	if d, err = w.databases.Full(engine, fmt.Sprintf("webhooks-%s-%d", engine, w.full.Events), w.full); err != nil {
		return err
	}
	_, err = w.add(&contender{name: engine + " full", data: d, empty: empty})
	return err
}

func (w *webhooks) add(c *contender) (*contender, error) {
	var err error
	c.receivers, err = w.AddReceivers(c.data.URL, w.sink.url)
	w.list = append(w.list, c)
	return c, err
}

func (w *webhooks) close() error {
	var err error
	if w.sink != nil {
		err = w.sink.close()
	}
	if w.databases != nil {
		err = errors.Join(err, w.databases.Close())
	}
	return err
}

// serve starts the service on a database.
func (w *webhooks) serve(c *contender, title string) (*load.Service, error) {
	if w.profiles == "" {
		s, _, err := w.Serve("serve", "info", c.data, "--allow-private-webhooks")
		return s, err
	}
	name := strings.ReplaceAll(title+"-"+c.name, " ", "-") + ".pprof"
	p, err := w.StartSelf("profiled", c.data.URL, filepath.Join(w.profiles, name))
	return &load.Service{Process: p, Data: c.data}, err
}

// with runs f beside a service on a database.
func (w *webhooks) with(c *contender, title string, f func(*load.Service) (load.Measurement, error)) (m load.Measurement, err error) {
	s, err := w.serve(c, title)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	return f(s)
}

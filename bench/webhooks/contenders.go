package main

import (
	"errors"
	"fmt"
	"os"

	"purveyor/bench/internal/load"
)

// webhooks is one run: everything that is measured against each other.
type webhooks struct {
	*load.Env
	sizes
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

// with runs f beside a service on a database.
func (w *webhooks) with(c *contender, title string, f func(*load.Service) (load.Measurement, error)) (load.Measurement, error) {
	return w.With(c.data, title+" "+c.name, f, "--allow-private-webhooks")
}

package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// Kind is what a result is about.
type Kind string

// The kinds.
const (
	OfBackup  Kind = "backup"
	OfReplica Kind = "replica" // a copy that something else made, and `backup verify` has checked
)

// Kinds are all of them.
var Kinds = []Kind{OfBackup, OfReplica}

// Result is how the last attempt of a kind ended. A folder has one of each kind at most.
type Result struct {
	Kind    Kind      `json:"kind"`
	OK      bool      `json:"ok"`
	EndedOn time.Time `json:"ended_on"`
	// GoodOn is when the newest sound copy was up to date. Zero: there was none.
	GoodOn time.Time `json:"good_on,omitzero"`
	File   string    `json:"file,omitzero"`  // of that copy
	Error  string    `json:"error,omitzero"` // why the last attempt has failed
}

func resultFile(dir string, kind Kind) string {
	return filepath.Join(dir, "last-"+string(kind)+".json")
}

// ReadResult reads the result of a kind; nil: there is none.
func ReadResult(dir string, kind Kind) (*Result, error) {
	name := resultFile(dir, kind)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Record writes how an attempt ended: failed is nil for one that left a sound copy. A failed one
// keeps what is known of the copy before it.
func Record(dir string, r Result, failed error) error {
	r.OK = failed == nil
	if failed != nil {
		r.Error, r.GoodOn, r.File = failed.Error(), time.Time{}, ""
		before, err := ReadResult(dir, r.Kind)
		if err == nil && before != nil {
			r.GoodOn, r.File = before.GoodOn, before.File
		}
	}
	data, err := encode(r)
	if err != nil {
		return err
	}
	return WriteFile(resultFile(dir, r.Kind), data)
}

// WriteFile writes a file that only its owner can read, and that is there whole or not at all.
func WriteFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

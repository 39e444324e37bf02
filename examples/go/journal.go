package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// journal is a database in one file: each change is a line of JSON that is on the disk before
// append returns. What the lines say together is the state.
type journal struct{ file *os.File }

// openJournal reads the lines of a file, which it makes if there is none. A last line that is
// not whole was being written when the program died; its change was not made.
func openJournal(path string, line func([]byte) error) (*journal, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for one := range bytes.Lines(whole) {
		if err := line(one); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, one, err)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file}, file.Truncate(int64(len(whole)))
}

// append writes a change. After an error the program must end, since it is unknown what the disk
// has. It begins again with what is there.
func (j *journal) append(change any) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

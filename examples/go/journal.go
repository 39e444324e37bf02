package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// journal is a database in one file: each change is a line of JSON that is on the disk before
// append returns. What the lines say together is the state.
type journal struct{ file *os.File }

// openJournal reads the lines of a file, which it makes if there is none. A last line that is
// not whole was being written when the program died; its change was not made.
func openJournal(path string, line func([]byte) error) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	end := int64(0)
	for r := bufio.NewReader(file); ; {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = line(text)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s at byte %d: %w", path, end, err), file.Close())
		}
		end += int64(len(text))
	}
	return &journal{file}, file.Truncate(end)
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

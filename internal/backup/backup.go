// Package backup has what the backups of a folder are called and say of themselves, which of them
// stay, and how the last attempt ended.
package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Report is what a backup says of itself, in the file NAME.json beside it.
type Report struct {
	TakenOn     time.Time        `json:"taken_on"` // what was committed before it is in the backup
	Schema      int              `json:"schema"`
	Bytes       int64            `json:"bytes"`
	SHA256      string           `json:"sha256"`
	NewestOrder *Order           `json:"newest_order"` // null: there is none
	Rows        map[string]int64 `json:"rows"`         // of each table
}

// Order is the newest order of a database.
type Order struct {
	ID        string    `json:"id"`
	CreatedOn time.Time `json:"created_on"`
}

const (
	timeForm = "20060102T150405Z"
	fileType = ".db"
	// PartSuffix is that of a backup which is not whole yet.
	PartSuffix = ".part"
)

// ReportOf is where the report of a backup lies.
func ReportOf(file string) string { return file + ".json" }

// Name is the name of a backup of a database that is taken now.
func Name(database string, now time.Time) string {
	return baseOf(database) + "-" + now.UTC().Format(timeForm) + fileType
}

func baseOf(database string) string {
	base := filepath.Base(database)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// takenOn is the time in the name of a backup; false: the file is no backup of this database.
func takenOn(database, name string) (time.Time, bool) {
	text, ours := strings.CutPrefix(name, baseOf(database)+"-")
	text, isFile := strings.CutSuffix(text, fileType)
	at, err := time.Parse(timeForm, text)
	return at, ours && isFile && err == nil
}

// Keep is how many backups stay: the newest of each of so many days, weeks and months.
type Keep struct{ Days, Weeks, Months int }

// ParseKeep reads DAYS,WEEKS,MONTHS.
func ParseKeep(text string) (k Keep, err error) {
	n, err := fmt.Sscanf(text+";", "%d,%d,%d;", &k.Days, &k.Weeks, &k.Months)
	if err != nil || n != 3 || min(k.Days, k.Weeks, k.Months) < 0 || k.Days == 0 || text != fmt.Sprintf("%d,%d,%d", k.Days, k.Weeks, k.Months) {
		return k, fmt.Errorf("%q is not DAYS,WEEKS,MONTHS, such as 7,4,12, with one day or more", text)
	}
	return k, nil
}

// Stays returns the times of the backups that stay.
func (k Keep) Stays(taken []time.Time) (stay []time.Time) {
	taken = slices.Clone(taken)
	slices.SortFunc(taken, func(a, b time.Time) int { return b.Compare(a) })
	kept := map[time.Time]bool{}
	newestOfEach := func(most int, period func(time.Time) string) {
		seen := map[string]bool{}
		for _, at := range taken {
			if name := period(at.UTC()); !seen[name] && len(seen) < most {
				seen[name], kept[at] = true, true
			}
		}
	}
	newestOfEach(k.Days, func(t time.Time) string { return t.Format(time.DateOnly) })
	newestOfEach(k.Weeks, func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, week) })
	newestOfEach(k.Months, func(t time.Time) string { return t.Format("2006-01") })
	return slices.DeleteFunc(taken, func(t time.Time) bool { return !kept[t] })
}

// Clean deletes the backups of a database that do not stay, and what attempts that were cut off have
// left. No backup may be under way in the folder. It returns how many backups are left.
func Clean(dir, database string, k Keep) (left int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var taken []time.Time
	for _, e := range entries {
		if at, ok := takenOn(database, e.Name()); ok {
			taken = append(taken, at)
		}
	}
	stay := k.Stays(taken)
	for _, e := range entries {
		name, isPart := strings.CutSuffix(e.Name(), PartSuffix)
		name, isReport := strings.CutSuffix(name, ReportOf(""))
		at, ours := takenOn(database, name)
		orphan := isReport && !slices.ContainsFunc(taken, at.Equal)
		if ours && (isPart || orphan || !slices.ContainsFunc(stay, at.Equal)) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return len(stay), err
}

// Digest is the size and the SHA-256 of a file.
func Digest(file string) (size int64, sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, f)
	return size, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, f.Close())
}

// ReadReport reads the report of a backup; nil: there is none.
func ReadReport(file string) (*Report, error) {
	data, err := os.ReadFile(ReportOf(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", ReportOf(file), err)
	}
	return r, nil
}

// encode writes a report or a result for people and programs.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.Multiline(true))
	return append(data, '\n'), err
}

// Encode is the file of a report.
func (r Report) Encode() ([]byte, error) { return encode(r) }

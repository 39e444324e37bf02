package backup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

func day(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return at
}

func TestKeep(t *testing.T) {
	// 2026-11-27 is a Friday.
	taken := []time.Time{day("2026-11-27 03:00"), day("2026-11-27 02:00"), day("2026-11-26 03:00"), day("2026-11-24 03:00"), day("2026-11-22 03:00"),
		day("2026-11-20 03:00"), day("2026-10-31 03:00"), day("2026-10-01 03:00"), day("2026-01-01 03:00")}
	for _, c := range []struct {
		keep Keep
		want []int
	}{
		{Keep{1, 0, 0}, []int{0}},
		{Keep{2, 0, 0}, []int{0, 2}},
		{Keep{1, 2, 0}, []int{0, 4}},
		{Keep{1, 0, 2}, []int{0, 6}},
		{Keep{3, 2, 12}, []int{0, 2, 3, 4, 6, 8}},
		{Keep{9, 9, 9}, []int{0, 2, 3, 4, 5, 6, 7, 8}},
	} {
		var want []time.Time
		for _, i := range c.want {
			want = append(want, taken[i])
		}
		shuffled := append(slices.Clone(taken[4:]), taken[:4]...)
		if got := c.keep.Stays(shuffled); !slices.Equal(got, want) {
			t.Errorf("%+v keeps %v, want %v", c.keep, got, want)
		}
	}
}

func TestParseKeep(t *testing.T) {
	if k, err := ParseKeep("7,4,12"); err != nil || k != (Keep{7, 4, 12}) {
		t.Errorf("%+v, %v", k, err)
	}
	for _, text := range []string{"", "7", "7,4", "0,4,12", "7,4,-1", "7,4,12,1", "7, 4, 12", "7,4,12x", "a,b,c"} {
		if k, err := ParseKeep(text); err == nil {
			t.Errorf("%q is %+v", text, k)
		}
	}
}

// Clean deletes what it has made, and leaves everything else alone.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	file := func(at string) string { return Name("/data/shop.db", day(at)) }
	stays := []string{file("2026-11-27 03:00"), file("2026-11-27 03:00") + ".json", "shop.db", "shop-notes.db", "other-20261101T030000Z.db", "shop-20261101T030000Z.txt", "last-backup.json"}
	goes := []string{file("2026-11-26 03:00"), file("2026-11-26 03:00") + ".json", file("2026-11-27 03:01") + ".part", file("2026-11-25 03:00") + ".json"}
	for _, name := range append(slices.Clone(stays), goes...) {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	left, err := Clean(dir, "/data/shop.db", Keep{Days: 1})
	check.OK(t, err)
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(stays)
	if left != 1 || !slices.Equal(names, stays) {
		t.Errorf("%d left: %q; want %q", left, names, stays)
	}
}

// A failed attempt keeps what is known of the copy before it.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	if r, err := ReadResult(dir, OfBackup); r != nil || err != nil {
		t.Errorf("of an empty folder: %+v, %v", r, err)
	}
	good, bad := day("2026-11-26 03:00"), day("2026-11-27 03:00")
	check.OK(t, Record(dir, Result{Kind: OfBackup, GoodOn: good, EndedOn: good, File: "a"}, nil))
	check.OK(t, Record(dir, Result{Kind: OfBackup, GoodOn: bad, EndedOn: bad, File: "b"}, errors.New("full")))
	check.OK(t, Record(dir, Result{Kind: OfReplica, GoodOn: bad, EndedOn: bad}, errors.New("damaged")))
	r, err := ReadResult(dir, OfBackup)
	check.OK(t, err)
	if *r != (Result{Kind: OfBackup, GoodOn: good, EndedOn: bad, File: "a", Error: "full"}) {
		t.Errorf("%+v", r)
	}
	if r, err := ReadResult(dir, OfReplica); err != nil || r.OK || !r.GoodOn.IsZero() {
		t.Errorf("a first attempt that failed: %+v, %v", r, err)
	}
	check.OK(t, os.WriteFile(filepath.Join(dir, "last-backup.json"), []byte("{"), 0o600))
	if _, err := ReadResult(dir, OfBackup); err == nil {
		t.Error("half a file was read")
	}
}

// Package requestlogtest is the conformance suite of the stores of the log of requests.
package requestlogtest

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
)

// Open opens another store in the same place, as another process would.
type Open func(t *testing.T) requestlog.Store

// New makes an empty place.
type New func(t *testing.T) Open

// Run runs the suite.
func Run(t *testing.T, place New) {
	for name, test := range map[string]func(*testing.T, Open){
		"chunks": chunks, "refs": refs, "repeats": repeats, "counts": counts, "days": days, "processes": processes,
		"pages": pages, "pages of processes": pagesOfProcesses, "finds": finds, "bounds": bounds, "late rows": lateRows, "old days": oldDays, "full": full,
	} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

const day requestlog.Day = 20261126

// at is a time of day, in ms after its begin.
func at(ms commerce.Millis) commerce.Millis { return 1_795_651_200_000 + ms }

func chunk(partner string, last commerce.Millis, writer requestlog.Writer, number int64) requestlog.Chunk {
	return requestlog.Chunk{PartnerID: partner, First: last - 5, Place: requestlog.Place{Last: last, Writer: writer, Number: number}, Count: 2, Lost: 3, Indexed: true,
		Rows: fmt.Appendf(nil, "%s %d %d %d\x00\xff", partner, last, writer, number)}
}

func write(t *testing.T, s requestlog.Store, chunks []requestlog.Chunk, counts ...requestlog.Count) {
	t.Helper()
	if err := s.Write(t.Context(), day, chunks, counts); err != nil {
		t.Fatal(err)
	}
}

// all selects all chunks of a partner.
func all(partner string) requestlog.Query {
	return requestlog.Query{Day: day, PartnerID: partner, Before: requestlog.Place{Last: at(1 << 40)}, Until: at(1 << 40), Limit: 100}
}

func read(t *testing.T, s requestlog.Store, q requestlog.Query) []requestlog.Chunk {
	t.Helper()
	list, err := s.Chunks(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// places are those of chunks, as "last writer number".
func places(list []requestlog.Chunk) (names []string) {
	for _, c := range list {
		names = append(names, fmt.Sprint(c.Last-at(0), c.Writer, c.Number))
	}
	return names
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) && (fmt.Sprint(got) != "[]" || fmt.Sprint(want) != "[]") { // an empty list may be nil
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func chunks(t *testing.T, open Open) {
	s := open(t)
	if list := read(t, s, all("a")); len(list) > 0 {
		t.Errorf("an empty store has %v", places(list))
	}
	large := chunk("a", at(70), 1, 7)
	large.Rows, large.Indexed = bytes.Repeat([]byte("large\x00"), 20_000), false
	write(t, s, []requestlog.Chunk{chunk("a", at(10), 1, 1), chunk("a", at(30), 2, 1), chunk("b", at(20), 1, 2), chunk("a", at(30), 1, 3), large})
	write(t, s, []requestlog.Chunk{{PartnerID: "a", First: at(90), Place: requestlog.Place{Last: at(90), Writer: 1, Number: 9}, Lost: 7}})
	list := read(t, s, all("a"))
	same(t, "newest first", places(list), []string{"90 1 9", "70 1 7", "30 2 1", "30 1 3", "10 1 1"})
	if len(list) == 5 {
		same(t, "a large chunk", list[1], large)
		want := chunk("a", at(30), 2, 1)
		same(t, "a chunk", list[2], want)
		if list[0].Lost != 7 || len(list[0].Rows) > 0 {
			t.Errorf("a chunk without rows is %+v", list[0])
		}
	}
	for name, c := range map[string]struct {
		change func(*requestlog.Query)
		want   []string
	}{
		"the first two":     {func(q *requestlog.Query) { q.Limit = 2 }, []string{"90 1 9", "70 1 7"}},
		"behind a place":    {func(q *requestlog.Query) { q.Before = requestlog.Place{Last: at(30), Writer: 2, Number: 1} }, []string{"30 1 3", "10 1 1"}},
		"behind a number":   {func(q *requestlog.Query) { q.Before = requestlog.Place{Last: at(30), Writer: 1, Number: 4} }, []string{"30 1 3", "10 1 1"}},
		"from a time":       {func(q *requestlog.Query) { q.From = at(30) }, []string{"90 1 9", "70 1 7", "30 2 1", "30 1 3"}},
		"begun by a time":   {func(q *requestlog.Query) { q.Until = at(25) }, []string{"30 2 1", "30 1 3", "10 1 1"}},
		"another partner":   {func(q *requestlog.Query) { q.PartnerID = "b" }, []string{"20 1 2"}},
		"no partner":        {func(q *requestlog.Query) { q.PartnerID = "" }, nil},
		"a day without any": {func(q *requestlog.Query) { q.Day++ }, nil},
	} {
		q := all("a")
		c.change(&q)
		same(t, name, places(read(t, s, q)), c.want)
	}
}

// Indexed chunks are found by their digests, and others always.
func refs(t *testing.T, open Open) {
	s := open(t)
	made := []requestlog.Chunk{chunk("a", at(10), 1, 1), chunk("a", at(20), 1, 2), chunk("a", at(30), 1, 3), chunk("b", at(40), 1, 4), chunk("a", at(50), 1, 5)}
	made[0].Refs, made[1].Refs, made[2].Refs, made[3].Refs, made[4].Indexed = []int64{-7, 8}, []int64{9}, []int64{-7}, []int64{-7}, false
	write(t, s, made)
	q := all("a")
	q.Ref = -7
	same(t, "by a digest", places(read(t, s, q)), []string{"50 1 5", "30 1 3", "10 1 1"})
	q.Limit = 2
	same(t, "the first two", places(read(t, s, q)), []string{"50 1 5", "30 1 3"})
	q.Before = requestlog.Place{Last: at(30), Writer: 1, Number: 3}
	same(t, "the others", places(read(t, s, q)), []string{"10 1 1"})
	q = all("a")
	q.Ref, q.From, q.Until = -7, at(20), at(30)
	same(t, "with bounds", places(read(t, s, q)), []string{"30 1 3"})
	q.Ref, q.From, q.Until = 1, 0, at(100)
	same(t, "by an unknown digest", places(read(t, s, q)), []string{"50 1 5"})
}

// A write may be repeated, because its outcome may be unknown.
func repeats(t *testing.T, open Open) {
	s := open(t)
	c := chunk("a", at(10), 1, 1)
	c.Refs = []int64{5, 5}
	write(t, s, []requestlog.Chunk{c})
	write(t, s, []requestlog.Chunk{c, chunk("a", at(20), 1, 2)})
	same(t, "chunks", places(read(t, s, all("a"))), []string{"20 1 2", "10 1 1"})
	q := all("a")
	q.Ref = 5
	same(t, "chunks by a digest", places(read(t, s, q)), []string{"10 1 1"})
}

func counts(t *testing.T, open Open) {
	s := open(t)
	count := func(partner string, mode commerce.Mode, minute, n int64) requestlog.Count {
		return requestlog.Count{PartnerID: partner, Mode: mode, Minute: at(commerce.Millis(minute) * 60_000), Requests: n, Refused: n / 2, Limited: n / 4, Failed: n / 8}
	}
	write(t, s, nil, count("b", commerce.Live, 1, 8), count("a", commerce.Live, 2, 8), count("a", commerce.Test, 1, 16), count("a", commerce.Live, 1, 8))
	write(t, s, nil, count("a", commerce.Live, 1, 80))
	for name, c := range map[string]struct {
		from int64
		want []requestlog.Count
	}{
		"all":         {0, []requestlog.Count{count("a", commerce.Live, 1, 88), count("a", commerce.Test, 1, 16), count("a", commerce.Live, 2, 8)}},
		"from a time": {2, []requestlog.Count{count("a", commerce.Live, 2, 8)}},
		"none":        {3, nil},
	} {
		got, err := s.Counts(t.Context(), day, "a", at(commerce.Millis(c.from)*60_000))
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, got, c.want)
	}
	if got, err := s.Counts(t.Context(), day+1, "a", 0); err != nil || len(got) > 0 {
		t.Errorf("a day without counts has %v, %v", got, err)
	}
}

func days(t *testing.T, open Open) {
	s := open(t)
	list := func(want ...requestlog.Day) {
		t.Helper()
		got, err := s.Days(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, "days", got, want)
	}
	list()
	for _, d := range []requestlog.Day{20261201, 20261126, 20261130} {
		if err := s.Write(t.Context(), d, []requestlog.Chunk{chunk("a", at(10), 1, 1)}, []requestlog.Count{{PartnerID: "a", Mode: commerce.Live, Requests: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	list(20261126, 20261130, 20261201)
	before, err := s.Size(t.Context())
	if err != nil || before <= 0 {
		t.Errorf("the size is %d, %v", before, err)
	}
	for _, d := range []requestlog.Day{20261126, 20261126, 20200101} {
		if err := s.Drop(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	list(20261130, 20261201)
	if after, err := s.Size(t.Context()); err != nil || after >= before {
		t.Errorf("the size was %d and is %d, %v", before, after, err)
	}
	same(t, "chunks of a dropped day", places(read(t, s, all("a"))), []string(nil))
	write(t, s, []requestlog.Chunk{chunk("a", at(20), 1, 2)})
	same(t, "chunks of a day that began again", places(read(t, s, all("a"))), []string{"20 1 2"})
}

// Processes write to one place, and each sees what the others wrote. A day that another process
// drops begins again.
func processes(t *testing.T, open Open) {
	stores := []requestlog.Store{open(t), open(t), open(t)}
	for _, s := range stores { // a new file is not opened by several at the same time
		if _, err := s.Days(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	for i, s := range stores {
		go func() {
			done <- s.Write(t.Context(), day, []requestlog.Chunk{chunk("a", at(10), requestlog.Writer(i), 1)}, []requestlog.Count{{PartnerID: "a", Mode: commerce.Live, Minute: at(0), Requests: 1}})
		}()
	}
	for range stores {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	same(t, "chunks", places(read(t, stores[0], all("a"))), []string{"10 2 1", "10 1 1", "10 0 1"})
	if got, err := stores[1].Counts(t.Context(), day, "a", 0); err != nil || len(got) != 1 || got[0].Requests != 3 {
		t.Errorf("counted %v, %v", got, err)
	}
	if err := stores[2].Drop(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	for i, s := range stores[:2] {
		c := chunk("a", at(20), requestlog.Writer(i), 2)
		if s.Write(t.Context(), day, []requestlog.Chunk{c}, nil) != nil { // it learns of the drop
			write(t, s, []requestlog.Chunk{c})
		}
	}
	same(t, "chunks after the drop", places(read(t, stores[2], all("a"))), []string{"20 1 2", "20 0 2"})
}

package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
)

// otherDatabase is set in the process that TestOtherProcess is run in by tests.
const otherDatabase = "PURVEYOR_TEST_DATABASE"

// TestOtherProcess is another process on a database. It does what each line of
// its input says, and says when it has: add to a product, begin the log again,
// or add to products until it is killed.
func TestOtherProcess(t *testing.T) {
	path := os.Getenv(otherDatabase)
	if path == "" {
		t.Skip("run by tests")
	}
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("done") {
		verb, id, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "add":
			addOne(t, e, id)
		case "truncate":
			beginLog(t, e, "TRUNCATE")
		case "storm":
			fmt.Println("done")
			for {
				addOne(t, e, id)
				time.Sleep(time.Millisecond) // SQLite's lock is not fair: without a pause the other process never gets it
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// addOne adds to the quantity of a product. Another process that writes all the
// time may keep the lock for longer than a batch waits.
func addOne(t testing.TB, e storage.Engine, id string) {
	t.Helper()
	key := commerce.ProductKey{StoreID: "sto_0", ProductID: id}
	err := storagetest.ChangeBesideOthers(e, commerce.Needs{Stock: []commerce.ProductKey{key}}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		s, _ := rows.Stock.Get(key)
		s.Quantity, s.UpdatedOn = s.Quantity+1, now
		return commerce.Changes{Stock: []commerce.Stock{s}}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func beginLog(t testing.TB, e *Engine, mode string) {
	t.Helper()
	writer := <-e.writer
	defer func() { e.writer <- writer }()
	if _, _, err := walCheckpoint(writer, mode); err != nil {
		t.Error(err)
	}
}

// otherProcess is the process of TestOtherProcess.
type otherProcess struct {
	t   *testing.T
	cmd *osexec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startOther(t *testing.T, path string) *otherProcess {
	t.Helper()
	cmd := osexec.Command(os.Args[0], "-test.run=^TestOtherProcess$")
	cmd.Env, cmd.Stderr = append(os.Environ(), otherDatabase+"="+path), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &otherProcess{t, cmd, in, bufio.NewScanner(out)}
	o.await("ready")
	return o
}

func (o *otherProcess) await(line string) {
	o.t.Helper()
	if !o.out.Scan() || o.out.Text() != line {
		o.t.Fatalf("the other process said %q, %v; want %q", o.out.Text(), o.out.Err(), line)
	}
}

func (o *otherProcess) do(line string) {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.in, line); err != nil {
		o.t.Fatal(err)
	}
	o.await("done")
}

// kill ends it in the middle of whatever it does.
func (o *otherProcess) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// end lets it close the database.
func (o *otherProcess) end() {
	o.t.Helper()
	_ = o.in.Close()
	for o.out.Scan() { // what the test framework says
	}
	if err := o.cmd.Wait(); err != nil {
		o.t.Error(err)
	}
}

// watcher keeps the newest answer for each product of a database and holds
// Unchanged against what is stored.
type watcher struct {
	e    *Engine
	ids  []string
	kept map[string]watched
}

type watched struct {
	stock   commerce.Stock
	version storage.Version
}

func watch(e *Engine, ids ...string) *watcher {
	return &watcher{e, ids, map[string]watched{}}
}

func (w *watcher) check(t *testing.T, after string) {
	t.Helper()
	ctx := context.Background()
	before, err := w.e.Reader().Stock(ctx, w.ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range w.ids {
		now := before[id]
		if known, ok := w.kept[id]; ok {
			newer, same, err := w.e.Reader().Unchanged(ctx, storage.ReadSet{Product: now.Key()}, known.version)
			if want := known.stock == now; err != nil || same != want {
				t.Errorf("after %s: %s is unchanged: %v, %v; want %v", after, id, same, err, want)
			}
			if known.version = newer; same {
				w.kept[id] = known
				continue
			}
		}
		item, version, err := w.e.Reader().Product(ctx, id)
		if err != nil || item.Stock != now {
			t.Errorf("after %s: %s is %+v, %v; want %+v", after, id, item.Stock, err, now)
		}
		w.kept[id] = watched{item.Stock, version}
	}
}

// TestIndexOverProcesses commits in two processes, begins the log again in both,
// and ends and kills the other one: no kept answer outlives a commit.
func TestIndexOverProcesses(t *testing.T) {
	path := copies(t)
	e := file(path).Open(t, time.Now).(*Engine)
	if e.freshness.index == nil {
		t.Fatal("there is no index")
	}
	storagetest.SeedProducts(t, e, 1, 3, 0)
	ids := []string{"prd_0_000", "prd_0_001", "prd_0_002"}
	w := watch(e, ids...)
	random := rand.New(rand.NewPCG(1, 2))
	other := startOther(t, path)
	w.check(t, "the start")
	for range 150 {
		id := ids[random.IntN(len(ids))]
		step := []string{"add", "add", "own add", "own add", "truncate", "own truncate", "end", "kill", "storm"}[random.IntN(9)]
		switch step {
		case "add":
			other.do("add " + id)
		case "own add":
			addOne(t, e, id)
		case "truncate":
			other.do(step)
		case "own truncate":
			beginLog(t, e, "TRUNCATE")
		case "end":
			other.end()
			other = startOther(t, path)
		case "kill":
			other.kill()
			other = startOther(t, path)
		case "storm":
			other.do("storm " + id)
			for range random.IntN(20) {
				addOne(t, e, ids[random.IntN(len(ids))])
			}
			time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
			other.kill()
			w.check(t, step)
			other = startOther(t, path)
		}
		w.check(t, step)
	}
	other.end()
}

// TestIndexOfReplacedFile puts another database in the place of an open one. The
// engine that has it open sees the old database, later engines see the new one.
func TestIndexOfReplacedFile(t *testing.T) {
	folder := t.TempDir()
	path, next := filepath.Join(folder, "x.db"), filepath.Join(folder, "next.db")
	open := func(path string) *Engine { return file(path).Open(t, time.Now).(*Engine) }
	old, replacement := open(path), open(next)
	for _, e := range []*Engine{old, replacement} {
		storagetest.SeedProducts(t, e, 1, 2, 0)
	}
	addOne(t, replacement, "prd_0_000")
	before := watch(old, "prd_0_000", "prd_0_001")
	before.check(t, "the start")
	beginLog(t, replacement, "TRUNCATE")
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	other := startOther(t, path)
	after := watch(open(path), "prd_0_000", "prd_0_001")
	after.check(t, "the replacement")
	if after.kept["prd_0_000"].stock.Quantity != 1 || before.kept["prd_0_000"].stock.Quantity != 0 {
		t.Errorf("the new file has %+v, the old one %+v", after.kept, before.kept)
	}
	for range 5 {
		other.do("add prd_0_001")
		after.check(t, "a commit of another process in the new file")
		before.check(t, "a commit in the new file")
		addOne(t, old, "prd_0_000")
		before.check(t, "a commit in the old file")
		after.check(t, "a commit in the old file")
	}
	other.end()
}

// TestIndexIsChecked: a file that does not agree with the database is not used.
func TestIndexIsChecked(t *testing.T) {
	path := copies(t)
	e := file(path).Open(t, time.Now).(*Engine)
	storagetest.SeedProducts(t, e, 1, 1, 0)
	content, err := os.ReadFile(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	conn := <-e.readers
	defer func() { e.readers <- conn }()
	sealed := func(b []byte) { // as SQLite writes a header
		h := walHeader(b)
		sum := h.checksum()
		native.PutUint32(b[walChecksum:], sum[0])
		native.PutUint32(b[walChecksum+4:], sum[1])
		copy(b[len(h):], b[:len(h)])
	}
	for name, change := range map[string]func([]byte) []byte{
		"nothing":           func(b []byte) []byte { return nil },
		"a part of it":      func(b []byte) []byte { return b[:60] },
		"zeros":             func(b []byte) []byte { return make([]byte, len(b)) },
		"its second copy":   func(b []byte) []byte { b[60]++; return b },
		"its checksum":      func(b []byte) []byte { b[walChecksum]++; b[48+walChecksum]++; return b },
		"another version":   func(b []byte) []byte { b[walVersion]++; sealed(b); return b },
		"another log":       func(b []byte) []byte { b[walFrames]++; sealed(b); return b },
		"another database":  func(b []byte) []byte { b[walPages]++; sealed(b); return b },
		"pages of 64 KiB":   func(b []byte) []byte { native.PutUint16(b[walPageSize:], 1); sealed(b); return b },
		"a header unsealed": func(b []byte) []byte { b[walInit] = 0; sealed(b); return b },
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "x"))
		if err == nil {
			_, err = file.Write(change(append([]byte(nil), content...)))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := (&walIndex{file: file}).check(conn); err == nil {
			t.Errorf("%s: is taken for the index", name)
		}
		file.Close()
	}
	if err := e.freshness.index.check(conn); err != nil {
		t.Errorf("the index itself: %v", err)
	}
}

// withoutIndex opens engines that ask SQLite for the newest stamp each time.
type withoutIndex struct{ file }

func (d withoutIndex) Open(t testing.TB, now func() time.Time) storage.Engine {
	e := d.file.Open(t, now).(*Engine)
	e.freshness.index = nil
	return e
}

func TestWithoutIndex(t *testing.T) {
	storagetest.RunFreshness(t, func(t testing.TB) storagetest.Database { return withoutIndex{file(copies(t))} })
}

// TestIndexThatStandsStill: should the index not show a batch of this process, the
// stamp is read.
func TestIndexThatStandsStill(t *testing.T) {
	e := file(copies(t)).Open(t, time.Now).(*Engine)
	storagetest.SeedProducts(t, e, 1, 2, 0)
	content, err := os.ReadFile(e.path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	still, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err == nil {
		_, err = still.Write(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer still.Close()
	e.freshness.index = &walIndex{file: still}
	w := watch(e, "prd_0_000", "prd_0_001")
	for range 5 {
		w.check(t, "a commit")
		addOne(t, e, "prd_0_000")
	}
	w.check(t, "the last commit")
}

// TestRecentChangesAreBounded: what is remembered is forgotten when it is too
// much, and where another process wrote between two batches.
func TestRecentChangesAreBounded(t *testing.T) {
	var c recentChanges
	var stamp int64
	batch := func(before int64, products ...string) {
		stamp++
		var keys []commerce.ProductKey
		for _, id := range products {
			keys = append(keys, commerce.ProductKey{StoreID: "sto_1", ProductID: id})
		}
		c.add(before, stamp, keys, nil)
	}
	known := func(id string, v int64) bool {
		return c.unchanged(storage.ReadSet{Product: commerce.ProductKey{StoreID: "sto_1", ProductID: id}}, v, stamp)
	}
	batch(0, "prd_1")
	batch(1, "prd_2")
	if !known("prd_3", 0) || !known("prd_1", 1) || known("prd_1", 0) || known("prd_2", 1) || !known("prd_2", 2) {
		t.Errorf("%+v", &c)
	}
	stamp++ // another process
	if known("prd_3", 0) {
		t.Error("a batch of another process is taken for one that changed nothing")
	}
	batch(stamp, "prd_1")
	if known("prd_3", 2) || !known("prd_3", 3) || known("prd_1", 3) {
		t.Errorf("after another process: %+v", &c)
	}
	for i := range mostChanges + 10 {
		batch(stamp, fmt.Sprint("prd_x", i))
	}
	if n := len(c.products); n > mostChanges || known("prd_1", 4) || !known("prd_1", stamp-1) {
		t.Errorf("%d products are remembered since %d", n, c.since)
	}
}

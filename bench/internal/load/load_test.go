package load

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestHistogramIsRightWithinTwoPercent(t *testing.T) {
	for d := time.Duration(1); d < time.Hour; d += d/3 + 1 {
		got := valueOf(bucketOf(d))
		if diff := float64(got-d) / float64(d); diff > 0.02 || diff < -0.02 {
			t.Errorf("%d ns is taken for %d ns", d, got)
		}
	}
	var h histogram
	for i := range 1000 {
		h.record(time.Duration(i+1) * time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if got := h.quantile(q); got < want*98/100 || got > want*102/100 {
			t.Errorf("quantile %v is %v, want about %v", q, got, want)
		}
	}
}

func TestMedianOfRounds(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{1, 9, 2, 4}, 3}} {
		if got := MedianOf(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

func TestRoundTripReadsAnswersInPieces(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, c := range []struct {
		Name   string
		pieces []string
		status int
		body   string
		fails  bool
	}{
		{"whole", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"}, 200, "hi", false},
		{"head in two", []string{"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r", "\n\r", "\nno"}, 404, "no", false},
		{"long", []string{"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n", long[:20_000], long[20_000:]}, 200, long, false},
		{"too much", []string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhi"}, 0, "", true},
		{"no length", []string{"HTTP/1.1 200 OK\r\n\r\n"}, 0, "", true},
		{"cut off", []string{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"}, 0, "", true},
	} {
		ours, theirs := net.Pipe()
		go func() {
			request := make([]byte, 100)
			_, _ = theirs.Read(request)
			for _, p := range c.pieces {
				_, _ = theirs.Write([]byte(p))
			}
			_ = theirs.Close()
		}()
		conn := &connection{conn: ours, buf: make([]byte, 8<<10)}
		status, body, err := conn.roundTrip([]byte("GET / HTTP/1.1\r\n\r\n"))
		if (err != nil) != c.fails || status != c.status || string(body) != c.body {
			t.Errorf("%s: status %d, %d bytes, error %v", c.Name, status, len(body), err)
		}
		conn.close()
	}
}

func TestSectionIsReplacedAndTheRestKept(t *testing.T) {
	first, err := replaceSection([]byte("# Title\n\nAbove.\n"), "./bench", "one")
	if err != nil {
		t.Fatal(err)
	}
	second, err := replaceSection(append(first, "\nBelow.\n"...), "./bench", "two")
	if err != nil {
		t.Fatal(err)
	}
	text := string(second)
	begin, end := marks("./bench")
	if !strings.HasPrefix(text, "# Title\n\nAbove.\n\n"+begin) || !strings.HasSuffix(text, end+"\n\nBelow.\n") ||
		!strings.Contains(text, "two") || strings.Contains(text, "one") {
		t.Errorf("made:\n%s", text)
	}
	if _, err := replaceSection([]byte(begin+"\n"), "./bench", "three"); err == nil {
		t.Error("a section without an end was replaced")
	}
}

func TestBasketsHoldTwoProductsOfOneStore(t *testing.T) {
	shops, rng := ShopsOf(Size{Stores: 3, Products: 30}), NewRand()
	for range 1000 {
		of := draw(shops, false, rng)
		if of.a == of.b || of.a.Index%3 != of.b.Index%3 || of.shop.ID != shops[of.a.Index%3].ID {
			t.Fatalf("basket %+v", of)
		}
	}
}

func TestSectionGoesIntoANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs", "BENCHMARKS.md")
	for _, text := range []string{"one", "two"} {
		if err := WriteSection(path, "./bench", text); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := marks("./bench")
	if want := "# Benchmarks\n\n" + begin + "\n\ntwo\n\n" + end + "\n"; string(data) != want {
		t.Errorf("made:\n%s\nwant:\n%s", data, want)
	}
}

func TestTheFolderIsOnlyNamed(t *testing.T) {
	for _, c := range []struct {
		args, dir, want string
	}{
		{"-orders 10 -dir /some/where -write", "/some/where", "-orders 10 -dir FOLDER -write"},
		{"-dir=/some/where -quick", "/some/where", "-dir=FOLDER -quick"},
		{"-dir . -seconds 0.5", ".", "-dir FOLDER -seconds 0.5"},
		{"-quick", "", "-quick"},
	} {
		if got := commandLine("./bench/limits", strings.Fields(c.args), c.dir); got != "go run ./bench/limits "+c.want {
			t.Errorf("%s: %q", c.args, got)
		}
	}
}

func TestAKeptDatasetIsFoundAgainForItsSizeAlone(t *testing.T) {
	folder, e, s := t.TempDir(), &Env{Root: t.TempDir()}, Size{Stores: 2, Products: 4, Orders: 2}
	d := &Dataset{Size: s, Key: "sk", PartnerID: "ptn", URL: "sqlite:old", Orders: []string{"ord_1", "ord_2"}}
	if err := d.Keep(folder); err != nil {
		t.Fatal(err)
	}
	got, err := e.Kept(folder, "sqlite:new", s)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	if got.URL != "sqlite:new" || got.Key != "sk" || got.PartnerID != "ptn" || len(got.Orders) != 2 || len(got.Shops) != 2 {
		t.Errorf("%+v", got)
	}
	if got, err := e.Kept(folder, "sqlite:new", Size{Stores: 2, Products: 4, Orders: 3}); got != nil || err != nil {
		t.Errorf("another size is answered by %+v, %v", got, err)
	}
	migrations := filepath.Join(e.Root, "internal/storage/sqlite/migrations")
	if err := os.MkdirAll(migrations, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(migrations, "0001.sql"), []byte("CREATE TABLE t (a)"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Kept(folder, "sqlite:new", s); got != nil || err != nil {
		t.Errorf("another schema is answered by %+v, %v", got, err)
	}
}

func TestAKeptRecordIsNotOlderThanTheServiceKeepsIt(t *testing.T) {
	for _, c := range []struct {
		size  Size
		age   time.Duration
		found bool
	}{
		{Size{Stores: 2, Products: 4, Events: 2}, 0, true},
		{Size{Stores: 2, Products: 4, Events: 2}, 21 * 24 * time.Hour, false},
		{Size{Stores: 2, Products: 4}, 21 * 24 * time.Hour, true},
	} {
		folder, e := t.TempDir(), &Env{Root: t.TempDir()}
		if err := (&Dataset{Size: c.size}).Keep(folder); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-c.age)
		if err := os.Chtimes(filepath.Join(folder, metaFile), at, at); err != nil {
			t.Fatal(err)
		}
		got, err := e.Kept(folder, "sqlite:x", c.size)
		if err != nil || (got != nil) != c.found {
			t.Errorf("%+v of %v ago: %v, %v", c.size, c.age, got, err)
		}
	}
}

func TestThePosterNeedsEveryNoticeAnswered(t *testing.T) {
	callers := Posters([][]byte{[]byte("a"), []byte("b")})
	if len(callers) != Callers || string(callers[1].Next()) != "b" || callers[1].Next() != nil || callers[2].Next() != nil {
		t.Error("the notices are not spread, each once")
	}
	for status, ok := range map[int]bool{200: true, 201: false, 400: false, 409: false, 500: false} {
		if err := callers[0].Answered(status, nil); (err == nil) != ok {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

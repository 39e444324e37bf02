package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Many connections ask for long pages of products and read nothing: the process stays
// small. The test logs the figures (go test -run TestUnreadPages -v ./e2e).
func TestUnreadPages(t *testing.T) {
	t.Parallel()
	const readers, products, maxPage = 24, 160, 2 << 20
	s := newShop(t)
	images := slices.Repeat([]string{"https://e.example/" + strings.Repeat("x", 1000)}, 16)
	var long []map[string]any
	for i := range products {
		long = append(long, map[string]any{"id": fmt.Sprintf("long%03d", i), "name": "Long", "store_id": "s1", "category_id": "c1", "price": 100, "images": images})
	}
	s.operate("import", s.file("long.json", map[string]any{"products": long})).ok(t)
	p, c := s.serve()
	page := request{method: http.MethodGet, path: "/v1/products?limit=300"}
	size := len(c.must(http.StatusOK, page).body)
	if size > maxPage || size < maxPage/2 {
		t.Errorf("a page has %d bytes", size)
	}
	before := p.peakMiB()
	statuses := map[int]int{}
	for range readers {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil { // otherwise the system buffers the answer
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: shop\r\nX-Api-Key: %s\r\n\r\n", page.path, c.key); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
		if err != nil {
			t.Fatal(err)
		}
		statuses[answer.StatusCode]++
	}
	t.Logf("%d readers of pages of %d KiB: answered %v; the process took at most %d MiB, before %d MiB", readers, size>>10, statuses, p.peakMiB(), before)
	if statuses[http.StatusOK]+statuses[http.StatusTooManyRequests] != readers || statuses[http.StatusOK] == 0 {
		t.Errorf("answered %v", statuses)
	}
	if most := 250 * maxRSS() / (150 << 10); p.peakMiB() > most {
		t.Errorf("the process took %d MiB, want at most %d", p.peakMiB(), most)
	}
	c.must(http.StatusOK, request{method: http.MethodGet, path: "/v1/stores"})
}

package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Service is the real program on one database.
type Service struct {
	*Process
	Data *Dataset
}

// Serve starts the service, its log in a file, and waits until it answers.
func (e *Env) Serve(name, level string, d *Dataset, args ...string) (*Service, time.Duration, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, 0, err
	}
	p, err := startServer(e.Ctx, addr, filepath.Join(e.Work, name+".log"), e.Program,
		append([]string{"serve", "--database", d.URL, "--listen", addr, "--log-level", level}, args...)...)
	if err != nil {
		return nil, 0, err
	}
	took, err := p.ready(func() error { _, err := get(addr, "/v1/health", d.Key); return err })
	return &Service{p, d}, took, err
}

// With runs f beside a service on a database, with these flags. If profiles are
// wanted, the service is this program, put together as the real one.
func (e *Env) With(d *Dataset, title string, f func(*Service) (Measurement, error), args ...string) (m Measurement, err error) {
	var s *Service
	if e.Profiles == "" {
		s, _, err = e.Serve("serve", "info", d, args...)
	} else {
		var p *Process
		profile := filepath.Join(e.Profiles, strings.ReplaceAll(title, " ", "-")+".pprof")
		p, err = e.StartSelf("profiled", append([]string{d.URL, profile}, args...)...)
		s = &Service{Process: p, Data: d}
	}
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	return f(s)
}

// StartBare starts the baseline of the reads.
func (e *Env) StartBare(bodies map[string][]byte) (*Process, error) {
	path := filepath.Join(e.Work, "bodies")
	if err := writeBodies(path, bodies); err != nil {
		return nil, err
	}
	return e.StartSelf("bare", path)
}

// StartSelf starts this program as a server.
func (e *Env) StartSelf(name string, args ...string) (*Process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := startServer(e.Ctx, addr, filepath.Join(e.Work, name+".log"), e.Self, append([]string{name, addr}, args...)...)
	if err != nil {
		return nil, err
	}
	_, err = p.ready(func() error {
		c, err := dial(addr, time.Now().Add(time.Second))
		if err == nil {
			c.close()
		}
		return err
	})
	return p, err
}

// Pages walks the list and returns the paths of its full pages: of all
// stores, and of each store if that is wanted too.
func (s *Service) Pages(most int, byStore bool) ([]string, error) {
	filters := []string{""}
	if byStore {
		for _, shop := range s.Data.Shops {
			filters = append(filters, "&store_id="+shop.ID)
		}
	}
	var paths []string
	for _, filter := range filters {
		cursor := ""
		for range most {
			path := "/v1/products?limit=100" + filter + cursor
			body, err := get(s.Addr, path, s.Data.Key)
			if err != nil {
				return nil, err
			}
			var page struct {
				Count int    `json:"count"`
				Next  string `json:"next_cursor"`
			}
			if err := json.Unmarshal(body, &page); err != nil {
				return nil, fmt.Errorf("GET %s: %w", path, err)
			}
			if page.Count == 100 {
				paths = append(paths, path)
			}
			if page.Next == "" {
				break
			}
			cursor = "&cursor=" + page.Next
		}
	}
	return paths, nil
}

// OrderPaths is where orders are read.
func OrderPaths(ids []string) []string {
	paths := make([]string, len(ids))
	for i, id := range ids {
		paths[i] = "/v1/orders/" + id
	}
	return paths
}

// AllProductPaths is where the products of the shops are read.
func AllProductPaths(shops []Shop) []string {
	var paths []string
	for _, s := range shops {
		paths = append(paths, productPaths(s.Goods)...)
	}
	return paths
}

// RequestsOf are the GET requests for paths.
func RequestsOf(paths []string, key string) [][]byte {
	requests := make([][]byte, len(paths))
	var all []byte // one piece of memory, however many they are
	for i, path := range paths {
		from := len(all)
		all = appendGet(all, path, key)
		requests[i] = all[from:len(all):len(all)]
	}
	return requests
}

// OwnCPU is what this process has used so far.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// syncTime is the median time of a small write that is flushed to the disk
// of this folder: the floor of one durable transaction.
func syncTime(folder string) (time.Duration, error) {
	f, err := os.CreateTemp(folder, "sync")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	block := make([]byte, 4096)
	values := make([]float64, 200)
	for i := range values {
		began := time.Now()
		if _, err := f.WriteAt(block, int64(i%8)*4096); err != nil {
			return 0, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		values[i] = float64(time.Since(began))
	}
	return time.Duration(MedianOf(values)), nil
}

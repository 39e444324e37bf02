package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// service is the real program on one database.
type service struct {
	*process
	data *dataset
}

// serve starts the service, its log in a file, and waits until it answers.
func (b *bench) serve(name, level string, d *dataset) (*service, time.Duration, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, 0, err
	}
	p, err := startServer(b.ctx, addr, filepath.Join(b.work, name+".log"), b.program,
		"serve", "--database", "sqlite:"+d.path, "--listen", addr, "--log-level", level)
	if err != nil {
		return nil, 0, err
	}
	took, err := p.ready(func() error { _, err := get(addr, "/v1/health", d.Key); return err })
	return &service{p, d}, took, err
}

// serveBare starts the baseline of the reads.
func (b *bench) serveBare(bodies map[string][]byte) (*process, error) {
	path := filepath.Join(b.work, "bodies")
	if err := writeBodies(path, bodies); err != nil {
		return nil, err
	}
	return b.serveHidden("bare", path)
}

// serveHidden starts this program as a server.
func (b *bench) serveHidden(name string, args ...string) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := startServer(b.ctx, addr, filepath.Join(b.work, name+".log"), b.self, append([]string{name, addr}, args...)...)
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

// direct runs reports without HTTP, on a database that nobody serves.
func (b *bench) direct(d *dataset, batch int, hot bool) (m measurement, err error) {
	args, err := json.Marshal(directRun{d.path, d.PartnerID, d.Size, batch, hot, b.pace.warm, b.pace.measured})
	if err != nil {
		return m, err
	}
	out, err := run(b.ctx, b.self, "direct", string(args))
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	return m, err
}

// pages walks the list and returns the paths of its full pages: of all
// stores, and of each store if that is wanted too.
func (s *service) pages(most int, byStore bool) ([]string, error) {
	filters := []string{""}
	if byStore {
		for _, shop := range s.data.shops {
			filters = append(filters, "&store_id="+shop.id)
		}
	}
	var paths []string
	for _, filter := range filters {
		cursor := ""
		for range most {
			path := "/v1/products?limit=100" + filter + cursor
			body, err := get(s.addr, path, s.data.Key)
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

func orderPaths(ids []string) []string {
	paths := make([]string, len(ids))
	for i, id := range ids {
		paths[i] = "/v1/orders/" + id
	}
	return paths
}

func allProductPaths(shops []shop) []string {
	var paths []string
	for _, s := range shops {
		paths = append(paths, productPaths(s.goods)...)
	}
	return paths
}

func requestsOf(paths []string, key string) [][]byte {
	requests := make([][]byte, len(paths))
	var all []byte // one piece of memory, however many they are
	for i, path := range paths {
		from := len(all)
		all = appendGet(all, path, key)
		requests[i] = all[from:len(all):len(all)]
	}
	return requests
}

// ownCPU is what this process has used so far.
func ownCPU() time.Duration {
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
	return time.Duration(medianOf(values)), nil
}

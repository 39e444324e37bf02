package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"purveyor/internal/testkit/port"
)

// process is a server that was started here.
type process struct {
	*bench
	addr  string
	cmd   *exec.Cmd
	took  time.Duration // from its start to the first answer
	ended chan error
}

// start starts a program that serves on the address, with its output in a file,
// and waits until it answers.
func (b *bench) start(addr string, ready func() error, program string, args ...string) *process {
	log := must(os.CreateTemp(b.work, "*.log"))
	defer func() { _ = log.Close() }()
	p := &process{bench: b, addr: addr, cmd: b.command(program, args...), ended: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	began := time.Now()
	check(p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	for err := ready(); err != nil; err = ready() {
		select {
		case ended := <-p.ended:
			check(fmt.Errorf("%s ended before it served: %v\n%s", p.cmd.Args, ended, must(os.ReadFile(log.Name()))))
		case <-time.After(5 * time.Millisecond):
		}
		if time.Since(began) > 30*time.Second {
			check(errors.Join(fmt.Errorf("%s does not serve: %w", p.cmd.Args, err), p.stop()))
		}
	}
	p.took = time.Since(began)
	return p
}

// command is a program that is asked to end when the benchmark is.
func (b *bench) command(program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// output runs a program to its end and returns what it printed.
func (b *bench) output(program string, args ...string) []byte {
	cmd := b.command(program, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		check(fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, stderr.String()))
	}
	return out
}

// stop ends the process in an orderly way and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		return errors.Join(fmt.Errorf("%s did not stop in 20 s", p.cmd.Args), p.cmd.Process.Kill())
	}
}

// cpu is the processor time that the process has used so far.
func (p *process) cpu() time.Duration {
	const tick = 10 * time.Millisecond // Linux reports in USER_HZ, which is 100 everywhere
	_, rest, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)))), ") ")
	fields := strings.Fields(rest)
	return time.Duration(must(strconv.Atoi(fields[11]))+must(strconv.Atoi(fields[12]))) * tick // user and system
}

// meter is the meter of the process.
func (p *process) meter() func() time.Duration {
	before := p.cpu()
	return func() time.Duration { return p.cpu() - before }
}

// memory is a figure of /proc/PID/status in MiB: VmRSS is now, VmHWM was the most.
func (p *process) memory(name string) float64 {
	_, rest, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)))), "\n"+name+":")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return must(strconv.ParseFloat(kib, 64)) / 1024
}

// serveBytesArg makes this program the baseline of reads, if it is its first argument.
const serveBytesArg = "serve-bytes"

// bytesServer is what the baseline reads from the file that the second argument
// names: answers by the URI of the request.
type bytesServer struct {
	Addr   string
	Bodies map[string][]byte
}

// startBytes starts the baseline of reads: net/http alone, in a process of its
// own, which writes the same bytes.
func (b *bench) startBytes(bodies map[string][]byte) *process {
	addr, f := must(port.Address()), must(os.CreateTemp(b.work, serveBytesArg))
	check(errors.Join(gob.NewEncoder(f).Encode(bytesServer{addr, bodies}), f.Close()))
	return b.start(addr, func() error {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			err = c.Close()
		}
		return err
	}, must(os.Executable()), serveBytesArg, f.Name())
}

// serveBytes serves until the context ends, with the limits of the service.
func serveBytes(ctx context.Context, path string) (err error) {
	defer catch(&err)
	f := must(os.Open(path))
	defer func() { _ = f.Close() }()
	var s bytesServer
	check(gob.NewDecoder(f).Decode(&s))
	server := &http.Server{Addr: s.Addr, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 16 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := s.Bodies[r.RequestURI]
			if !ok {
				http.NotFound(w, r)
				return
			}
			h := w.Header()
			h["Content-Type"] = []string{"application/json"}
			h["Content-Length"] = []string{strconv.Itoa(len(body))}
			_, _ = w.Write(body) // fails when the caller has gone
		})}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

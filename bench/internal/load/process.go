package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a server that was started here.
type Process struct {
	Addr  string
	cmd   *exec.Cmd
	log   *os.File
	began time.Time
	ended chan error
}

// startServer starts a program that serves on the address, with its output in
// a file. It does not wait.
func startServer(ctx context.Context, addr, logPath, program string, args ...string) (*Process, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	p := &Process{Addr: addr, cmd: cmd, log: log, began: time.Now(), ended: make(chan error, 1)}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() { p.ended <- cmd.Wait() }()
	return p, nil
}

// ready waits until the check passes and returns how long that took from the
// start of the process.
func (p *Process) ready(check func() error) (time.Duration, error) {
	for {
		err := check()
		took := time.Since(p.began)
		if err == nil {
			return took, nil
		}
		select {
		case ended := <-p.ended:
			p.ended <- ended
			return 0, fmt.Errorf("%s ended before it served (%v); see %s", p.cmd.Args, ended, p.log.Name())
		default:
		}
		if took > 30*time.Second {
			return 0, errors.Join(fmt.Errorf("%s does not serve: %w", p.cmd.Args, err), p.Stop())
		}
		time.Sleep(time.Millisecond)
	}
}

// Stop ends the process in an orderly way and waits for it.
func (p *Process) Stop() error {
	defer func() { _ = p.log.Close() }()
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

// freeAddress is a loopback address on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// CPU is what the process has used so far, in user and kernel mode.
func (p *Process) CPU() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // Linux reports in USER_HZ, which is 100 everywhere
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// Memory is a figure of /proc/PID/status in MiB: VmRSS is now, VmHWM was the
// most.
func (p *Process) Memory(name string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in the status of the process", name)
}

// Output starts a program, waits for its end and returns its output.
func Output(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What the measurement consists of, and what it starts later, runs on the cores that
// were named, with all of its threads.
func TestProcessesAreConfinedToCores(t *testing.T) {
	before := allowed()
	defer func() {
		check(confine(before))
		runtime.SetDefaultGOMAXPROCS()
	}()
	start := func() *exec.Cmd {
		cmd := exec.Command("sh", "-c", "sleep 60 & wait")
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		check(cmd.Start())
		return cmd
	}
	end := func(cmd *exec.Cmd) {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait()
	}
	first := start()
	defer end(first)
	for len(family(first.Process.Pid)) < 2 {
		runtime.Gosched()
	}
	one := firstOf(before, 1)
	check(confine(one))
	second := start()
	defer end(second)
	for _, pid := range []int{os.Getpid(), first.Process.Pid, family(first.Process.Pid)[1], second.Process.Pid} {
		for _, path := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))) {
			var on unix.CPUSet
			thread := must(strconv.Atoi(filepath.Base(path)))
			if err := unix.SchedGetaffinity(thread, &on); err == nil && on != one {
				t.Errorf("thread %d of process %d runs on %d cores", thread, pid, on.Count())
			}
		}
	}
	if n := before.Count(); one.Count() != 1 || firstOf(before, n) != before || firstOf(before, n+1) != before {
		t.Error("the first cores of a set are others")
	}
}

func TestColumnsWithoutCoresStayEmpty(t *testing.T) {
	for cores, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2}, 4: {1, 2, 4}, 64: {1, 2, 4}} {
		if got := countsOn(cores, false); !slices.Equal(got, want) {
			t.Errorf("%d cores: %v", cores, got)
		}
		if got := countsOn(cores, true); !slices.Equal(got, want[len(want)-1:]) {
			t.Errorf("%d cores, quick: %v", cores, got)
		}
	}
	of := func(rates ...float64) *side {
		s := &side{}
		for _, r := range rates {
			s.rounds = append(s.rounds, measurement{Rate: r})
		}
		return s
	}
	line := growth("reports", map[int]*side{1: of(1000, 2000), 2: of(1500, 4000)})
	if got := strings.Join(line, "|"); got != "reports|1,500|2,750||1.75 (1.50 to 2.00)|" {
		t.Error(got)
	}
}

func TestTargetsDependOnTheCores(t *testing.T) {
	for cores, want := range map[int]float64{2: 1.5, 3: 1.5, 4: 2, 8: 2} {
		b := &bench{}
		for core := range cores {
			b.cores.Set(core)
		}
		if got := b.byCores(1.5, 2); got != want {
			t.Errorf("%d cores: %v", cores, got)
		}
	}
}

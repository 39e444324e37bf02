package pg

import (
	"errors"
	"io"
	"os/exec"
	"syscall"
)

// guardScript waits for the end of its input, which comes when this process ends,
// however it ends. A server that was just started and has no postmaster.pid yet ends
// by itself within a minute, because its data is gone.
const guardScript = `read -r line
if pid=$(head -n 1 "$1/data/postmaster.pid" 2>&-); then
	kill -QUIT "$pid" 2>&-
	for i in 0 1 2 3 4 5 6 7 8 9; do
		kill -0 "$pid" 2>&- || break
		sleep 0.3
	done
fi
rm -rf "$1"`

// guard starts a process that ends the server and removes its folder when the guard
// is closed, or when this process is gone.
func guard(folder string) (io.Closer, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guard", folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return guardian{cmd, input}, cmd.Start()
}

type guardian struct {
	cmd   *exec.Cmd
	input io.Closer
}

func (g guardian) Close() error { return errors.Join(g.input.Close(), g.cmd.Wait()) }

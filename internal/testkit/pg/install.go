package pg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// oldest is the first major version of PostgreSQL that Purveyor supports.
const oldest = 15

// installation is PostgreSQL as installed on this machine.
type installation struct {
	bin        string              // folder of the programs
	credential *syscall.Credential // user of the programs; nil: this process's user
}

// find returns the newest PostgreSQL. Its programs refuse to run as root, so root
// runs them as the user of the installed packages.
func find() (installation, error) {
	bin, err := newest()
	if err != nil || os.Geteuid() != 0 {
		return installation{bin: bin}, err
	}
	account, err := osuser.Lookup("postgres")
	if err != nil {
		return installation{}, fmt.Errorf("PostgreSQL cannot run as root: %w", err)
	}
	uid, err1 := strconv.ParseUint(account.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(account.Gid, 10, 32)
	return installation{bin, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, errors.Join(err1, err2)
}

var versionNumber = regexp.MustCompile(`\d+`)

// newest returns the folder of the newest programs, including those on the PATH.
func newest() (string, error) {
	candidates, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // where Debian installs it
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		candidates = append(candidates, path)
	}
	best, bin := 0, ""
	for _, path := range candidates {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		if version, err := strconv.Atoi(versionNumber.FindString(string(out))); err == nil && version > best {
			best, bin = version, filepath.Dir(path)
		}
	}
	if best < oldest {
		return "", fmt.Errorf("PostgreSQL %d or newer is not installed (on Debian and Ubuntu: apt-get install postgresql)", oldest)
	}
	return bin, nil
}

// own makes the programs' user the owner of a folder.
func (i installation) own(folder string) error {
	if i.credential == nil {
		return nil
	}
	return os.Chown(folder, int(i.credential.Uid), int(i.credential.Gid))
}

// command runs a program of PostgreSQL in its own process group, because an interrupt
// at the terminal is meant for the tests.
func (i installation) command(folder, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(i.bin, program), args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: i.credential, Setpgid: true}
	return cmd
}

package ledgertest

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// childAttr is how the server's processes are started. PostgreSQL refuses to run as root, so as root they, and only they, run
// as another user, who then must own dir.
func childAttr(dir string) (*syscall.SysProcAttr, error) {
	attr := baseAttr()
	attr.Setpgid = true // Ctrl-C on the tests must not reach the server before the tests are done with it
	if os.Geteuid() != 0 {
		return attr, nil
	}
	names := []string{"postgres", "nobody"}
	if name := os.Getenv("PG_RUN_AS"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, err := credential(u)
		if err != nil {
			return nil, err
		}
		attr.Credential = id
		return attr, os.Chown(dir, int(id.Uid), int(id.Gid))
	}
	return nil, errors.New("running as root, and there is no user " + names[0] + " to run PostgreSQL as: set PG_RUN_AS")
}

func credential(u *user.User) (*syscall.Credential, error) {
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

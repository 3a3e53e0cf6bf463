package ledgertest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// errNoServer is the one line to type.
var errNoServer = errors.New("no PostgreSQL server found: type `make test`, which installs one; or set TEST_DATABASE_URL to one " +
	"that runs, or SQLITE_ONLY=1 to leave PostgreSQL out")

// binFolders is where installers put a server; Debian's is not in PATH. `.ci/pg-bindir` looks into the same.
var binFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBin returns the folder that holds both initdb and postgres: PG_BINDIR, else PATH's, else the newest of the usual ones.
func findBin() (string, error) {
	if dir := os.Getenv("PG_BINDIR"); dir != "" {
		if !hasServer(dir) {
			return "", errors.New("PG_BINDIR: no initdb and postgres in " + dir)
		}
		return dir, nil
	}
	for _, dir := range candidates() {
		if hasServer(dir) {
			return dir, nil
		}
	}
	return "", errNoServer
}

func candidates() []string {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if file, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(file)) // a link in /usr/local/bin has no postgres beside it
		}
	}
	for _, pattern := range binFolders {
		found, _ := filepath.Glob(pattern) // the patterns above are well formed
		sort.Slice(found, func(i, j int) bool { return version(found[i]) > version(found[j]) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// version is the first number in a path, 9.6 for /usr/lib/postgresql/9.6/bin.
func version(dir string) float64 {
	for _, part := range strings.FieldsFunc(dir, func(r rune) bool { return r == '/' || r == '@' || r == '-' }) {
		if v, err := strconv.ParseFloat(part, 64); err == nil {
			return v
		}
	}
	return 0
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

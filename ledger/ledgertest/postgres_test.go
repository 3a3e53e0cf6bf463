package ledgertest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestPostgresDatabasesAreSeparate(t *testing.T) {
	one, two := open(t, Postgres(t)), open(t, Postgres(t))
	must(t, one, "CREATE TABLE seen (n BIGINT)")
	if tables(t, one) != 1 || tables(t, two) != 0 {
		t.Fatalf("tables: %d and %d, want 1 and 0", tables(t, one), tables(t, two))
	}
}

func TestPostgresTemplateIsFilledOnce(t *testing.T) {
	filled := 0
	fill := func(dsn string) error {
		filled++
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			return err
		}
		defer db.Close() // nobody may be connected to a template that is copied
		_, err = db.Exec("CREATE TABLE filled (n BIGINT)")
		return err
	}
	for range 3 {
		if n := tables(t, open(t, Postgres(t, fill))); n != 1 {
			t.Fatalf("%d tables in a copy, want 1", n)
		}
	}
	if n := tables(t, open(t, Postgres(t))); filled != 1 || n != 0 {
		t.Fatalf("filled %d times, want 1; %d tables in an empty database, want 0", filled, n)
	}
}

func TestFailedMigrationIsToldAndTriedAgain(t *testing.T) {
	Postgres(t) // starts the server, or skips
	broken := errors.New("broken migration")
	fail := func(string) error { return broken }
	for range 2 {
		if _, err := shared.create([]func(string) error{fail}); !errors.Is(err, broken) {
			t.Fatalf("error %v, want %v", err, broken)
		}
	}
}

func TestDatabaseIsDroppedAtTheEnd(t *testing.T) {
	var dsn string
	if !t.Run("inner", func(t *testing.T) { dsn = Postgres(t) }) {
		t.FailNow()
	}
	if dsn == "" {
		t.Skip("SQLITE_ONLY is set: the inner test was left out")
	}
	db := open(t, dsn)
	if err := db.Ping(); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("error %v, want one that says: does not exist", err)
	}
}

func TestKill9KeepsWhatWasCommitted(t *testing.T) {
	skipWithoutServer(t)
	c := start(t, Options{Durable: true, TCP: true})
	db := open(t, c.TCP("postgres"))
	must(t, db, "CREATE TABLE kept (n BIGINT)")
	for n := range 3 {
		must(t, db, fmt.Sprintf("INSERT INTO kept VALUES (%d)", n))
		keepBusy(t, c.DSN("postgres"), 30) // many processes are slower to be gone
		c.Kill9()
		if err := db.Ping(); err == nil {
			t.Fatal("the server answers after Kill9")
		}
		if err := c.Up(); err != nil {
			t.Fatal(err)
		}
		var kept int
		if err := open(t, c.DSN("postgres")).QueryRow("SELECT count(*) FROM kept").Scan(&kept); err != nil || kept != n+1 {
			t.Fatalf("%d rows, %v; want the %d committed", kept, err, n+1)
		}
	}
}

// keepBusy leaves so many connections sorting in the server.
func keepBusy(t *testing.T, dsn string, connections int) {
	t.Helper()
	db := open(t, dsn)
	var connected sync.WaitGroup
	for range connections {
		connected.Add(1)
		go func() {
			conn, err := db.Conn(t.Context())
			connected.Done()
			if err == nil {
				_, _ = conn.ExecContext(t.Context(), "SELECT count(*) FROM (SELECT g FROM generate_series(1, 10000000) g ORDER BY -g) s") // is killed
			}
		}()
	}
	connected.Wait()
}

func TestStopRemovesTheFolder(t *testing.T) {
	skipWithoutServer(t)
	c := start(t, Options{})
	c.Stop()
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Fatalf("the folder %s is still there: %v", c.dir, err)
	}
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	skipWithoutServer(t)
	_, err := Start(Options{Conf: map[string]string{"shared_buffers": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Fatalf("error %v, want one that names shared_buffers", err)
	}
}

func TestNoServerSaysWhatToType(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("PG_BINDIR", "")
	t.Setenv("PATH", empty)
	defer func(saved []string) { binFolders = saved }(binFolders)
	binFolders = []string{filepath.Join(empty, "*")}
	if _, err := findBin(); !errors.Is(err, errNoServer) {
		t.Fatalf("error %v, want %v", err, errNoServer)
	}
	t.Setenv("PG_BINDIR", empty)
	if _, err := findBin(); err == nil || !strings.Contains(err.Error(), empty) {
		t.Fatalf("error %v, want one that names %s", err, empty)
	}
}

func TestOnlySQLiteOnlyLeavesPostgresOut(t *testing.T) {
	for _, c := range []struct {
		sqliteOnly, require string
		out, wrong          bool
	}{{"", "", false, false}, {"1", "", true, false}, {"", "1", false, false}, {"1", "1", false, true}} {
		out, err := leftOut(c.sqliteOnly, c.require)
		if out != c.out || (err != nil) != c.wrong {
			t.Errorf("SQLITE_ONLY=%q REQUIRE_POSTGRES=%q: left out %v, error %v", c.sqliteOnly, c.require, out, err)
		}
	}
}

func TestWrongURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, dsn := range []string{"mysql://u:hunter2@h/d", "postgres://u:hunter2@h:port/d", "host=h password=hunter2"} {
		if _, err := parseURL(dsn); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", dsn, err)
		}
	}
}

func TestNewestVersionFirst(t *testing.T) {
	for dir, want := range map[string]float64{
		"/usr/lib/postgresql/9.6/bin": 9.6, "/usr/lib/postgresql/17/bin": 17, "/usr/pgsql-16/bin": 16,
		"/opt/homebrew/opt/postgresql@18/bin": 18, "/usr/local/pgsql/bin": 0,
	} {
		if got := version(dir); got != want {
			t.Errorf("version(%q) = %v, want %v", dir, got, want)
		}
	}
}

// skipWithoutServer skips where PostgreSQL is left out on request, and where the only server is another's: not ours to kill.
func skipWithoutServer(t *testing.T) {
	t.Helper()
	Postgres(t)
	if _, err := findBin(); err != nil {
		t.Skip("TEST_DATABASE_URL is the only server here:", err)
	}
}

func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func tables(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

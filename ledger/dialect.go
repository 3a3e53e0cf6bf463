package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/libtnb/sqlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// dialect is the only place that knows which database is open.
type dialect struct{ name string }

const (
	postgresName = "postgres"
	sqliteName   = "sqlite"
)

// mark is the n-th placeholder, from 1.
func (d dialect) mark(n int) string {
	if d.name == postgresName {
		return "$" + strconv.Itoa(n)
	}
	return "?" + strconv.Itoa(n)
}

// errRetry is a lost compare-and-set: somebody else was first, look again.
var errRetry = errors.New("somebody else was first")

// retriable says whether repeating the whole transaction can heal err.
func retriable(err error) bool {
	if errors.Is(err, errRetry) || errors.Is(err, driver.ErrBadConn) { // the latter: the connection was gone before anything was sent on it
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch {
		case pg.Code == "40001", pg.Code == "40P01", pg.Code == "55P03": // serialization, deadlock, lock not available
			return true
		case pg.Code == "23505": // a key that was free when it was looked up: somebody else was first
			return true
		case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "57P"), pg.Code == "25P03": // connection, shutting down, silent for too long
			return true
		}
		return pg.Code == "XX000" && strings.Contains(pg.Message, "server closed")
	}
	var busy interface{ Code() int } // modernc's error; the low byte is SQLite's primary code
	if errors.As(err, &busy) {
		code := busy.Code() & 0xff
		return code == 5 || code == 6 || busy.Code() == 1555 || busy.Code() == 2067 // BUSY, LOCKED; PRIMARYKEY, UNIQUE: as above
	}
	var netErr *pgconn.ConnectError
	return errors.As(err, &netErr) || pgconn.SafeToRetry(err)
}

// lockedOut is a row that somebody has held for longer than lockWait. (SQLite has one lock for all, so waiting aside gains nothing.)
func lockedOut(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// lockWaited is a transaction given up because somebody else was writing all the while.
func lockWaited(err error) bool {
	var busy interface{ Code() int }
	return lockedOut(err) || errors.As(err, &busy) && busy.Code()&0xff == 5 || errors.Is(err, context.DeadlineExceeded)
}

// endWhenSilent lets the database end this transaction when nothing is heard of it for so long: a process that is stalled in the middle of
// one would hold its rows for ever. On SQLite nothing but the process itself can end it.
func (l *Ledger) endWhenSilent(tx *gorm.DB, after time.Duration) error {
	if l.dialect.name != postgresName {
		return nil
	}
	_, err := exec(tx, "SET LOCAL idle_in_transaction_session_timeout = "+strconv.FormatInt(max(after.Milliseconds(), 1), 10))
	return err
}

// waitLonger lets this transaction wait for a row for so long. It is for the last row that it locks: waiting for one it can do no harm to
// those who hold it. On SQLite there is one lock, which it has already.
func (l *Ledger) waitLonger(tx *gorm.DB, most time.Duration) error {
	if l.dialect.name != postgresName {
		return nil
	}
	_, err := exec(tx, "SET LOCAL lock_timeout = "+strconv.FormatInt(most.Milliseconds(), 10))
	return err
}

// lockWait is how long one statement waits for a row, in PostgreSQL's milliseconds. Our own transactions hold a row for less; a person's
// may hold it for minutes.
const lockWait = "250"

// silenceMax is when the database ends a transaction of which nothing is heard, in PostgreSQL's milliseconds: a process that is stopped or
// cut off in the middle of one must not hold its rows against all the others. Ours pause between statements for far less.
const silenceMax = "30000"

// connect opens the pools.
func (l *Ledger) connect(dsn string) error {
	file, isFile := strings.CutPrefix(dsn, "sqlite:")
	switch {
	case isFile && strings.HasPrefix(file, ":"):
		return fmt.Errorf("database sqlite:%s: a file is needed: the book keeps two connections, which a database in memory does not share", file)
	case isFile && file != "":
		return l.connectSQLite(file)
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return l.connectPostgres(dsn)
	}
	return fmt.Errorf("database %q: expected postgres://… or sqlite:FILE", redactDSN(dsn))
}

// redactDSN keeps a password out of an error text.
func redactDSN(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.Host != "" {
		return u.Redacted()
	}
	head, _, _ := strings.Cut(dsn, "@")
	if head != dsn {
		return "…"
	}
	return dsn
}

func (l *Ledger) connectPostgres(dsn string) error {
	conf, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("database %s: the address is not understood", redactDSN(dsn))
	}
	setUnlessGiven(conf, "timezone", "UTC")
	setUnlessGiven(conf, "lock_timeout", lockWait)
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 3 * time.Second
	}
	conf.StatementCacheCapacity = 2048 // a batch of another size is another statement
	l.dialect = dialect{postgresName}
	if l.read, err = l.postgresPool(*conf.Copy()); err != nil {
		return err
	}
	// The book's own statements all go by a key. Planned once while a table was still empty, they would keep a plan that reads the
	// whole table, and be a disaster an hour later; planned anew each time, planning would cost more than the work.
	setUnlessGiven(conf, "plan_cache_mode", "force_generic_plan")
	setUnlessGiven(conf, "enable_seqscan", "off")
	setUnlessGiven(conf, "jit", "off")
	setUnlessGiven(conf, "idle_in_transaction_session_timeout", silenceMax)
	l.db, err = l.postgresPool(*conf)
	return err
}

func setUnlessGiven(conf *pgx.ConnConfig, name, value string) {
	if conf.RuntimeParams[name] == "" {
		conf.RuntimeParams[name] = value
	}
}

func (l *Ledger) postgresPool(conf pgx.ConnConfig) (*gorm.DB, error) {
	pool := stdlib.OpenDB(conf)
	pool.SetMaxOpenConns(l.options.MaxConns)
	pool.SetMaxIdleConns(l.options.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return gorm.Open(postgres.New(postgres.Config{Conn: pool}), gormConfig(l))
}

// connectSQLite opens one connection for writes, because SQLite has one writer and its busy loop is not fair while a pool's
// queue is, and a read-only pool beside it. _txlock=immediate: a transaction that reads first could not upgrade later.
// synchronous=FULL: with NORMAL a power cut loses commits that were acknowledged.
func (l *Ledger) connectSQLite(file string) error {
	l.dialect = dialect{sqliteName}
	if err := private(file); err != nil {
		return err
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)
	pragmas := "?_pragma=busy_timeout(2000)&_pragma=foreign_keys(1)&_time_format=sqlite"
	open := func(extra string, conns int) (*gorm.DB, error) {
		db, err := gorm.Open(sqlite.Open("file:"+escaped+pragmas+extra), gormConfig(l))
		if err != nil {
			return nil, fmt.Errorf("database file %s: %w", file, err)
		}
		pool, err := db.DB()
		if err != nil {
			return nil, err
		}
		pool.SetMaxOpenConns(conns)
		pool.SetMaxIdleConns(conns)
		return db, nil
	}
	var err error
	if l.db, err = open("&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate", 1); err != nil {
		return err
	}
	l.read, err = open("&_pragma=query_only(1)", 4)
	return err
}

// private makes the file before SQLite does: what customers paid is not for every user of the machine.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("database file %w", err)
	}
	return f.Close()
}

// registered makes the serializer known to gorm, whose registry is global.
var registered = sync.OnceFunc(func() { schema.RegisterSerializer("utc", utcSerializer{}) })

func gormConfig(l *Ledger) *gorm.Config {
	registered()
	return &gorm.Config{
		SkipDefaultTransaction: true,
		TranslateError:         true,
		Logger:                 logger.Discard, // errors are returned, and a statement's values are never logged
		NowFunc:                l.clock,
	}
}

// utcSerializer keeps times in UTC on both databases: SQLite's STRICT tables hold them as text, which only we can read back.
type utcSerializer struct{}

func (utcSerializer) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, dbValue any) error {
	if dbValue == nil {
		return nil
	}
	var at time.Time
	if err := (utc{&at}).Scan(dbValue); err != nil {
		return err
	}
	if field.FieldType.Kind() == reflect.Pointer {
		return field.Set(ctx, dst, &at)
	}
	return field.Set(ctx, dst, at)
}

func (utcSerializer) Value(_ context.Context, _ *schema.Field, _ reflect.Value, value any) (any, error) {
	switch at := value.(type) {
	case time.Time:
		return at.UTC().Truncate(time.Microsecond), nil
	case *time.Time:
		if at == nil {
			return nil, nil
		}
		return at.UTC().Truncate(time.Microsecond), nil
	}
	return nil, fmt.Errorf("utc serializer: %T", value)
}

// utc scans a time column of either database.
type utc struct{ at *time.Time }

// Scan implements sql.Scanner.
func (u utc) Scan(value any) error {
	switch v := value.(type) {
	case time.Time:
		*u.at = v.UTC()
		return nil
	case string:
		at, err := time.Parse("2006-01-02 15:04:05.999999999-07:00", v)
		*u.at = at.UTC()
		return err
	}
	return fmt.Errorf("a time column holds %T", value)
}

// nullUTC scans a time column that may be NULL.
type nullUTC struct{ at **time.Time }

// Scan implements sql.Scanner.
func (u nullUTC) Scan(value any) error {
	if value == nil {
		*u.at = nil
		return nil
	}
	at := new(time.Time)
	*u.at = at
	return utc{at}.Scan(value)
}

// zeroUTC scans a time column that may be NULL into a time that is then zero.
type zeroUTC struct{ at *time.Time }

// Scan implements sql.Scanner.
func (u zeroUTC) Scan(value any) error {
	if value == nil {
		*u.at = time.Time{}
		return nil
	}
	return utc(u).Scan(value)
}

// orNull is what zeroUTC reads back.
func orNull(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at
}

// exec and query run hand-written SQL inside gorm's transaction: gorm's own statement building costs more than the
// statement on the callback path.
func exec(tx *gorm.DB, text string, args ...any) (sql.Result, error) {
	return tx.Statement.ConnPool.ExecContext(tx.Statement.Context, text, args...)
}

func query(tx *gorm.DB, text string, args []any, each func(*sql.Rows) error) error {
	rows, err := tx.Statement.ConnPool.QueryContext(tx.Statement.Context, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// changedOne turns a statement that did not change exactly one row into errRetry: the row is not as it was read.
func changedOne(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		return errRetry
	}
	return err
}

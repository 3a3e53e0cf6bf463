package bank

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/models"
)

// field is one tag with its text, which may run over several lines.
type field struct {
	tag  string // 20, 60F …
	text []string
	line int
}

// mt940 reads one file: messages of fields, which may stand in SWIFT's envelope or follow one another without any.
type mt940 struct {
	bank        *Bank
	file, label string
	lines       *bufio.Scanner
	line        int
	held        *field // read, and not handed out yet
	enveloped   bool   // an envelope was opened and has to be closed
	statements  []*Statement
}

var (
	tagLine  = regexp.MustCompile(`^:(\d{2}[A-Z]?):(.*)$`)
	envelope = regexp.MustCompile(`\{4:\s*$`)
)

// readMT940 reads an MT940 file: all statements in it, of whatever account.
func readMT940(b *Bank, file, label string, r io.Reader) ([]*Statement, error) {
	m := &mt940{bank: b, file: file, label: label, lines: bufio.NewScanner(decoded(limit(r), b.Encoding))}
	m.lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	m.lines.Split(anyLines)
	if err := m.read(); err != nil {
		return nil, err
	}
	if len(m.statements) == 0 {
		return nil, m.fail(0, "", "no statement in it: no field :20: was found, as an MT940 has it")
	}
	return m.statements, nil
}

// anyLines splits at LF, CRLF and CR.
func anyLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	for i, c := range data {
		switch {
		case c == '\n':
			return i + 1, data[:i], nil
		case c == '\r' && i+1 < len(data) && data[i+1] == '\n':
			return i + 2, data[:i], nil
		case c == '\r' && (i+1 < len(data) || atEOF):
			return i + 1, data[:i], nil
		}
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func (m *mt940) fail(line int, tag, format string, args ...any) error {
	if tag != "" {
		tag = ":" + tag + ":"
	}
	return (&Statement{File: m.file}).fail(line, tag, format, args...)
}

// text is the next line; io.EOF at the end.
func (m *mt940) text() (string, error) {
	if !m.lines.Scan() {
		if err := m.lines.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = errors.New("a line of more than 1 MiB: it is no text")
			}
			return "", readerError(m.file, m.line+1, err)
		}
		return "", io.EOF
	}
	m.line++
	text := m.lines.Text()
	if m.line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	switch bad := strings.IndexFunc(text, func(c rune) bool { return c == utf8.RuneError }); {
	case bad >= 0:
		return "", &models.FileError{File: m.file, Line: m.line, Column: strconv.Itoa(bad + 1), What: "bytes that are no character of the configured encoding",
			Next: "set banks[].encoding to one of " + strings.Join(Encodings(), ", ")}
	case strings.IndexByte(text, 0) >= 0:
		return "", m.fail(m.line, "", "a zero byte: it is no text")
	case m.line == 1 && looksLikeMarkup(text):
		return "", m.fail(m.line, "", "not an MT940: it begins with %q", clip(strings.TrimSpace(text)))
	}
	return strings.TrimRight(text, " \t"), nil
}

func looksLikeMarkup(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{\"") || text == "{"
}

// next is the next field, or one with the tag "-" where a message ends; nil at the end of the file.
func (m *mt940) next() (*field, error) {
	if f := m.held; f != nil && f.tag == "-" {
		m.held = nil
		return f, nil
	}
	for {
		text, err := m.text()
		if errors.Is(err, io.EOF) {
			f := m.held
			m.held = nil
			return f, nil
		} else if err != nil {
			return nil, err
		}
		fresh, err := m.classify(text)
		if err != nil {
			return nil, err
		}
		if fresh == nil {
			continue
		}
		if done := m.held; done != nil {
			m.held = fresh
			return done, nil
		}
		if m.held = fresh; fresh.tag == "-" {
			m.held = nil
			return fresh, nil
		}
	}
}

// classify is the field that a line begins; nil for one that goes on, which is added, or means nothing.
func (m *mt940) classify(text string) (*field, error) {
	tag := tagLine.FindStringSubmatch(text)
	switch {
	case tag != nil:
		return &field{tag: tag[1], text: []string{tag[2]}, line: m.line}, nil
	case text == "-" && !m.enveloped, strings.HasPrefix(text, "-}"):
		m.enveloped = strings.Contains(strings.TrimPrefix(text, "-}"), "{4:")
		return &field{tag: "-", line: m.line}, nil
	case strings.HasPrefix(text, "{"):
		if envelope.MatchString(text) {
			m.enveloped = true
		}
		return nil, nil
	case m.held != nil:
		m.held.text = append(m.held.text, text)
	case strings.TrimSpace(text) != "" && len(m.statements) == 0 && m.line > 20:
		return nil, m.fail(m.line, "", "%q stands before any field: it is no MT940", clip(text))
	}
	return nil, nil
}

// read puts the fields together to statements.
func (m *mt940) read() error {
	var s *Statement
	for {
		f, err := m.next()
		if err != nil {
			return err
		}
		if f == nil || f.tag == "-" || f.tag == "20" {
			if err := m.end(s); err != nil {
				return err
			}
			s = nil
		}
		switch {
		case f == nil && m.enveloped:
			return &models.FileError{File: m.file, Line: m.line, What: "the file ends within a message, which -} would close: it is cut", Next: "download it again"}
		case f == nil:
			return nil
		case f.tag == "-":
			continue
		case f.tag == "20":
			s = &Statement{File: m.file, Label: m.label, Line: f.line, Last: true}
			continue
		case s == nil:
			return m.fail(f.line, f.tag, "it stands before :20:, with which a statement begins")
		}
		if err := m.field(s, f); err != nil {
			return err
		}
	}
}

// end closes a statement.
func (m *mt940) end(s *Statement) error {
	if s == nil {
		return nil
	}
	switch {
	case s.Account == "":
		return m.fail(s.Line, "25", "missing: the statement does not say of which account it is")
	case s.Opening == nil:
		return m.fail(s.Line, "60F", "missing: the statement has no opening balance")
	case s.Closing == nil:
		return &models.FileError{File: m.file, Line: s.Line, Column: ":62F:", What: "missing: the statement has no closing balance, it is cut", Next: "download it again"}
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Booked.IsZero() {
			l.Booked = l.Value
		}
	}
	m.statements = append(m.statements, s)
	return nil
}

// field reads one field of a statement. Those that say nothing about what is booked are passed over.
func (m *mt940) field(s *Statement, f *field) (err error) {
	text := strings.TrimSpace(f.text[0])
	switch f.tag {
	case "25", "25P":
		s.Account = text
	case "28", "28C":
		return m.number(s, f, text)
	case "60F", "60M":
		if s.Opening != nil {
			return m.fail(f.line, f.tag, "the statement has a second opening balance")
		}
		if f.tag == "60F" && s.Page > 1 {
			s.Page = 1 // a number of another kind: the first page is the one with 60F
		}
		s.Opening, err = m.balance(s, f, text)
	case "62F", "62M":
		if s.Closing != nil {
			return m.fail(f.line, f.tag, "the statement has a second closing balance")
		}
		s.Last = f.tag == "62F"
		s.Closing, err = m.balance(s, f, text)
	case "61":
		if s.Opening == nil {
			return m.fail(f.line, f.tag, "no opening balance (:60F:) stands before it: the statement is cut, or another kind of message")
		}
		if s.Closing != nil {
			return m.fail(f.line, f.tag, "it stands outside of the balances")
		}
		return m.booking(s, f)
	case "86":
		if len(s.Lines) > 0 && s.Closing == nil {
			m.purpose(&s.Lines[len(s.Lines)-1], f)
		}
	case "34F", "90C", "90D", "13D":
		if s.Opening == nil {
			return &models.FileError{File: m.file, Line: f.line, Column: ":" + f.tag + ":", What: "it is an MT942, a report of the running day, not an MT940",
				Next: "give the MT940 of the day"}
		}
	}
	return err
}

// number reads the statement's number and its page.
func (m *mt940) number(s *Statement, f *field, text string) error {
	number, page, paged := strings.Cut(text, "/")
	if s.Number = number; !paged || page == "" {
		return nil
	}
	n, err := strconv.Atoi(page)
	if err != nil || n < 0 {
		return m.fail(f.line, f.tag, "%q: a number, or number/page, expected", clip(text))
	}
	s.Page = n
	return nil
}

// balanceText is D or C, the date, the currency, the sum.
var balanceText = regexp.MustCompile(`^([DC])(\d{6})([A-Z]{3})(.+)$`)

func (m *mt940) balance(s *Statement, f *field, text string) (*Balance, error) {
	part := balanceText.FindStringSubmatch(text)
	if part == nil {
		return nil, m.fail(f.line, f.tag, "%q: D or C, YYMMDD, currency and sum expected, such as C261130EUR1234,56", clip(text))
	}
	date, err := shortDate(part[2])
	if err != nil {
		return nil, m.fail(f.line, f.tag, "%q: a date YYMMDD expected", part[2])
	}
	if s.Currency == "" {
		s.Currency = part[3]
	} else if s.Currency != part[3] {
		return nil, m.fail(f.line, f.tag, "currency %s, the opening balance is in %s", part[3], s.Currency)
	}
	minor, err := m.amount(s, f, part[4])
	if part[1] == "D" {
		minor = -minor
	}
	return &Balance{minor, date}, err
}

// commaDecimal is how SWIFT writes a sum: with a comma, behind which there may be nothing.
var commaDecimal = regexp.MustCompile(`^\d{1,15},\d{0,4}$`)

func (m *mt940) amount(s *Statement, f *field, text string) (int64, error) {
	if !commaDecimal.MatchString(text) {
		return 0, m.fail(f.line, f.tag, "%q: a sum such as 1234,56 expected, with a comma", clip(text))
	}
	sum, err := models.ParseMajor(strings.TrimSuffix(strings.Replace(text, ",", ".", 1), "."), s.Currency)
	if err != nil {
		return 0, m.fail(f.line, f.tag, "%v", err)
	}
	return sum.Minor, nil
}

// shortDate reads YYMMDD. No bank statement in use is of the last century.
func shortDate(text string) (time.Time, error) { return time.Parse("20060102", "20"+text) }

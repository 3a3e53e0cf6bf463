package bank

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	xunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"paybook/models"
)

// node is an element with all that is in it. Elements are known by their local names, which are the same in every version.
type node struct {
	name     string
	attrs    []xml.Attr
	text     string
	children []*node
	line     int
}

// Limits of one element of a statement: what is deeper or larger was made to fill a machine.
const (
	depthMax = 64
	nodesMax = 2_000_000
)

// at is the first element on the way down; nil when there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		var next *node
		if n != nil {
			for _, c := range n.children {
				if c.name == name {
					next = c
					break
				}
			}
		}
		n = next
	}
	return n
}

// all are the children of that name.
func (n *node) all(name string) (list []*node) {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.name == name {
			list = append(list, c)
		}
	}
	return list
}

// get is the text of the first element on the way down, "" when there is none.
func (n *node) get(path ...string) string {
	if found := n.at(path...); found != nil {
		return found.text
	}
	return ""
}

// or is the first of the elements that is there.
func or(nodes ...*node) *node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

// camt reads one file.
type camt struct {
	bank        *Bank
	file, label string
	d           *xml.Decoder
	statements  []*Statement
	page        int // of the message, where the statement does not count its own
	last        bool
}

// readCamt reads a camt.053 file: all statements in it, of whatever account.
func readCamt(b *Bank, file, label string, r io.Reader) ([]*Statement, error) {
	c := &camt{bank: b, file: file, label: label, d: xml.NewDecoder(marked(limit(r))), last: true}
	c.d.CharsetReader = charset
	if err := c.root(); err != nil {
		return nil, err
	}
	if len(c.statements) == 0 {
		return nil, c.fail(0, "", "no statement (Stmt) in it")
	}
	return c.statements, nil
}

// marked decodes a file that begins with the byte-order mark of UTF-16, of which the XML reader could not even read the declaration.
func marked(r io.Reader) io.Reader {
	return transform.NewReader(r, xunicode.BOMOverride(transform.Nop))
}

// charset decodes what the XML declaration names. UTF-16 has been decoded by then.
func charset(label string, r io.Reader) (io.Reader, error) {
	name := strings.ToLower(label)
	switch name {
	case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf16":
		return r, nil
	case "iso-8859-1":
		name = "latin1"
	case "gb2312":
		name = "gb18030"
	}
	if encodings[name] == nil {
		return nil, fmt.Errorf("encoding %q is not read here", clip(label))
	}
	return decoded(r, name), nil
}

func (c *camt) fail(line int, column, format string, args ...any) error {
	return &models.FileError{File: c.file, Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// token is the next one that says something. A document type is refused: entities could be defined in it.
func (c *camt) token() (xml.Token, int, error) {
	for {
		line, _ := c.d.InputPos()
		t, err := c.d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil, line, io.EOF
		case err != nil:
			return nil, line, c.broken(line, err)
		}
		switch t := t.(type) {
		case xml.Directive:
			return nil, line, c.fail(line, "", "a document type (<!%s) is not read", clip(string(t)))
		case xml.Comment, xml.ProcInst:
			continue
		}
		return t, line, nil
	}
}

func (c *camt) broken(line int, err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		what := "not XML: " + syntax.Msg
		if syntax.Msg == "unexpected EOF" {
			what = "the file ends within an element: it is cut"
		}
		return &models.FileError{File: c.file, Line: syntax.Line, What: what, Next: "download it again"}
	}
	return readerError(c.file, line, err)
}

// messages are the messages that a bank may send beside the one that is read, by the element that holds them.
var messages = map[string]string{
	"BkToCstmrAcctRpt":      "camt.052, a report of the running day",
	"BkToCstmrDbtCdtNtfctn": "camt.054, a notification of single lines",
	"CstmrCdtTrfInitn":      "pain.001, an order to pay",
	"CstmrPmtStsRpt":        "pain.002, the status of an order",
}

// root finds the message, whatever stands around it, and reads it to the end of the file.
func (c *camt) root() error {
	found := false
	for {
		t, line, err := c.token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		switch other := messages[name]; {
		case other != "":
			return c.wrong(line, other)
		case name == "html" || name == "HTML":
			return c.fail(line, "", "an HTML page, not a statement")
		case name == "Document" && !knownSpace(start.Name.Space):
			return c.wrong(line, strings.TrimPrefix(start.Name.Space, "urn:iso:std:iso:20022:tech:xsd:"))
		case name == "BkToCstmrStmt":
			found = true
			if err := c.message(); err != nil {
				return err
			}
		}
	}
	if !found {
		return c.fail(0, "", "no end-of-day statement (BkToCstmrStmt, camt.053) in it")
	}
	return nil
}

func (c *camt) wrong(line int, what string) error {
	return &models.FileError{File: c.file, Line: line, What: "it is " + clip(what) + ", not camt.053, the statement of a whole day",
		Next: "give the camt.053 of the day"}
}

// knownSpace is true for the namespaces of camt.053, and for none at all.
func knownSpace(space string) bool { return space == "" || strings.Contains(space, ":camt.053.001.") }

// message reads what is in BkToCstmrStmt, one part after the other.
func (c *camt) message() error {
	for {
		t, line, err := c.token()
		if err != nil {
			return c.cut(line, err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			n := 0
			switch t.Name.Local {
			case "GrpHdr":
				header, err := c.tree(t, line, 0, &n)
				if err != nil {
					return err
				}
				c.page, c.last, err = c.pages(header.at("MsgPgntn"))
				if err != nil {
					return err
				}
			case "Stmt":
				if err := c.statement(line); err != nil {
					return err
				}
			default:
				if err := c.d.Skip(); err != nil {
					return c.cut(line, err)
				}
			}
		}
	}
}

func (c *camt) cut(line int, err error) error {
	if errors.Is(err, io.EOF) {
		return c.fail(line, "", "the file ends within the statement: it is cut")
	}
	if errors.As(err, new(*models.FileError)) {
		return err
	}
	return c.broken(line, err)
}

// tree reads an element to its end.
func (c *camt) tree(start xml.StartElement, line, depth int, count *int) (*node, error) {
	if *count++; depth > depthMax || *count > nodesMax {
		return nil, c.fail(line, "", "elements within elements without end, which is no statement")
	}
	n := &node{name: start.Name.Local, attrs: start.Attr, line: line}
	var text strings.Builder
	for {
		t, line, err := c.token()
		if err != nil {
			return nil, c.cut(line, err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			child, err := c.tree(t, line, depth+1, count)
			if err != nil {
				return nil, err
			}
			n.children = append(n.children, child)
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			n.text = strings.TrimSpace(text.String())
			return n, nil
		}
	}
}

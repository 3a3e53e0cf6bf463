package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Both kinds of file become the same tree of nodes with lines, so that every message can name the line. JSON is not left to the
// YAML parser, which stumbles over tabs and surrogate pairs.

// depthMax is far beyond any sensible nesting, and far below what would exhaust the stack.
const depthMax = 64

// parseFile reads a settings file by its name's ending: .json is JSON, everything else YAML.
func parseFile(name string, raw []byte) (*yaml.Node, error) {
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return parseJSON(name, raw)
	}
	return parseYAML(name, raw)
}

// parseYAML returns the file's one document; nil for an empty file.
func parseYAML(name string, raw []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var document, more yaml.Node
	switch err := dec.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(name, err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("%s:%d: a second document begins here; one file is one document", name, more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(name, err)
	}
	return document.Content[0], nil
}

// yamlError turns "yaml: line 3: …" into "app.yaml:3: …".
func yamlError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if line, what, ok := strings.Cut(rest, ": "); ok {
			return fmt.Errorf("%s:%s: not YAML: %s", name, line, what)
		}
	}
	return fmt.Errorf("%s: not YAML: %s", name, text)
}

func parseJSON(name string, raw []byte) (*yaml.Node, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	j := &jsonReader{dec: json.NewDecoder(bytes.NewReader(raw)), raw: raw}
	j.dec.UseNumber()
	node, err := j.value(0)
	if err == nil {
		if _, err = j.dec.Token(); errors.Is(err, io.EOF) {
			return node, nil
		}
		err = errors.New("something follows the end")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends too early")
	}
	return nil, fmt.Errorf("%s:%d: not JSON: %w", name, j.line(), err)
}

type jsonReader struct {
	dec *json.Decoder
	raw []byte
}

func (j *jsonReader) line() int { return 1 + bytes.Count(j.raw[:j.dec.InputOffset()], []byte("\n")) }

func (j *jsonReader) value(depth int) (*yaml.Node, error) {
	token, err := j.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > depthMax {
		return nil, errors.New("nested too deeply")
	}
	switch v := token.(type) {
	case json.Delim:
		return j.children(v, depth)
	case string:
		return j.scalar("!!str", v), nil
	case json.Number:
		return j.scalar("!!float", v.String()), nil
	case bool:
		return j.scalar("!!bool", strconv.FormatBool(v)), nil
	}
	return j.scalar("!!null", "null"), nil
}

func (j *jsonReader) scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: j.line()}
}

// children reads an object's keys and values, or a list's items, up to the closing bracket.
func (j *jsonReader) children(open json.Delim, depth int) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: j.line()}
	if open == '{' {
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
	}
	for j.dec.More() { // an object's keys are tokens like any other
		child, err := j.value(depth + 1)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	_, err := j.dec.Token()
	return node, err
}

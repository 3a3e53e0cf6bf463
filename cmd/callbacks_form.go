package cmd

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/callback/parse"
	"paybook/models"
)

// formField is a field of a body that is a form, decoded and in UTF-8.
type formField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// formOf is a form's fields in the order they came, for people to read; nil when the body is no form. What is verified and booked is
// read by the providers from the bytes.
func formOf(cb models.Callback) []formField {
	kind := strings.ToLower(cb.Headers.Get("Content-Type"))
	text := bytes.TrimSpace(cb.Body)
	if kind != "" && !strings.Contains(kind, "form-urlencoded") || len(text) == 0 || bytes.IndexByte([]byte("{[<"), text[0]) >= 0 {
		return nil
	}
	var fields []formField
	for part := range strings.SplitSeq(string(text), "&") {
		name, value, isField := strings.Cut(part, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		if !isField || badName != nil || badValue != nil {
			return nil
		}
		fields = append(fields, formField{name, value})
	}
	gbk := slices.ContainsFunc(fields, formField.saysGBK)
	for i, f := range fields {
		fields[i] = formField{inUTF8(f.Name, gbk), inUTF8(f.Value, gbk)}
	}
	return fields
}

// saysGBK: the charset is a field of its own, in Alipay's messages charset, in UnionPay's encoding. The header says what it likes.
func (f formField) saysGBK() bool {
	return (f.Name == "charset" || f.Name == "encoding") && slices.Contains([]string{"gbk", "gb2312", "gb18030"}, strings.ToLower(f.Value))
}

// inUTF8 escapes what means nothing in the form's charset.
func inUTF8(text string, gbk bool) string {
	if gbk {
		decoded, err := simplifiedchinese.GB18030.NewDecoder().String(text)
		if err == nil && !strings.ContainsRune(decoded, utf8.RuneError) {
			return decoded
		}
	}
	return parse.Shown(text)
}

// lines is a text of several lines fit to be shown: nothing in it steers a terminal.
func lines(s string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Package lang says in English or in Chinese what reports say. Everything is written and kept in English: in the code, in the book and in
// JSON. A translation is found and never kept: each sentence has its English pattern here, and beside it the Chinese one. What has none
// is said in English, so that nothing is ever lost.
package lang

import (
	"fmt"
	"strings"
)

// Language is one that reports can be written in.
type Language string

// The languages there are.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Parse takes en and zh, and what systems make of them: zh-CN, zh_CN.UTF-8, en_US.
func Parse(name string) (Language, error) {
	short, _, _ := strings.Cut(strings.ToLower(name), ".")
	short, _, _ = strings.Cut(strings.ReplaceAll(short, "_", "-"), "-")
	if l := Language(short); l == English || l == Chinese {
		return l, nil
	}
	return English, fmt.Errorf("language %q: en or zh expected", name)
}

// Text is a label, a heading or a line of a report, and what fills it as it is.
func (l Language) Text(format string, args ...any) string {
	if chinese, known := labels[format]; known && l == Chinese {
		format = chinese
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Word is a word of ours, such as a kind or a status. One that is not ours stays as it is.
func (l Language) Word(word string) string {
	if chinese, known := words[word]; known && l == Chinese {
		return chinese
	}
	return word
}

// Count is a number of things: 1 row, 2 rows.
func (l Language) Count(n int, thing string) string {
	switch chinese, known := counted[thing]; {
	case l == Chinese && known:
		return fmt.Sprintf("%d %s", n, chinese)
	case n == 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Sentence is a sentence of ours: why a gap is one, what a run noticed, what the book notes on a transaction.
func (l Language) Sentence(english string) string {
	if l != Chinese {
		return english
	}
	if chinese, known := translate(english); known {
		return chinese
	}
	return english
}

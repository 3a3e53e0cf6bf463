package ledger

import "strings"

// builder puts a statement together: text and its arguments, in either dialect's placeholders.
type builder struct {
	dialect dialect
	text    strings.Builder
	args    []any
}

func (l *Ledger) sql(text string) *builder {
	b := &builder{dialect: l.dialect}
	b.text.WriteString(text)
	return b
}

func (b *builder) add(text string) *builder { b.text.WriteString(text); return b }

func (b *builder) arg(v any) *builder {
	b.args = append(b.args, v)
	b.text.WriteString(b.dialect.mark(len(b.args)))
	return b
}

// row adds (v1,v2,…), with a comma before it unless it is the first.
func (b *builder) row(first bool, values ...any) *builder {
	if !first {
		b.text.WriteByte(',')
	}
	return b.list(values...)
}

// list adds (v1,v2,…).
func (b *builder) list(values ...any) *builder {
	b.text.WriteByte('(')
	for i, v := range values {
		if i > 0 {
			b.text.WriteByte(',')
		}
		b.arg(v)
	}
	b.text.WriteByte(')')
	return b
}

// typedRow is row with each value cast to a type both databases spell alike: the first row of a VALUES list that is not an
// INSERT's decides the types of its columns.
func (b *builder) typedRow(types []string, values ...any) *builder {
	b.text.WriteByte('(')
	for i, v := range values {
		if i > 0 {
			b.text.WriteByte(',')
		}
		b.text.WriteString("CAST(")
		b.arg(v)
		b.text.WriteString(" AS " + types[i] + ")")
	}
	b.text.WriteByte(')')
	return b
}

func (b *builder) String() string { return b.text.String() }

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
